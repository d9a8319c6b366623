"""The errors that code in the kernel can see, by the names under which the harness sends them."""

from __future__ import annotations

from typing import Any


class _Shown(Exception):
    """An error that is shown without the name of this module, as a value too."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


class GraphError(_Shown):
    """A graph call that was not answered; the message says what to do next."""


class InvalidIdentifier(GraphError):
    """An identifier with the wrong syntax."""


class InvalidArgument(GraphError):
    """An argument of the wrong type or outside its range."""


class NotInGraph(GraphError):
    """A well-formed identifier that this graph does not hold."""


class UnseenIdentifier(GraphError):
    """An identifier that neither the question nor an earlier result contains."""


class BudgetExceeded(GraphError):
    """The run's graph-call budget is used up."""


class GraphUnavailable(GraphError):
    """The graph itself failed; nothing in the code can mend it."""


class LLMCallError(_Shown):
    """A helper call without an answer; falsy, so that ``[r for r in replies if r]`` drops it."""

    def __bool__(self) -> bool:
        return False


class AnswerRefused(_Shown):
    """A final answer that was not accepted; the run goes on."""


class HarnessFault(_Shown, RuntimeError):
    """A fault outside the kernel, not caused by the code in it."""


BY_NAME: dict[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (
        GraphError,
        InvalidIdentifier,
        InvalidArgument,
        NotInGraph,
        UnseenIdentifier,
        BudgetExceeded,
        GraphUnavailable,
        LLMCallError,
        AnswerRefused,
        HarnessFault,
    )
}


def from_wire(error: dict[str, str]) -> Exception:
    """Make the exception for an error that the harness sent as ``{"kind", "message"}``."""
    kind, message = error["kind"], error["message"]
    if kind in BY_NAME:
        return BY_NAME[kind](message)
    return HarnessFault(f"{kind}: {message}")
