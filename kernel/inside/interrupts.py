"""SIGINT in the kernel: reaches the model's code while a cell runs, and nothing else."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from kernel.inside.tracebacks import is_model_code

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_PAUSE: Final = 0.9  # seconds in which a further SIGINT does nothing; the sender repeats it


class Interrupts:
    """Turns SIGINT into an exception in the running cell, at most once in ``_PAUSE`` seconds.

    Code with ``await`` at its top runs as a task in the kernel's own event loop, which a
    KeyboardInterrupt would end: such a cell is cancelled instead.
    """

    def __init__(self) -> None:
        self.raised = False
        """Whether the current or last cell was interrupted."""
        self._open = False
        self._task: asyncio.Future[Any] | None = None
        self._last = 0.0

    def install(self) -> None:
        """Become the process's SIGINT handler and take back pending alarms; main thread only."""
        signal.signal(signal.SIGINT, self._handle)
        signal.setitimer(signal.ITIMER_REAL, 0)

    @contextmanager
    def reaching(self, task: asyncio.Future[Any] | None = None) -> Iterator[None]:
        """While the context lasts, SIGINT reaches the cell, which is ``task`` if it awaits."""
        self.raised = False
        self._last = 0.0
        self._task = task
        self._open = True
        try:
            yield
        finally:
            self._open = False

    def shut(self) -> None:
        """Let no SIGINT through; also after an exception that came while the context closed."""
        self._open = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if not self._open or now - self._last < _PAUSE:
            return
        self._last = now
        self.raised = True
        if self._task is None:
            raise KeyboardInterrupt
        if _in_model_code(frame):
            raise asyncio.CancelledError
        self._task.get_loop().call_soon_threadsafe(self._task.cancel)


def _in_model_code(frame: FrameType | None) -> bool:
    while frame is not None:
        if is_model_code(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False
