"""The seam between the harness and whatever runs a model's code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from pathlib import Path

CellStatus = Literal["ok", "error", "interrupted", "restarted"]
"""``ok``: ran to its end; ``error``: raised; ``interrupted``: passed its time limit or was
interrupted, state kept; ``restarted``: the kernel died or did not yield, state lost."""


@dataclass(frozen=True)
class CellResult:
    """What one executed block left behind.

    Attributes:
        status: how the cell ended.
        output: visible output (stdout, stderr, last expression, traceback), head and tail where
            it was longer than the cap, with the number of characters left out.
        omitted: characters of the whole output that ``output`` does not show.
        full_output: file with the whole output, or None where there was none.
        error: ``"NameError: ..."`` where the cell raised, else None.
        notice: what the model must be told of its state (time limit, restart, lost variables), or
            None.
        lost: names of the variables that a restart lost.
        seconds: wall time of the cell.
    """

    status: CellStatus
    output: str
    omitted: int = 0
    full_output: Path | None = None
    error: str | None = None
    notice: str | None = None
    lost: tuple[str, ...] = field(default=())
    seconds: float = 0.0


HostFunction = Callable[[dict[str, Any]], Any]
"""Answers one kind of request from the kernel, in the harness process.

It gets the request's parameters (JSON data) and returns JSON data. It is called from several
threads at once. A ``HostError`` reaches the kernel as an exception with its ``kind`` and message;
any other exception is a fault of the harness: it is recorded and reaches the kernel as
``HarnessFault`` without details.
"""


class HostError(Exception):
    """An error that the code in the kernel shall see.

    Args:
        kind: the exception's class in the kernel, e.g. ``"UnseenIdentifier"``, ``"LLMCallError"``,
            ``"AnswerRefused"``.
        message: what it says.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class KernelError(Exception):
    """The interpreter itself cannot go on: an infrastructure error."""


class Interpreter(Protocol):
    """Runs blocks of Python one after another in one lasting namespace.

    Whatever a block does, ``run`` returns: a dead or stuck kernel is replaced, and the result's
    ``notice`` says what was lost.
    """

    @property
    def confinement(self) -> str:
        """``bwrap``, ``landlock`` or ``none``: how the code is kept apart, for the trace."""
        ...

    def start(self) -> None:
        """Start the interpreter.

        Raises:
            KernelError: where it cannot be started.
        """
        ...

    def run(self, code: str) -> CellResult:
        """Execute one block and wait for its end, at most the cell's time limit and its grace.

        Raises:
            KernelError: where the interpreter cannot go on at all.
        """
        ...

    def interrupt(self) -> None:
        """Stop the running block; may be called from another thread."""
        ...

    def restart(self) -> None:
        """Begin again with an empty namespace."""
        ...

    def close(self) -> None:
        """End the interpreter and everything it started; a second call does nothing."""
        ...


class InterpreterFactory(Protocol):
    """Makes an interpreter for one run."""

    def __call__(
        self,
        host: Mapping[str, HostFunction],
        *,
        folder: Path,
        output_limit: int,
        cell_seconds: float,
    ) -> Interpreter:
        """Make an interpreter (not yet started).

        Args:
            host: what the kernel may ask of the harness, by method name.
            folder: where the whole outputs of cells are kept.
            output_limit: visible characters of a cell.
            cell_seconds: time limit of a cell.
        """
        ...
