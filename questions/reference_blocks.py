"""Each step of the reference solver's plan as one block of Python."""

from __future__ import annotations

import inspect
import pprint
from typing import TYPE_CHECKING, Any, Final

from questions import reference_steps as steps
from questions.reference_plan import (
    CheckCandidates,
    FindEntities,
    FindProperties,
    FollowConditions,
    GiveAnswer,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from questions.ask import Ask
    from questions.reference_plan import Step

_IMPORTS: Final = "from typing import Any"
_HAND_IN: Final = "print(answer)\nFINAL(answer)"
_WIDTH: Final = 96

_HELPERS: Final[dict[str, tuple[Callable[..., Any], ...]]] = {
    "find_entities": (steps.find, steps.find_entities),
    "find_properties": (steps.find_properties,),
    "follow_conditions": (
        steps.all_rows,
        steps.neighbours,
        steps.cost,
        steps.narrow,
        steps.follow,
    ),
    "check_candidates": (steps.complete, steps.check),
}
"""The functions that a step's block brings along; later blocks use them too."""


class _Name(str):
    """A variable of an earlier block or line, as opposed to a literal string."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def block(step: Step) -> str:
    """The Python of one step. It uses what the blocks of the steps before it defined."""
    if isinstance(step, FindEntities):
        body = [_IMPORTS, *_sources(step), _call("entities", steps.find_entities, step.labels)]
    elif isinstance(step, FindProperties):
        body = [*_sources(step), _call("properties", steps.find_properties, step.labels)]
    elif isinstance(step, FollowConditions):
        conditions = [(c.subject, c.property, c.object) for c in step.conditions]
        names = (_Name("conditions"), _Name("entities"), _Name("properties"))
        body = [
            *_sources(step),
            _assign("conditions", conditions),
            _call("candidates, links", steps.follow, *names),
        ]
    elif isinstance(step, CheckCandidates):
        names = (_Name("conditions"), _Name("candidates"), _Name("links"))
        body = [*_sources(step), _call("solutions", steps.check, *names, step.target)]
    else:
        body = _answer(step)
    return "\n\n".join(body)


def _answer(step: GiveAnswer) -> list[str]:
    target: str = _Name(f"solutions[0][{step.target!r}]") if step.known is None else step.known
    if step.ask.kind == "identity" and not step.as_text:
        return [f"{_assign('answer', target)}\n{_HAND_IN}"]
    functions, arguments = _reading(step.ask, step)
    # Following conditions brought these along already.
    if step.known is not None and step.ask.kind != "identity":
        functions = (steps.all_rows, steps.neighbours, *functions)
    call = _call("answer", functions[-1], target, *arguments)
    return [*map(_source, functions), f"{call}\n{_HAND_IN}"]


def _reading(ask: Ask, step: GiveAnswer) -> tuple[tuple[Callable[..., Any], ...], tuple[Any, ...]]:
    """The functions that read the answer, the last of which is called with these arguments."""
    if ask.kind == "identity":
        return (steps.text_asked,), ()
    if ask.kind == "year":
        value = ask.object
        if value is not None and step.known is None:
            value = _Name(f"solutions[0][{value!r}]")
        return (steps.values_of, steps.year_asked), (ask.property, ask.qualifier, value)
    if ask.kind == "quantity":
        return (steps.values_of, steps.quantity_asked), (ask.property,)
    if ask.kind == "group":
        return (steps.group_asked,), (ask.direction, ask.property)
    if ask.kind == "count":
        return (steps.group_asked, steps.count_asked), (ask.direction, ask.property)
    highest = ask.kind == "argmax"
    arguments = (ask.direction, ask.property, ask.value_property, highest)
    return (steps.group_asked, steps.size, steps.extreme_asked), arguments


def _sources(step: Step) -> list[str]:
    return [_source(function) for function in _HELPERS[step.kind]]


def _source(function: Callable[..., Any]) -> str:
    return inspect.getsource(function).rstrip()


def _assign(name: str, value: Any) -> str:
    return f"{name} = {pprint.pformat(value, width=_WIDTH - len(name), sort_dicts=False)}"


def _call(result: str, function: Callable[..., Any], *arguments: Any) -> str:
    return f"{result} = {function.__name__}({', '.join(map(repr, arguments))})"
