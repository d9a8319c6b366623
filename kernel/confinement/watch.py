"""Ends a kernel that uses more of the machine than it may; stands beside it, unconfined.

Runs as a child of ``supervisor.py``, with which it ends. Standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator

from kernel.confinement import usage

_PR_SET_PDEATHSIG = 1
_LOOK_EVERY = 0.1  # seconds between counts of processes
_LOOK_SLOWLY_EVERY = 0.5  # seconds between looks at memory and files
_SHARE = 10  # these looks take at most about one part in so many of the time
_NO_BOUND = 1 << 22
_ROUNDS = 2000  # of killing, before leaving the rest to the supervisor


class Settings(TypedDict):
    """What the launcher tells.

    Attributes:
        why: descriptor to which the reason is written.
        home: the kernel's own folder, that ``limits["files"]`` holds for.
        shared: folders that the harness reads too, that ``limits["outputs"]`` holds for.
        limits: as in ``kernel.confinement.limits``.
    """

    why: int
    home: str
    shared: list[str]
    limits: dict[str, int]


def main(settings: Settings, kernel: int) -> None:
    """Watch until the kernel ends, and this process with it, or must be ended.

    Args:
        settings: what to watch.
        kernel: process id of the kernel.
    """
    while not _has_parent(kernel, os.getppid()):
        time.sleep(0.001)
    supervisor = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != supervisor:
        return
    excess: list[str] = []
    looks = threading.Thread(target=_look_slowly, args=(supervisor, settings, excess), daemon=True)
    looks.start()
    _go_first()
    while not excess and not _too_many(supervisor, settings["limits"]["processes"], excess):
        time.sleep(_LOOK_EVERY)
    os.write(settings["why"], excess[0].encode())
    _end(supervisor)
    os._exit(0)  # the other thread may wait for something


def _has_parent(kernel: int, parent: int) -> bool:
    """Whether the process that started this one has ended: then both have one parent."""
    try:
        fields = Path(f"/proc/{kernel}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        sys.exit(0)
    return int(fields[1]) == parent


def _go_first() -> None:
    """Run this thread before whatever the kernel starts, where that is allowed (to root)."""
    policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
    try:
        os.sched_setscheduler(0, policy, os.sched_param(1))
    except OSError:
        with contextlib.suppress(OSError):
            os.nice(-10)


def _too_many(supervisor: int, most: int, excess: list[str]) -> bool:
    """Count processes and threads, which needs no lock that a process might hold for long."""
    if sum(max(1, len(_tasks(pid))) for pid in descendants(supervisor, most)) <= most:
        return False
    excess.append(f"it ran more than {most} processes and threads")
    return True


def _look_slowly(supervisor: int, settings: Settings, excess: list[str]) -> None:
    """Look at memory and files; both may have to wait for what the kernel does."""
    while not excess:
        started = time.monotonic()
        try:
            why = _too_much(supervisor, settings)
        except Exception as error:
            why = f"what it uses could not be watched: {type(error).__name__}: {error}"
        if why:
            excess.append(why)
        took = time.monotonic() - started
        time.sleep(max(_LOOK_SLOWLY_EVERY - took, _SHARE * took))


def _too_much(supervisor: int, settings: Settings) -> str | None:
    limits = settings["limits"]
    processes = [Path(f"/proc/{pid}") for pid in descendants(supervisor, limits["processes"])]
    why = usage.excess(processes, settings["shared"], limits)
    files = limits["files"]
    if why is None and usage.used_bytes([settings["home"]], files) > files:
        why = f"it put more than {files / (1 << 30):g} GiB into its folder"
    return why


def descendants(root: int, most: int) -> Iterator[int]:
    """Process ids below a process, without this one; a few more than ``most`` at most."""
    ahead = [root]
    found = 0
    while ahead and found <= most:
        pid = ahead.pop()
        for task in _tasks(pid):
            try:
                below = Path(f"/proc/{pid}/task/{task}/children").read_text().split()
            except OSError:
                continue
            for child in map(int, below):
                if child != os.getpid():
                    ahead.append(child)
                    found += 1
                    yield child


def _tasks(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:
        return []


def _end(supervisor: int) -> None:
    """Kill everything below the supervisor but this process; the supervisor does the rest."""
    for _ in range(_ROUNDS):
        pids = list(descendants(supervisor, _NO_BOUND))
        if not pids:
            return
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)
