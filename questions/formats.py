"""Answer formats: what a solver is asked to hand in, one model a format."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class _Format(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TextFormat(_Format):
    """Free text."""

    kind: Literal["text"] = "text"


class IdentityFormat(_Format):
    """One entity, by its id."""

    kind: Literal["identity"] = "identity"


class YearFormat(_Format):
    """A year as people write it: 1986, or -44 for 44 BCE."""

    kind: Literal["year"] = "year"


class QuantityFormat(_Format):
    """An amount with its unit's id (None where the number has no unit)."""

    kind: Literal["quantity"] = "quantity"


class GroupFormat(_Format):
    """All the entities of a group, by their ids, in any order."""

    kind: Literal["group"] = "group"


class CountFormat(_Format):
    """How many there are."""

    kind: Literal["count"] = "count"


AnswerFormat = Annotated[
    TextFormat | IdentityFormat | YearFormat | QuantityFormat | GroupFormat | CountFormat,
    Field(discriminator="kind"),
]
"""What an accepted answer looks like. Questions of type argmax and argmin ask for an identity."""

_FORMAT: Final[TypeAdapter[AnswerFormat]] = TypeAdapter(AnswerFormat)


def read_format(kind: str) -> AnswerFormat:
    """The format with that name, such as ``year``."""
    return _FORMAT.validate_python({"kind": kind})
