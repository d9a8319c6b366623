"""IPython's kernel and shell with the output kept in the process instead of being published.

Cells of the harness carry a number and run through ``Cells``; other requests (a person attached
with ``jupyter console --existing``) run as in any IPython kernel.
"""

from __future__ import annotations

import builtins
import contextlib
import getpass
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from ipykernel.displayhook import ZMQShellDisplayHook
from ipykernel.ipkernel import IPythonKernel
from ipykernel.zmqshell import ZMQDisplayPublisher, ZMQInteractiveShell
from IPython.core.compilerop import CachingCompiler
from IPython.core.formatters import PlainTextFormatter
from traitlets import Type

from kernel.inside.display import show
from kernel.inside.helpers import leave, no_input
from kernel.inside.tracebacks import CELL_NAME

if TYPE_CHECKING:
    from kernel.inside.cells import Cells


class CellCompiler(CachingCompiler):
    """Names the code of a cell ``<cell 3>``."""

    cells: Cells | None = None

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        if self.cells is not None and self.cells.number:
            return CELL_NAME.format(self.cells.number)
        return super().get_code_name(raw_code, transformed_code, number)


class CellPlainText(PlainTextFormatter):
    """Plain text of bounded length; errors of a value's ``__repr__`` end the cell."""

    def __call__(self, obj: Any) -> str:
        return show(obj)


class CellDisplayHook(ZMQShellDisplayHook):  # type: ignore[misc]
    """Shows a cell's last expression; nothing is kept in ``Out`` or ``_``."""

    def __call__(self, result: Any = None) -> None:
        cells = self.shell.cells
        if not cells or not cells.number:
            super().__call__(result)
        elif result is not None:
            self.fill_exec_result(result)
            data, _ = self.compute_format_data(result)
            if data:
                cells.write(data["text/plain"] + "\n")


class CellDisplayPublisher(ZMQDisplayPublisher):  # type: ignore[misc]
    """Shows what ``display`` is given."""

    def publish(self, data: Any, metadata: Any = None, **options: Any) -> None:
        cells = self.shell.cells
        if not cells or not cells.number:
            super().publish(data, metadata, **options)
        else:
            cells.write(data.get("text/plain", f"[{', '.join(data)}]") + "\n")


class CellShell(ZMQInteractiveShell):  # type: ignore[misc]
    """IPython's shell for cells of the harness."""

    displayhook_class = Type(CellDisplayHook)
    display_pub_class = Type(CellDisplayPublisher)
    cells: Cells | None = None

    def init_environment(self) -> None:
        """No colours: the reader is a model."""
        os.environ["PAGER"] = os.environ["GIT_PAGER"] = "cat"

    def init_hooks(self) -> None:
        super().init_hooks()
        self.set_hook("show_in_pager", _show_page, 0)

    def init_display_formatter(self) -> None:
        super().init_display_formatter()
        self.display_formatter.formatters["text/plain"] = CellPlainText(parent=self)
        self.display_formatter.active_types = ["text/plain"]

    def ask_exit(self) -> None:
        """The kernel belongs to the harness: ``exit`` ends a cell."""
        leave()

    def system(self, cmd: str) -> None:
        """``!command``, without the terminal that IPython would ask for."""
        if self.cells and self.cells.number:
            command = self.var_expand(cmd, depth=1)
            self.user_ns["_exit_code"] = subprocess.call(command, shell=True)
        else:
            super().system(cmd)

    def showtraceback(self, exc_tuple: Any = None, *args: Any, **kwargs: Any) -> None:
        if self.cells and self.cells.number:
            error = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
            if error is not None:
                self.cells.fail(error)
        else:
            super().showtraceback(exc_tuple, *args, **kwargs)

    def showsyntaxerror(self, *args: Any, **kwargs: Any) -> None:
        if self.cells and self.cells.number:
            self.showtraceback()
        else:
            super().showsyntaxerror(*args, **kwargs)

    def _update_code_co_name(self, code: Any) -> Any:
        return code  # keep "<module>" in tracebacks


class CellKernel(IPythonKernel):  # type: ignore[misc]
    """IPython's kernel, run cell by cell by the harness."""

    shell_class = Type(CellShell)
    compiler_class = Type(CellCompiler)
    cells: Cells | None = None

    def attach(self, cells: Cells) -> None:
        """Let requests of the harness go through ``cells``."""
        self.cells = self.shell.cells = self.shell.compile.cells = cells

    def pre_handler_hook(self) -> None:
        """SIGINT is handled by ``Interrupts``, whatever message is being handled."""

    def post_handler_hook(self) -> None:
        """See ``pre_handler_hook``."""

    async def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: Any = None,
        allow_stdin: bool = False,
        *,
        cell_meta: Any = None,
        cell_id: Any = None,
    ) -> dict[str, Any]:
        cells = self.cells
        if cells is None or "cell" not in (cell_meta or {}):
            with cells.published(self.get_parent()) if cells else contextlib.nullcontext():
                reply: dict[str, Any] = await super().do_execute(
                    code, silent, store_history, user_expressions, allow_stdin
                )
                return reply
        await cells.run(cell_meta, *self._ways(code))
        self.shell.payload_manager.clear_payload()
        count = self.shell.execution_count
        return {"status": "ok", "execution_count": count, "user_expressions": {}, "payload": []}

    def _ways(self, code: str) -> tuple[Any, Any]:
        """How to execute the code: plainly, and as a coroutine if it awaits."""
        shell = self.shell

        def plain() -> BaseException | None:
            return _error(shell.run_cell(code, store_history=False))

        try:
            transformed, problem = shell.transform_cell(code), None
        except Exception:
            transformed, problem = code, sys.exc_info()
        options = {"transformed_cell": transformed, "preprocessing_exc_tuple": problem}
        if not shell.should_run_async(code, **options):
            return plain, None

        async def awaiting() -> BaseException | None:
            return _error(await shell.run_cell_async(code, store_history=False, **options))

        return plain, awaiting


def _show_page(shell: Any, text: Any, start: int = 0, screen_lines: int = 0) -> None:
    """What ``name?`` finds, as ordinary output."""
    print(text["text/plain"] if isinstance(text, dict) else text)


def _error(result: Any) -> BaseException | None:
    before: BaseException | None = result.error_before_exec
    inside: BaseException | None = result.error_in_exec
    return inside if before is None else before


def refuse_input() -> None:
    """Let everything that waits for a person fail at once."""
    builtins.input = getpass.getpass = no_input
    sys.breakpointhook = no_input
