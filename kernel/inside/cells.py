"""One cell from its request to its report: output taken, names restored, interrupts let in."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernel.inside.capture import Cell, Output, OutputStream
from kernel.inside.interrupts import Interrupts
from kernel.inside.tracebacks import render, summary

if TYPE_CHECKING:
    from kernel.inside.namespace import Namespace

Call = Callable[[str, dict[str, Any]], Any]


class Cells:
    """Runs the harness's cells in this process.

    Args:
        call: asks the harness; gets the report of each cell as method ``cell_done``.
        namespace: the model's variables.
        spool: folder for the whole output of cells, ``<number>.txt``.
        limit: visible characters of a cell.
    """

    def __init__(self, call: Call, namespace: Namespace, spool: Path, limit: int) -> None:
        self._call = call
        self._namespace = namespace
        self._spool = spool
        self._limit = limit
        self._output = Output()
        self._jupyter_streams: tuple[Any, Any] = (sys.stdout, sys.stderr)
        self._streams = (OutputStream(self._output, 1), OutputStream(self._output, 2))
        self._nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self._recursion_limit = sys.getrecursionlimit()
        self._process = os.getpid()
        self._error: BaseException | None = None
        self.interrupts = Interrupts()
        self.number = 0
        """Number of the running cell; 0 between cells."""

    def settle(self) -> None:
        """Take over standard output and SIGINT; between cells, prints go nowhere."""
        self.interrupts.install()
        self._silence()

    def write(self, text: str) -> None:
        """Add text to the running cell's output."""
        self._output.write(text)

    def fail(self, error: BaseException) -> None:
        """Show an error that ended the running cell's code; the last one shown is the cell's."""
        if isinstance(error, asyncio.CancelledError) and self.interrupts.raised:
            error = KeyboardInterrupt().with_traceback(error.__traceback__)
        self._error = error
        self.write(render(error))

    async def run(
        self,
        request: dict[str, Any],
        execute: Callable[[], BaseException | None],
        execute_async: Callable[[], Awaitable[BaseException | None]] | None,
    ) -> None:
        """Run one cell and report it.

        Args:
            request: ``{"cell": number, "previous": file with the last cell's output or None}``.
            execute: runs code without ``await`` at its top; returns the error that ended it.
            execute_async: the same for code with it, or None for other code.
        """
        cell = self._begin(request)
        try:
            if execute_async is None:
                with self.interrupts.reaching():
                    error = execute()
            else:
                task = asyncio.ensure_future(execute_async())
                with self.interrupts.reaching(task):
                    error = await task
            self._error = error if self._error is None else self._error
        except BaseException as error:
            self.interrupts.shut()
            self._namespace.restore_builtins()
            self.fail(error)
        self._end(cell)

    @contextlib.contextmanager
    def published(self, request: Any) -> Iterator[None]:
        """While the context lasts, prints go to Jupyter's channel: somebody is attached.

        Args:
            request: the Jupyter message to which the prints belong.
        """
        sys.stdout, sys.stderr = self._jupyter_streams
        for stream in self._jupyter_streams:
            stream.set_parent(request)
        try:
            yield
        finally:
            for stream in self._jupyter_streams:
                stream.flush()
            sys.stdout, sys.stderr = self._streams

    def _begin(self, request: dict[str, Any]) -> Cell:
        self.number = request["cell"]
        self._error = None
        self._namespace.restore()
        self._namespace.variables["last_output"] = _take(request["previous"])
        cell = Cell(self._limit, self._spool / f"{self.number:04d}.txt")
        os.dup2(cell.descriptor, 1)
        os.dup2(cell.descriptor, 2)
        sys.stdout, sys.stderr = self._streams
        self._output.open(cell)
        self.interrupts.install()
        return cell

    def _end(self, cell: Cell) -> None:
        self.interrupts.shut()
        self._namespace.restore_builtins()
        if os.getpid() != self._process:  # the model forked; its child must not go on as a kernel
            os._exit(0)
        self._silence()
        self.interrupts.install()
        cell.close()
        sys.setrecursionlimit(self._recursion_limit)
        moved = self._namespace.restore()
        error = self._error
        self._error = None
        report = {
            "cell": self.number,
            "output": cell.shown.text,
            "omitted": cell.shown.omitted,
            "spooled": cell.spooled,
            "error": None if error is None else summary(error),
            "interrupted": self.interrupts.raised,
            "names": self._namespace.names(),
            "moved": moved,
            "dropped": self._output.take_dropped(),
        }
        self.number = 0
        with contextlib.suppress(Exception):  # without a report the harness replaces this kernel
            self._call("cell_done", report)

    def _silence(self) -> None:
        self._output.close()
        os.dup2(self._nowhere, 1)
        os.dup2(self._nowhere, 2)
        sys.stdout, sys.stderr = self._streams


def _take(path: str | None) -> str:
    """Read and remove the file with the last cell's output."""
    if path is None:
        return ""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="backslashreplace")
        Path(path).unlink()
    except OSError:
        return ""
    return text
