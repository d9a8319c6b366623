"""The interpreter of a run: an IPython kernel in a process of its own, replaced when it is lost."""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Final

from kernel.headtail import HeadTail
from kernel.hello import hello
from kernel.inside.capture import HINT
from kernel.interpreter import CellResult, CellStatus, HostFunction, KernelError
from kernel.kernel_process import CellEnd, RunningKernel
from kernel.launcher import Launcher, PlainLauncher
from kernel.notices import after_cell
from kernel.outputs import collect, shorten_file
from kernel.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

OUTPUT_LIMIT: Final = 10_000
CELL_SECONDS: Final = 120.0
_MARKER: Final = 200
"""Most characters by which head, tail and the line between them pass the limit."""


class IPythonInterpreter:
    """Runs blocks in an IPython kernel.

    Args:
        host: what the kernel may ask of the harness, by method name; for ``hello`` see
            ``kernel.hello``.
        folder: where the whole outputs of cells are kept, as ``0001.txt`` and so on.
        output_limit: visible characters of a cell.
        cell_seconds: time limit of a cell.
        launcher: starts the kernel's process.
    """

    def __init__(
        self,
        host: Mapping[str, HostFunction],
        *,
        folder: Path,
        output_limit: int = OUTPUT_LIMIT,
        cell_seconds: float = CELL_SECONDS,
        launcher: Launcher | None = None,
    ) -> None:
        self._host = {**host, "hello": lambda params: hello(host, output_limit)}
        self._folder = folder
        self._output_limit = output_limit
        self._cell_seconds = cell_seconds
        self._launcher = launcher or PlainLauncher()
        self._held = _Held()
        self._running = threading.Lock()
        self._stop = threading.Event()
        self._number = 0
        self._names: tuple[str, ...] = ()
        self._previous: Path | None = None
        self._finalizer = weakref.finalize(self, self._held.release)

    @property
    def confinement(self) -> str:
        """How the kernel is kept apart."""
        return self._launcher.confinement

    @property
    def connection_file(self) -> Path | None:
        """Jupyter's connection file of the running kernel, or None where none runs."""
        kernel = self._held.kernel
        return kernel.connection_file if kernel else None

    @property
    def faults(self) -> list[str]:
        """Host functions that failed for the running kernel, one line each."""
        kernel = self._held.kernel
        return kernel.faults if kernel else []

    def start(self) -> None:
        """Start the kernel, where none runs.

        Raises:
            KernelError: where it cannot be started.
        """
        with self._running:
            self._ensure_kernel()

    def run(self, code: str) -> CellResult:
        """Execute one block; see ``Interpreter.run``."""
        with self._running:
            kernel = self._ensure_kernel()
            self._stop.clear()
            self._number += 1
            spool = kernel_spool(self._held, self._number)
            request = {
                "cell": self._number,
                "previous": str(self._previous) if self._previous else None,
            }
            started = time.monotonic()
            try:
                end = kernel.execute(code, request, self._cell_seconds, self._stop)
            except Exception as error:
                if self._held.closed:
                    raise KernelError("the interpreter was closed") from error
                raise
            if self._held.closed:
                raise KernelError("the interpreter was closed")
            seconds = time.monotonic() - started
            self._previous = spool
            return self._result(end, spool, seconds)

    def interrupt(self) -> None:
        """Stop the running block; does nothing where none runs."""
        self._stop.set()

    def restart(self) -> None:
        """Begin again with a fresh kernel."""
        with self._running:
            self._held.end_kernel()
            self._names = ()
            self._previous = None
            self._ensure_kernel()

    def close(self) -> None:
        """End the kernel and remove its scratch folder."""
        self._finalizer()

    def _ensure_kernel(self) -> RunningKernel:
        if self._held.closed:
            raise KernelError("the interpreter was closed")
        if self._held.kernel is not None and not self._held.kernel.alive():
            self._held.end_kernel()
            self._names = ()
        if self._held.kernel is not None:
            return self._held.kernel
        return self._held.start_kernel(self._host, self._launcher, self._previous)

    def _result(self, end: CellEnd, spool: Path, seconds: float) -> CellResult:
        target = self._folder / spool.name
        has_output = collect(spool, target)
        text, omitted = self._visible(end, target if has_output else None)
        lost: tuple[str, ...] = ()
        error = None
        if end.report is None:
            lost, self._names = self._names, ()
            self._held.end_kernel()
        else:
            self._names = tuple(end.report["names"])
            error = end.report["error"]
        return CellResult(
            status=_status(end),
            output=text,
            omitted=omitted,
            full_output=target if has_output else None,
            error=error,
            notice=after_cell(end, self._cell_seconds, lost, files_kept=self._launcher.keeps_files),
            lost=lost,
            seconds=seconds,
        )

    def _visible(self, end: CellEnd, whole: Path | None) -> tuple[str, int]:
        """The kernel's own head and tail, or the file's where the kernel does not know it all."""
        report = end.report
        size = whole.stat().st_size if whole else 0
        fits = report is not None and len(report["output"]) <= self._output_limit + _MARKER
        if report is not None and fits and report["spooled"] == size:
            return report["output"], report["omitted"]
        shown = shorten_file(whole, self._output_limit, HINT) if whole else HeadTail(0)
        return shown.text, shown.omitted


class _Held:
    """What an interpreter must give back: scratch folder and kernel, whoever drops it."""

    def __init__(self) -> None:
        self.kernel: RunningKernel | None = None
        self.scratch: Scratch | None = None
        self.closed = False
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def start_kernel(
        self, host: Mapping[str, HostFunction], launcher: Launcher, keep: Path | None
    ) -> RunningKernel:
        with self._lock:
            if self.closed:
                raise KernelError("the interpreter was closed")
            if self.scratch is None:
                self.scratch = Scratch()
            self.scratch.clear_shared(keep)
            self.kernel = RunningKernel(host, self.scratch, launcher)
            return self.kernel

    def end_kernel(self) -> None:
        with self._lock:
            if self.kernel is not None:
                self.kernel.end()
                self.kernel = None

    def release(self) -> None:
        """End and remove everything; a forked copy of the harness owns nothing."""
        if os.getpid() != self._owner:
            return
        self.closed = True
        self.end_kernel()
        if self.scratch is not None:
            self.scratch.remove()


def kernel_spool(held: _Held, number: int) -> Path:
    """The spool file of a cell."""
    assert held.scratch is not None
    return held.scratch.spool / f"{number:04d}.txt"


def _status(end: CellEnd) -> CellStatus:
    if end.report is None:
        return "restarted"
    if end.report["interrupted"]:
        return "interrupted"
    return "error" if end.report["error"] else "ok"
