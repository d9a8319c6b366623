"""Typed answers: one model an answer format."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from kg_functions.identifiers import is_item

MAX_YEAR: Final = 10**12
"""The farthest year either way: some way beyond the age of the universe."""

MAX_COUNT: Final = 10**15
"""The largest count; exact in every encoding, and more than any graph holds."""

MAX_DIGITS: Final = 1_000
"""The longest amount, in digits before or after the point: far beyond any measured quantity."""


def plain_decimal(text: str) -> str:
    """An amount as a plain decimal string: no exponent, no plus sign, digits kept as given.

    Raises:
        ValueError: where ``text`` is no finite decimal number or is absurdly long.
    """
    try:
        amount = Decimal(text.strip())
    except InvalidOperation as error:
        raise ValueError(f"{text!r} is not a decimal number") from error
    if not amount.is_finite():
        raise ValueError(f"{text!r} is not a finite number")
    if len(amount.as_tuple().digits) > MAX_DIGITS or abs(amount.adjusted()) > MAX_DIGITS:
        raise ValueError(f"an amount may have at most {MAX_DIGITS} digits")
    plain = format(amount, "f")
    return plain.removeprefix("-") if amount.is_zero() else plain


def _item(value: str) -> str:
    if not is_item(value):
        raise ValueError(f"{value!r} is not an item id such as 'Q42'")
    return value


def _distinct(ids: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(ids)) != len(ids):
        raise ValueError("an id stands twice")
    return ids


def _not_zero(year: int) -> int:
    if year == 0:
        raise ValueError("there is no year 0: 1 BCE is -1")
    return year


ItemId = Annotated[str, AfterValidator(_item)]
"""An item id such as ``Q42``."""

PlainDecimal = Annotated[str, AfterValidator(plain_decimal)]
"""An exact decimal number as text, such as ``"0.30"``."""

HistoricalYear = Annotated[int, AfterValidator(_not_zero)]
"""A year as people count: 1986, and -44 for 44 BCE; there is no year 0."""


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TextAnswer(_Answer):
    """Free text."""

    kind: Literal["text"] = "text"
    text: str = Field(min_length=1)


class IdentityAnswer(_Answer):
    """One entity."""

    kind: Literal["identity"] = "identity"
    id: ItemId


class YearAnswer(_Answer):
    """A year as people write it, negative for BCE."""

    kind: Literal["year"] = "year"
    year: HistoricalYear = Field(ge=-MAX_YEAR, le=MAX_YEAR)


class QuantityAnswer(_Answer):
    """An exact amount in the unit with that id; None where the number has no unit."""

    kind: Literal["quantity"] = "quantity"
    amount: PlainDecimal
    unit: ItemId | None = None


class GroupAnswer(_Answer):
    """The entities of a group; the order carries no meaning."""

    kind: Literal["group"] = "group"
    # strict=False: JSON arrays come as lists.
    ids: Annotated[tuple[ItemId, ...], Field(min_length=1, strict=False), AfterValidator(_distinct)]


class CountAnswer(_Answer):
    """How many there are."""

    kind: Literal["count"] = "count"
    count: int = Field(ge=0, le=MAX_COUNT)


Answer = Annotated[
    TextAnswer | IdentityAnswer | YearAnswer | QuantityAnswer | GroupAnswer | CountAnswer,
    Field(discriminator="kind"),
]
"""An accepted answer; ``kind`` is that of its answer format."""
