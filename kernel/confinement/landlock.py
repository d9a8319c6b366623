"""Confinement ``landlock``: for machines on which bubblewrap cannot run.

Landlock keeps the kernel from files, TCP, signals and abstract sockets, a network namespace or a
seccomp filter from every other way out, resource limits and a watcher from too much of the machine.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kernel.confinement import seccomp
from kernel.confinement.limits import Limits
from kernel.confinement.mounts import hidden_paths, readable_paths
from kernel.launcher import SupervisedProcess, supervised

if sys.platform == "linux":
    from kernel.confinement import restrict
    from kernel.confinement.usage import used_bytes

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

    from kernel.launcher import LaunchRequest

_RESTRICT: Final = Path(__file__).with_name("restrict.py")
_DEVICES: Final = ("null", "zero", "full", "random", "urandom")
_OWN_THREAD_COUNT: Final = (5, 14)
"""The first Linux in which a user namespace counts its threads for itself."""
_LONGEST_REASON: Final = 4096


class LandlockLauncher:
    """Starts kernels that confine themselves before they run anything.

    A kernel reads and executes the system's programs and libraries, its interpreter and this
    package; it writes to its scratch folder and to the folders it shares with the harness. It has
    no capability and cannot connect to anything. What it uses of the machine is bounded by
    resource limits, and by a watcher that ends it where those do not hold it.

    Args:
        limits: how much each kernel may use.
        namespaces: whether to use user, network and ipc namespaces where they are allowed.
    """

    confinement = "landlock"
    keeps_files = True

    def __init__(self, limits: Limits | None = None, *, namespaces: bool = True) -> None:
        self._limits = limits or Limits()
        self._namespaces = namespaces

    def __call__(self, request: LaunchRequest) -> LandlockProcess:
        """Start a kernel process.

        Raises:
            OSError: where it cannot be started.
        """
        _make_room([request.work_folder], self._limits.files, request.command)
        _make_room(request.shared_folders, self._limits.outputs, request.command)
        ours, theirs = os.pipe()
        try:
            settings = json.dumps(self._settings(request, theirs))
            command = [sys.executable, "-I", "-S", str(_RESTRICT), settings, *request.command]
            process = supervised(command, request, (request.connection, theirs))
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        return LandlockProcess(process, ours)

    def _settings(self, request: LaunchRequest, why: int) -> dict[str, object]:
        limits = dataclasses.asdict(self._limits)
        home = str(request.work_folder)
        shared = [str(folder) for folder in request.shared_folders]
        readable = readable_paths()
        return {
            "connection": request.connection,
            "watch": {"why": why, "home": home, "shared": shared, "limits": limits},
            "readable": [str(path) for path in readable],
            "hidden": [str(path) for path in hidden_paths(readable)],
            "writable": [home, *shared],
            "devices": [f"/dev/{name}" for name in _DEVICES],
            "namespaces": self._namespaces,
            "count_threads": _release() >= _OWN_THREAD_COUNT,
            "filters": list(_filters()),
            "limits": limits,
        }


class LandlockProcess(SupervisedProcess):
    """A kernel beside its watcher, below ``supervisor.py``."""

    def __init__(self, process: subprocess.Popen[bytes], reasons: int) -> None:
        super().__init__(process)
        self._reasons: int | None = reasons
        self._why: str | None = None

    @property
    def why(self) -> str | None:
        """The bound that the kernel passed and was ended for, or None."""
        if self.poll() is not None:
            self._listen()
        return self._why

    def kill(self) -> None:
        super().kill()
        self._listen()

    def _listen(self) -> None:
        """Read what the watcher wrote, once everything that could write has ended."""
        reasons, self._reasons = self._reasons, None
        if reasons is None:
            return
        os.set_blocking(reasons, False)
        try:
            self._why = os.read(reasons, _LONGEST_REASON).decode() or None
        except BlockingIOError:
            self._why = None
        finally:
            os.close(reasons)


@cache
def unavailable() -> str | None:
    """Why kernels cannot be confined with Landlock here, in one line; None where they can."""
    if sys.platform != "linux":
        return "Landlock needs Linux"
    machine = platform.machine()
    if machine not in seccomp.ARCHITECTURES:
        known = " or ".join(seccomp.ARCHITECTURES)
        return f"the filter of system calls is written for {known}, not for {machine}"
    return restrict.unsupported()


def _known_open() -> dict[str, str]:
    """What this machine's Landlock leaves open, by the name of the attack."""
    found = {
        "file-metadata": "Landlock does not refuse stat(): whether a file exists, its size and "
        "times can be seen, its content not",
    }
    if unavailable():
        return found
    abi = restrict.landlock_abi()
    if abi < 6:
        reason = f"Landlock refuses signals from ABI 6 on (Linux 6.12), and this is ABI {abi}"
        found["harness-signal"] = found["harness-signal-raw"] = reason
    return found


KNOWN_OPEN: Final[dict[str, str]] = _known_open()
"""Attacks that this level cannot refuse on this machine, each with the reason.

Before ABI 4 (Linux 6.7) it cannot keep a kernel either from listening on a TCP port where there are
no user namespaces; it can connect to nothing. Nowhere does it have /dev/shm, so ``multiprocessing``
has no locks, queues or pools. The modes and times of files do not change: ``chmod`` and ``utime``
only seem to work, since Landlock would allow them on any file of the user.
"""


def _make_room(folders: Sequence[Path], most: int, needed: Sequence[str]) -> None:
    """Empty folders that hold more than they may, or a kernel there would be ended at once."""
    if used_bytes([str(folder) for folder in folders], most) <= most:
        return
    for path in [path for folder in folders for path in folder.iterdir()]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif str(path) not in needed:
            path.unlink(missing_ok=True)


@cache
def _filters() -> tuple[str, str]:
    """Seccomp programs in hexadecimal, without and with a network namespace of its own."""
    truncate = restrict.handled(restrict.landlock_abi())[0] >= restrict.handled(3)[0]
    machine = platform.machine()
    without, within = (
        seccomp.program(machine, seccomp.rules(own_network=own, truncate=truncate)).hex()
        for own in (False, True)
    )
    return without, within


def _release() -> tuple[int, ...]:
    """The version of the running Linux, such as ``(6, 14)``."""
    numbers = platform.release().split("-")[0].split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdigit())
