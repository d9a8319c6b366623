"""Turns a command and a folder into a kernel process; the seam for every way of confining it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TIME_TO_END: Final = 5.0


class KernelProcess(Protocol):
    """A running kernel with everything it started."""

    def poll(self) -> int | None:
        """The exit code (negative: the signal that ended it), or None while it runs."""
        ...

    @property
    def why(self) -> str | None:
        """The bound that the kernel passed and was ended for, or None."""
        ...

    def interrupt(self) -> None:
        """Send SIGINT to the kernel itself; nothing where it has ended."""
        ...

    def kill(self) -> None:
        """End the kernel and everything it started, and wait for that."""
        ...


@dataclass(frozen=True)
class LaunchRequest:
    """What a kernel process is to be.

    Attributes:
        command: program and arguments, absolute.
        folder: the run's scratch folder: the only one the kernel writes to.
        work_folder: its working folder, inside ``folder``; the harness does not look into it.
        shared_folders: folders inside ``folder`` that kernel and harness both use.
        environment: its whole environment.
        connection: file descriptor it inherits, under the same number.
        log: takes what it prints before it is ready.
    """

    command: Sequence[str]
    folder: Path
    work_folder: Path
    environment: Mapping[str, str]
    connection: int
    log: BinaryIO
    shared_folders: Sequence[Path] = ()


class Launcher(Protocol):
    """Starts kernel processes with one kind of confinement."""

    @property
    def confinement(self) -> str:
        """``bwrap``, ``landlock`` or ``none``."""
        ...

    @property
    def keeps_files(self) -> bool:
        """Whether files in the working folder outlive the kernel that wrote them."""
        ...

    def __call__(self, request: LaunchRequest) -> KernelProcess:
        """Start a kernel process.

        Raises:
            OSError: where it cannot be started.
        """
        ...


class PlainLauncher:
    """Starts the kernel as an ordinary process of the same user, in a session of its own."""

    confinement = "none"
    keeps_files = True

    def __call__(self, request: LaunchRequest) -> KernelProcess:
        if sys.platform == "linux":
            process = supervised(request.command, request, (request.connection,))
            return SupervisedProcess(process)
        return GroupProcess(_start(request.command, request, (request.connection,)))


def supervised(
    command: Sequence[str], request: LaunchRequest, descriptors: Sequence[int]
) -> subprocess.Popen[bytes]:
    """Start a command below ``supervisor.py``; Linux only.

    Args:
        command: program and arguments, absolute.
        request: where it runs and with what environment.
        descriptors: what it inherits.
    """
    script = str(Path(__file__).with_name("supervisor.py"))
    guard = [sys.executable, "-I", "-S", script, str(os.getpid()), str(request.folder)]
    return _start([*guard, *command], request, descriptors)


def _start(
    command: Sequence[str], request: LaunchRequest, descriptors: Sequence[int]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        cwd=request.work_folder,
        env=dict(request.environment),
        stdin=subprocess.DEVNULL,
        stdout=request.log,
        stderr=request.log,
        pass_fds=descriptors,
        start_new_session=True,
    )


class SupervisedProcess:
    """A kernel below ``supervisor.py``, which knows what to do with each signal."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def poll(self) -> int | None:
        return self._process.poll()

    @property
    def why(self) -> str | None:
        return None

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_TIME_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class GroupProcess:
    """A kernel as leader of its process group, where there is no supervisor."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def poll(self) -> int | None:
        return self._process.poll()

    @property
    def why(self) -> str | None:
        return None

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
