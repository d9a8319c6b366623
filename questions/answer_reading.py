"""From what a model hands in to a typed answer, and the texts that tell it what to hand in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

from kg_functions.identifiers import is_item
from questions.answer_types import (
    MAX_COUNT,
    MAX_YEAR,
    Answer,
    CountAnswer,
    GroupAnswer,
    IdentityAnswer,
    QuantityAnswer,
    TextAnswer,
    YearAnswer,
    plain_decimal,
)
from questions.errors import AnswerFormatError

if TYPE_CHECKING:
    from questions.formats import AnswerFormat

_DESCRIPTIONS: Final = {
    "text": 'a short text, as a string. Example: "the river Seine"',
    "identity": 'the id of one entity, as a string. Example: "Q42"',
    "year": "one year, as a whole number, negative for BCE. Example: 1986 (or -44 for 44 BCE)",
    "quantity": (
        "an amount and the id of its unit, as a dict; the unit is None for a number without one. "
        'Example: {"amount": "78.5", "unit": "Q11573"}'
    ),
    "group": 'the ids of all members, as a list of strings. Example: ["Q42", "Q64"]',
    "count": "how many there are, as a whole number. Example: 7",
}

_YEAR_PRECISIONS: Final = ("year", "month", "day", "hour", "minute", "second")
_YEAR_TEXT: Final = re.compile(
    r"(?P<ad>AD |CE )?(?P<sign>[+-]?)(?P<digits>[0-9]{1,12})(?: ?(?P<era>BCE?|B\.C\.|CE|AD))?",
    re.IGNORECASE,
)
_ENTITY_ADDRESS: Final = re.compile(r"(?:https?://(?:www\.)?wikidata\.org/(?:entity|wiki)/|wd:)")
_SHOWN: Final = 60

MAX_TEXT: Final = 10_000
"""Characters of a text answer."""


def describe_format(format: AnswerFormat) -> str:
    """What to hand in for this format, with one example; shown in prompts and in refusals."""
    return _DESCRIPTIONS[format.kind]


def read_answer(value: Any, format: AnswerFormat) -> Answer:
    """Turn what a model handed in into a typed answer.

    Args:
        value: plain JSON-able Python: a number, a string, a list, or a dict as the graph
            functions return it.
        format: what the question asks for.

    Raises:
        AnswerFormatError: where the value does not fit, saying why and what is expected.
    """
    try:
        return _READERS[format.kind](_inner_value(value))
    except _UnfitError as reason:
        raise AnswerFormatError(
            f"This is not an answer in the asked format: {reason}. "
            f"Expected: {describe_format(format)}."
        ) from None


class _UnfitError(Exception):
    """Why a value is refused: a clause without a full stop."""


def _refuse(reason: str) -> NoReturn:
    raise _UnfitError(reason)


def _show(value: Any) -> str:
    """The value as Python writes it, shortened; safe for any value."""
    try:
        text = repr(value)
    except Exception:
        return f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _inner_value(value: Any) -> Any:
    """The value of a whole statement or qualifier; anything else as it is."""
    if (
        isinstance(value, Mapping)
        and "property" in value
        and isinstance(value.get("value"), Mapping)
    ):
        return value["value"]
    return value


def _read_text(value: Any) -> TextAnswer:
    if isinstance(value, bool) or value is None:
        _refuse(f'{value!r} is no text (write it out, such as "yes" or "no")')
    if isinstance(value, Mapping) and isinstance(value.get("text"), str):
        value = value["text"]
    if isinstance(value, (int, float)):
        value = _show(value)
    if not isinstance(value, str):
        _refuse(f"it is a {type(value).__name__}, not a string")
    if not value.strip():
        _refuse("the text is empty")
    if len(value) > MAX_TEXT:
        _refuse(f"it has {len(value):,} characters, at most {MAX_TEXT:,} are asked for")
    try:
        value.encode()
    except UnicodeEncodeError:
        _refuse("it holds half a character (a lone surrogate)")
    return TextAnswer(text=value.strip())


def _read_identity(value: Any) -> IdentityAnswer:
    if isinstance(value, (list, tuple)):
        _refuse("it is a list, and one entity is asked for")
    return IdentityAnswer(id=_read_id(value))


def _read_id(value: Any) -> str:
    """An item id out of a string, an address or a result dict."""
    if isinstance(value, Mapping):
        if "edges" in value or "statements" in value:
            _refuse("it is a whole page of results; hand in the one id that you mean")
        inner = value.get("id", value.get("entity"))
        if not isinstance(inner, str):
            _refuse(f'the dict has no "id": {_show(dict(value))}')
        value = inner
    if not isinstance(value, str):
        _refuse(f"{_show(value)} is a {type(value).__name__}, not an id")
    identifier = _ENTITY_ADDRESS.sub("", value.strip(), count=1)
    if not is_item(identifier):
        _refuse(f"{_show(value)} is not the id of an item; give the id, not the label")
    return identifier


def _read_year(value: Any) -> YearAnswer:
    if isinstance(value, Mapping):
        precision = value.get("precision", "year")
        if precision not in _YEAR_PRECISIONS or ("year" in value and value["year"] is None):
            _refuse(f"the value is only known to the {precision}, and a year is asked for")
        if "year" not in value:
            _refuse(f'the dict has no "year": {_show(dict(value))}')
        value = value["year"]
    year = _year_of_text(value) if isinstance(value, str) else _whole_number(value, MAX_YEAR)
    if year == 0:
        _refuse("there is no year 0 (1 BCE is -1)")
    return YearAnswer(year=year)


def _year_of_text(text: str) -> int:
    match = _YEAR_TEXT.fullmatch(text.strip())
    if match is None:
        _refuse(f"{_show(text)} is not a year; hand in the year alone")
    era = (match["era"] or "").upper().replace(".", "")
    before = era.startswith("B")
    if (match["sign"] and (era or match["ad"])) or (match["ad"] and era):
        _refuse(f"{_show(text)} names the era twice")
    if match["sign"] == "-" and match["digits"].startswith("0"):
        # "-0043" is how a time value writes 44 BCE: with a year 0.
        _refuse(f'{_show(text)} looks like the "time" of a value; hand in its "year"')
    return -int(match["digits"]) if before or match["sign"] == "-" else int(match["digits"])


def _whole_number(value: Any, largest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        _refuse(f"{_show(value)} is a {type(value).__name__}, not a whole number")
    if isinstance(value, float) and not value.is_integer():
        _refuse(f"{_show(value)} is not a whole number")
    if abs(value) > largest:
        _refuse(f"the number is beyond all measure (at most {largest:,})")
    return int(value)


def _read_quantity(value: Any) -> QuantityAnswer:
    if not isinstance(value, Mapping):
        return QuantityAnswer(amount=_read_amount(value), unit=None)
    if "amount" not in value:
        _refuse(f'the dict has no "amount": {_show(dict(value))}')
    return QuantityAnswer(amount=_read_amount(value["amount"]), unit=_read_unit(value.get("unit")))


def _read_amount(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        _refuse(f"{_show(value)} is a {type(value).__name__}, not an amount")
    if isinstance(value, float) and not math.isfinite(value):
        _refuse(f"{value!r} is not a finite number")
    try:
        # repr is the shortest text that gives the same float: 0.1 stays "0.1".
        return plain_decimal(value if isinstance(value, str) else repr(value))
    except ValueError as error:
        _refuse(str(error))


def _read_unit(value: Any) -> str | None:
    # "1" and Q199 are how Wikidata writes that there is no unit.
    if value is None or value in ("1", "Q199"):
        return None
    try:
        return _read_id(value)
    except _UnfitError:
        _refuse(f"the unit {_show(value)} is not the id of an item; None means no unit")


def _read_group(value: Any) -> GroupAnswer:
    if isinstance(value, (set, frozenset)):
        _refuse("it is a set; use sorted(...) to make a list of it")
    if isinstance(value, Mapping):
        value = value.get("ids", value)
    if not isinstance(value, (list, tuple)):
        _refuse(f"it is a {type(value).__name__}, not a list")
    if not value:
        _refuse("the list is empty; every group that is asked for has members, so look again")
    ids = []
    for position, entry in enumerate(value):
        try:
            ids.append(_read_id(_inner_value(entry)))
        except _UnfitError as reason:
            _refuse(f"entry {position} of the list: {reason}")
    return GroupAnswer(ids=tuple(dict.fromkeys(ids)))


def _read_count(value: Any) -> CountAnswer:
    if isinstance(value, (list, tuple, set, frozenset)):
        _refuse("it is a list; hand in len(...) of it")
    if isinstance(value, Mapping):
        if "count" not in value:
            _refuse("it is a dict; hand in the number alone")
        value = value["count"]
    if isinstance(value, str):
        if re.fullmatch(r"[0-9]{1,15}", value.strip()) is None:
            _refuse(f"{_show(value)} is not a whole number")
        value = int(value)
    count = _whole_number(value, MAX_COUNT)
    if count < 0:
        _refuse(f"{count} is less than nothing")
    return CountAnswer(count=count)


_READERS: Final[dict[str, Callable[[Any], Answer]]] = {
    "text": _read_text,
    "identity": _read_identity,
    "year": _read_year,
    "quantity": _read_quantity,
    "group": _read_group,
    "count": _read_count,
}
