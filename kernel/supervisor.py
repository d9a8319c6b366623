"""Stands between harness and kernel on Linux: what the kernel started ends with it.

Run as a script by path: ``supervisor.py HARNESS_PID SCRATCH_FOLDER COMMAND...``. It adopts the
kernel's orphans (``setsid`` does not help them), passes SIGINT on to the kernel alone, ends the
whole tree on SIGTERM, when the kernel ends and when the harness is gone (then it removes the
scratch folder as well), and at last ends the way the kernel did. Standard library only.
"""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
import sys
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_WATCHED = (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM)
_LOOK_EVERY = 0.5  # seconds between looks at the harness
_ROUNDS = 400  # of killing, 5 ms apart, before giving up on a tree that grows as fast


def main(harness: int, scratch: str, command: list[str]) -> None:
    """Run the kernel and watch over it."""
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    kernel = os.fork()
    if kernel == 0:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.setsid()
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execv(command[0], command)
    # The connection is the kernel's alone: its end must be seen at the other end.
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    status = _watch(kernel, harness)
    _end_tree()
    if os.getppid() != harness:
        shutil.rmtree(scratch, ignore_errors=True)
    _end_like(status)


def _watch(kernel: int, harness: int) -> int:
    """Wait for an end; return the kernel's wait status, or 0 where it still runs."""
    while os.getppid() == harness:
        info = signal.sigtimedwait(_WATCHED, _LOOK_EVERY)
        number = info.si_signo if info else 0
        if number == signal.SIGINT:
            os.kill(kernel, signal.SIGINT)
        elif number == signal.SIGTERM:
            return 0
        elif number == signal.SIGCHLD:
            ended = _reap()
            if kernel in ended:
                return ended[kernel]
    return 0


def _reap() -> dict[int, int]:
    """Collect the children that have ended: wait status by process id."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = status


def _end_tree() -> None:
    for _ in range(_ROUNDS):
        _reap()
        descendants = _descendants()
        if not descendants:
            return
        for pid in descendants:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        time.sleep(0.005)


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found: list[int] = []
    ahead = [os.getpid()]
    while ahead:
        below = children.get(ahead.pop(), [])
        found += below
        ahead += below
    return found


def _end_like(status: int) -> None:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
