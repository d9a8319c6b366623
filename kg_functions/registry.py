"""The one registry of graph functions: signatures, docstrings and schemas for every interface."""

from __future__ import annotations

import inspect
import typing
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from kg_functions import declarations
from kg_functions.errors import InvalidArgument

MAX_LIMIT: Final = 10_000
"""The longest page any function returns; a larger ``limit`` is refused, not cut in silence."""

MAX_OFFSET: Final = 2**53
"""The largest offset; far beyond any graph, and exact in every encoding."""

MAX_TEXT: Final = 1_000
"""Characters of a text argument: no name is longer, and every call is kept in the trace."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a graph function.

    Attributes:
        name: as the caller writes it.
        kind: ``ids`` (one id or a list), ``text``, ``property``, ``count``, ``choice``.
        default: the default, or ``Parameter.REQUIRED``.
        choices: the allowed values of a ``choice``.
        optional: whether None is allowed.
    """

    REQUIRED: typing.ClassVar[Any] = inspect.Parameter.empty

    name: str
    kind: Literal["ids", "text", "property", "count", "choice"]
    default: Any
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def required(self) -> bool:
        """Whether a call without this parameter is refused."""
        return self.default is Parameter.REQUIRED


@dataclass(frozen=True)
class GraphFunction:
    """One graph function as declared: what interfaces show and what calls are checked against.

    Attributes:
        name: the function's name.
        parameters: in order.
        docstring: what a model reads.
        returns: the annotation of the result, as text.
    """

    name: str
    parameters: tuple[Parameter, ...]
    docstring: str
    returns: str
    signature: str = field(default="")

    @property
    def takes_ids(self) -> bool:
        """Whether the first parameter is an id or a list of ids."""
        return self.parameters[0].kind == "ids"

    def bind(self, args: list[Any] | tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Check a call's arguments and fill in the defaults.

        Returns:
            Every parameter by name, in declaration order; two calls that mean the same give
            equal dicts.

        Raises:
            InvalidArgument: naming the argument and what was expected.
        """
        names = [p.name for p in self.parameters]
        if len(args) > len(names):
            raise InvalidArgument(f"{self.signature} takes at most {len(names)} arguments.")
        given = dict(zip(names, args, strict=False))
        for key, value in kwargs.items():
            if key not in names:
                raise InvalidArgument(
                    f"{self.name} has no argument {key!r}: call {self.signature}."
                )
            if key in given:
                raise InvalidArgument(f"{self.name} got {key!r} twice: call {self.signature}.")
            given[key] = value
        bound = {}
        for parameter in self.parameters:
            if parameter.name in given:
                bound[parameter.name] = _check(self.name, parameter, given[parameter.name])
            elif parameter.required:
                raise InvalidArgument(
                    f"{self.name} needs {parameter.name!r}: call {self.signature}."
                )
            else:
                bound[parameter.name] = parameter.default
        return bound

    def json_schema(self) -> dict[str, Any]:
        """The parameters as a JSON schema object that forbids unknown keys."""
        return {
            "type": "object",
            "properties": {p.name: _schema(p) for p in self.parameters},
            "required": [p.name for p in self.parameters if p.required],
            "additionalProperties": False,
        }


def _check(function: str, parameter: Parameter, value: Any) -> Any:
    """Return ``value`` if the parameter allows it; syntax of ids is checked by the graph."""
    if value is None and parameter.optional:
        return None
    where = f"{function}: {parameter.name}"
    if parameter.kind == "ids":
        if isinstance(value, (set, frozenset)):
            raise InvalidArgument(f"{where} must be a string or a list, not a set: use sorted(...)")
        if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
            return [_text(where, one) for one in value]
        if isinstance(value, str):
            return _text(where, value)
        raise InvalidArgument(f"{where} must be an id such as 'Q42', or a list of ids.")
    if parameter.kind == "count":
        lowest = 0 if parameter.name == "offset" else 1
        if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
            raise InvalidArgument(f"{where} must be a whole number of at least {lowest}.")
        if parameter.name == "limit" and value > MAX_LIMIT:
            raise InvalidArgument(
                f"{where} may be at most {MAX_LIMIT}: read on with offset=next_offset."
            )
        if value > MAX_OFFSET:
            raise InvalidArgument(f"{where} may be at most {MAX_OFFSET}.")
        return value
    if parameter.kind == "choice":
        if value not in parameter.choices:
            raise InvalidArgument(f"{where} must be one of {', '.join(parameter.choices)}.")
        return value
    if not isinstance(value, str):
        raise InvalidArgument(f"{where} must be a string, not {type(value).__name__}.")
    return _text(where, value)


def _text(where: str, text: str) -> str:
    if len(text) > MAX_TEXT:
        raise InvalidArgument(f"{where} may have at most {MAX_TEXT} characters.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{where} holds half a character (a lone surrogate).") from None
    return text


def _schema(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any]
    if parameter.kind == "ids":
        schema = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    elif parameter.kind == "count":
        schema = {"type": "integer", "minimum": 0 if parameter.name == "offset" else 1}
    elif parameter.kind == "choice":
        schema = {"type": "string", "enum": list(parameter.choices)}
    else:
        schema = {"type": "string"}
    if parameter.optional:
        schema = {"anyOf": [schema, {"type": "null"}]}
    if not parameter.required:
        schema["default"] = parameter.default
    return schema


def _parameter(raw: inspect.Parameter, annotation: Any) -> Parameter:
    options = typing.get_args(annotation)
    optional = type(None) in options
    if annotation == declarations.Ids:
        return Parameter(raw.name, "ids", raw.default)
    if typing.get_origin(annotation) is Literal:
        return Parameter(raw.name, "choice", raw.default, choices=options)
    if annotation is int:
        return Parameter(raw.name, "count", raw.default)
    kind: Literal["property", "text"] = "property" if raw.name == "property" else "text"
    return Parameter(raw.name, kind, raw.default, optional=optional)


def _shown(default: Any) -> str:
    """A default as it is written in code, strings in double quotes."""
    return f'"{default}"' if isinstance(default, str) else repr(default)


def _declare(function: Any) -> GraphFunction:
    signature = inspect.signature(function)
    hints = typing.get_type_hints(function)
    parameters = tuple(_parameter(p, hints[p.name]) for p in signature.parameters.values())
    shown = ", ".join(p.name if p.required else f"{p.name}={_shown(p.default)}" for p in parameters)
    return GraphFunction(
        name=function.__name__,
        parameters=parameters,
        docstring=inspect.getdoc(function) or "",
        returns=str(signature.return_annotation),
        signature=f"{function.__name__}({shown})",
    )


FUNCTIONS: Final[dict[str, GraphFunction]] = {
    f.__name__: _declare(f)
    for f in (
        declarations.search_entity,
        declarations.search_property,
        declarations.claims,
        declarations.references,
        declarations.describe,
        declarations.labels,
        declarations.label,
        declarations.descriptions,
        declarations.edges,
        declarations.count_edges,
        declarations.degree,
        declarations.name,
        declarations.has,
    )
}
"""Every graph function by name, in the order in which they are shown."""


def function(name: str) -> GraphFunction:
    """The declaration of a function.

    Raises:
        InvalidArgument: for an unknown name, listing those there are.
    """
    if name not in FUNCTIONS:
        raise InvalidArgument(f"There is no function {name!r}; there are {', '.join(FUNCTIONS)}.")
    return FUNCTIONS[name]


def describe_functions() -> list[dict[str, Any]]:
    """Every function as plain data, for a process that cannot import this package.

    Returns:
        ``[{"name", "signature", "docstring", "parameters": [{"name", "default"?}]}]``
    """
    return [
        {
            "name": function.name,
            "signature": function.signature,
            "docstring": function.docstring,
            "parameters": [
                {"name": p.name} if p.required else {"name": p.name, "default": p.default}
                for p in function.parameters
            ],
        }
        for function in FUNCTIONS.values()
    ]
