"""Attacks that take more of the machine than a kernel may have, or stay on it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Final

from kernel.confinement import raw
from kernel.confinement.raw import Refused

Target = dict[str, Any]

_ALLOCATION: Final = 3 << 30
_CHUNK: Final = 4 << 20
_MOST_FORKS: Final = 1_000
_TIME_TO_BE_SEEN: Final = 3.0
"""Seconds that a bound which is looked at now and then has to end an attack."""


def allocate(target: Target) -> str:
    """Take 3 GiB of memory."""
    return f"{len(bytes(_ALLOCATION)):,} bytes"


def allocate_raw(target: Target) -> str:
    """Take 3 GiB of memory by a system call."""
    return f"{raw.map_memory(_ALLOCATION):,} bytes"


def become_privileged(target: Target) -> str:
    """Get capabilities in a user namespace of one's own."""
    raw.unshare(raw.CLONE_NEWUSER)
    return "a user namespace of its own"


def fill_scratch(target: Target) -> str:
    """Fill the disk from the scratch folder."""
    return _fill(Path.home(), target["most_files"])


def fill_outputs(target: Target) -> str:
    """Fill the disk from the folder of outputs."""
    return _fill(Path.home().parent / "spool", target["most_files"])


def leave_child(target: Target) -> str:
    """Start a process that outlives the kernel; whether it does is seen from outside."""
    child = subprocess.Popen(
        ["sleep", target["sleep"]],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return f"process {child.pid}"


def fork_bomb(target: Target) -> str:
    """Start processes without end; here to a number that no kernel needs."""
    children: list[int] = []
    try:
        while len(children) < _MOST_FORKS:
            pid = os.fork()
            if pid == 0:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(20)
                while True:
                    signal.pause()
            children.append(pid)
        time.sleep(_TIME_TO_BE_SEEN)
    except OSError as error:
        raise Refused(f"{len(children)} processes, then: {error}") from None
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        for pid in children:
            os.waitpid(pid, 0)
    return f"{len(children):,} processes"


def _fill(folder: Path, most: int) -> str:
    """Write up to ``most`` bytes, and see whether that is noticed."""
    files: list[Path] = []
    try:
        while len(files) * _CHUNK < most:
            path = folder / f"fill-{len(files)}"
            files.append(path)
            path.write_bytes(b"x" * _CHUNK)
        time.sleep(_TIME_TO_BE_SEEN)
        return f"{most:,} bytes"
    finally:
        for path in files:
            path.unlink(missing_ok=True)
