"""Visible output of one cell: head and tail in memory, everything in a spool file.

The spool file is written through at every line and flush: nothing is lost when the process dies.
Its descriptor is also standard output and standard error of the process while the cell runs: what
child processes and C code print lands there too.
"""

from __future__ import annotations

import io
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from kernel.headtail import HeadTail, marker

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SPOOL_LIMIT: Final = 100_000_000
"""Most bytes of one cell's output that are kept in full."""

_LONG: Final = 4_096  # characters that are not held back for the end of their line
_MANY: Final = 256  # pieces of a line held back

HINT: Final = "the whole output is in last_output"


class Cell:
    """The output of one cell.

    Args:
        limit: visible characters.
        spool: file that takes the whole output, or None to keep head and tail alone.
    """

    def __init__(self, limit: int, spool: Path | None = None) -> None:
        self.shown = HeadTail(limit, HINT)
        self.spooled = 0
        """Bytes in the spool file that came through ``write``."""
        self._unspooled = HeadTail(limit)
        self._spools = spool is not None
        self._pending: list[str] = []
        self._lock = threading.RLock()  # a signal handler may print while its thread prints
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self.descriptor = -1 if spool is None else os.open(spool, flags, 0o600)

    def write(self, text: str) -> None:
        """Add text; lone surrogates and NUL are shown as escapes."""
        with self._lock:
            self._pending.append(text)
            if text.endswith("\n") or len(text) > _LONG or len(self._pending) > _MANY:
                self.flush()

    def flush(self) -> None:
        """Bring an unfinished line into the spool file."""
        if not self._pending:
            return
        with self._lock:
            text = "".join(self._pending)
            self._pending.clear()
            if "\0" in text:
                text = text.replace("\0", "\\x00")
            try:
                data = text.encode()
            except UnicodeEncodeError:
                data = text.encode("utf-8", "backslashreplace")
                text = data.decode()
            self.shown.add(text)
            if self._spools:
                self._spool(data)
                self._spools = self._spools and self.spooled < SPOOL_LIMIT
            else:
                self._unspooled.add(text)

    def close(self) -> None:
        """Complete the spool file: of what did not fit, head and tail with a count."""
        with self._lock:
            self.flush()
            if self.descriptor < 0:
                return
            if self._unspooled.total:
                self._spool(f"\n{marker(self._unspooled.omitted)}\n".encode())
                self._spool(self._unspooled.text.encode())
            os.close(self.descriptor)
            self.descriptor = -1
            self._spools = False

    def _spool(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                written = os.write(self.descriptor, view)
                self.spooled += written
                view = view[written:]
        except OSError:  # a full disk costs the file, not the cell
            self._spools = False


_owner: ContextVar[Cell | None] = ContextVar("cell", default=None)


def owner() -> Cell | None:
    """The cell on whose behalf the calling thread or task runs."""
    cell = _owner.get()
    return cell or getattr(threading.current_thread(), "_kernel_cell", None)


class Output:
    """Where the process's prints go: to the running cell, if they were made on its behalf.

    A thread or task belongs to the cell that started it. What it prints later is dropped and
    counted, never shown under another cell.
    """

    def __init__(self) -> None:
        self._cell: Cell | None = None
        self._dropped = 0

    def open(self, cell: Cell) -> None:
        """Take the prints of the calling context, and of what it starts, for ``cell``."""
        self._cell = cell
        _owner.set(cell)

    def close(self) -> None:
        """Take no more prints."""
        self._cell = None

    def write(self, text: str) -> None:
        """Take a print from any thread."""
        cell = self._cell
        if cell is not None and owner() is cell:
            cell.write(text)
        else:
            self._dropped += len(text)

    def flush(self) -> None:
        """Bring what the running cell printed into its spool file."""
        cell = self._cell
        if cell is not None:
            cell.flush()

    def take_dropped(self) -> int:
        """How many characters were dropped since the last call."""
        dropped, self._dropped = self._dropped, 0
        return dropped


def mark_threads() -> None:
    """Let every thread started from now on carry the cell on whose behalf it was started."""
    start = threading.Thread.start
    submit = ThreadPoolExecutor.submit

    def marked_start(thread: threading.Thread) -> None:
        thread._kernel_cell = owner()  # type: ignore[attr-defined]
        start(thread)

    def marked_submit(
        pool: ThreadPoolExecutor, function: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Any:
        return submit(pool, _Owned(owner(), function), *args, **kwargs)

    threading.Thread.start = marked_start  # type: ignore[assignment, method-assign]
    ThreadPoolExecutor.submit = marked_submit  # type: ignore[assignment]


class _Owned:
    """A function of a thread pool that prints for the cell that submitted it."""

    def __init__(self, cell: Cell | None, function: Callable[..., Any]) -> None:
        self._cell = cell
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        _owner.set(self._cell)
        return self._function(*args, **kwargs)


class OutputStream(io.TextIOBase):
    """``sys.stdout`` and ``sys.stderr`` of the model's code.

    Args:
        output: where the text goes: an ``Output``, or one ``Cell``.
        descriptor: what ``fileno`` gives to child processes.
    """

    def __init__(self, output: Output | Cell, descriptor: int) -> None:
        self._output = output
        self._descriptor = descriptor
        self.buffer = io.FileIO(descriptor, "wb", closefd=False) if descriptor >= 0 else None

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        return "backslashreplace"

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._output.write(text)
        return len(text)

    def flush(self) -> None:
        self._output.flush()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        if self._descriptor < 0:
            raise io.UnsupportedOperation("fileno")
        return self._descriptor

    def close(self) -> None:
        """Stay open: code that closes ``sys.stdout`` would silence every later cell."""
