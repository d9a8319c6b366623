"""An interpreter in the harness's own process: for tests, never for code one does not trust."""

from __future__ import annotations

import ast
import contextlib
import ctypes
import linecache
import threading
import time
from typing import TYPE_CHECKING, Any

from kernel.hello import hello
from kernel.inside import helpers
from kernel.inside.capture import Cell, OutputStream
from kernel.inside.display import show
from kernel.inside.errors import HarnessFault, from_wire
from kernel.inside.namespace import Namespace
from kernel.inside.tracebacks import CELL_NAME, render, summary
from kernel.interpreter import CellResult, HostError, HostFunction
from kernel.notices import moved_names
from kernel.wire import decode, encode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class InProcessInterpreter:
    """Runs blocks with ``exec`` in the calling thread.

    The same helpers, output and names as in a kernel, over direct calls. What only a process of
    its own can give is missing: the time limit is not enforced (``interrupt`` works where the code
    is Python), a crash is a crash of the caller, ``await`` at the top is a syntax error, and
    threads that print after their block print to the caller's output.

    Args:
        host: what the code may ask of the harness, by method name.
        folder: where the whole outputs of cells are kept.
        output_limit: visible characters of a cell.
        cell_seconds: not used.
    """

    confinement = "none"

    def __init__(
        self,
        host: Mapping[str, HostFunction],
        *,
        folder: Path,
        output_limit: int = 10_000,
        cell_seconds: float = 120.0,
    ) -> None:
        self._host = host
        self._folder = folder
        self._output_limit = output_limit
        self._number = 0
        self._last_output = ""
        self._namespace: Namespace | None = None
        self._thread: int | None = None
        self._interrupted = False
        self.faults: list[str] = []
        """Host functions that failed, one line each."""

    def start(self) -> None:
        """Make the namespace, where there is none."""
        if self._namespace is None:
            self._namespace = self._fresh()

    def run(self, code: str) -> CellResult:
        """Execute one block; see ``Interpreter.run``."""
        self.start()
        namespace = self._namespace
        assert namespace is not None
        self._number += 1
        namespace.restore()
        namespace.variables["last_output"] = self._last_output
        self._folder.mkdir(parents=True, exist_ok=True)
        whole = self._folder / f"{self._number:04d}.txt"
        cell = Cell(self._output_limit, whole)
        stream = OutputStream(cell, -1)
        started = time.monotonic()
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            error = self._execute(code, namespace, cell)
        seconds = time.monotonic() - started
        namespace.restore_builtins()
        cell.close()
        self._last_output = whole.read_text(encoding="utf-8")
        if not self._last_output:
            whole.unlink()
        return CellResult(
            status="interrupted" if self._interrupted else "error" if error else "ok",
            output=cell.shown.text,
            omitted=cell.shown.omitted,
            full_output=whole if self._last_output else None,
            error=error,
            notice=moved_names(namespace.restore()),
            seconds=seconds,
        )

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the running block, once it executes Python again."""
        if self._thread is not None:
            self._interrupted = True
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._thread), ctypes.py_object(KeyboardInterrupt)
            )

    def restart(self) -> None:
        """Begin again with an empty namespace."""
        self._namespace = self._fresh()
        self._last_output = ""

    def close(self) -> None:
        """Forget the namespace."""
        self._namespace = None

    def _fresh(self) -> Namespace:
        namespace: Namespace
        given = helpers.build(
            self._call,
            hello(self._host, self._output_limit),
            lambda name: namespace.lookup(name),
        )
        given |= {"exit": helpers.leave, "quit": helpers.leave, "input": helpers.no_input}
        namespace = Namespace({"__name__": "__main__"}, given)
        return namespace

    def _execute(self, code: str, namespace: Namespace, cell: Cell) -> str | None:
        """Run code; show its last expression or its error, and return the error in one line."""
        name = CELL_NAME.format(self._number)
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        self._interrupted = False
        self._thread = threading.get_ident()
        try:
            _execute_cell(code, name, namespace.variables, cell)
        except KeyboardInterrupt as error:
            if not self._interrupted:
                raise
            cell.write(render(error))
            return summary(error)
        except BaseException as error:
            cell.write(render(error))
            return summary(error)
        finally:
            self._thread = None
        return None

    def _call(self, method: str, params: dict[str, Any]) -> Any:
        request = decode(encode(params))
        try:
            return decode(encode(self._host[method](request)))
        except HostError as error:
            raise from_wire({"kind": error.kind, "message": error.message}) from None
        except Exception as error:
            self.faults.append(f"{method}: {type(error).__name__}: {error}")
            raise HarnessFault(f"{method} failed in the harness") from None


def _execute_cell(code: str, name: str, variables: dict[str, Any], cell: Cell) -> None:
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), variables)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), name, "eval"), variables)
        if value is not None:
            cell.write(show(value) + "\n")
