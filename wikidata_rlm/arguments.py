"""Turns words on the command line into the arguments of a graph function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kg_functions.errors import InvalidArgument
from kg_functions.registry import function

if TYPE_CHECKING:
    from kg_functions.registry import Parameter


def parse_arguments(name: str, words: list[str]) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments for a function, converted to what its parameters take.

    Args:
        name: the function.
        words: as typed; ``limit=5`` is a keyword argument where ``limit`` is a parameter,
            ``Q1,Q2`` a list of ids.

    Raises:
        InvalidArgument: for an unknown function, too many words, or no number where one is asked.
    """
    declared = function(name)
    parameters = {p.name: p for p in declared.parameters}
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for word in words:
        key, separator, value = word.partition("=")
        if separator and key in parameters:
            kwargs[key] = _convert(name, parameters[key], value)
        elif len(args) < len(declared.parameters):
            args.append(_convert(name, declared.parameters[len(args)], word))
        else:
            raise InvalidArgument(f"Too many arguments: call {declared.signature}.")
    return args, kwargs


def _convert(name: str, parameter: Parameter, word: str) -> Any:
    if parameter.optional and word in {"", "None"}:
        return None
    if parameter.kind == "ids" and "," in word:
        return [part.strip() for part in word.split(",") if part.strip()]
    if parameter.kind == "count":
        try:
            return int(word)
        except ValueError:
            raise InvalidArgument(
                f"{name}: {parameter.name} must be a whole number, not {word!r}."
            ) from None
    return word
