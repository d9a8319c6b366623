"""Values, statements and links as one line of text, for people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """Text that a terminal shows and does not obey: control characters become escapes."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def value_text(value: Mapping[str, Any]) -> str:
    """One of the value shapes of ``claims`` as text: ``Göttingen (Q3033)``, ``1986-05-11``."""
    kind = value["type"]
    if kind == "entity":
        return named(value["id"], value["label"])
    if kind == "time":
        return _time_text(value)
    if kind == "quantity":
        return _quantity_text(value)
    if kind == "coordinate":
        return f"{value['latitude']:.5g}, {value['longitude']:.5g}"
    if kind == "text":
        return f"{value['text']} ({value['language']})"
    if kind == "unknown":
        return "unknown value"
    if kind == "none":
        return "no value"
    return str(value["text"])


def named(identifier: str, label: str | None) -> str:
    """``Göttingen (Q3033)``, or the identifier alone where there is no label."""
    return f"{label} ({identifier})" if label else identifier


def entity_url(identifier: str) -> str:
    """The page of an item or property on Wikidata."""
    page = f"Property:{identifier}" if identifier.startswith("P") else identifier
    return f"https://www.wikidata.org/wiki/{page}"


def _time_text(value: Mapping[str, Any]) -> str:
    if value.get("text"):
        return str(value["text"])
    year = value.get("year")
    if value["precision"] == "year" and year is not None:
        return f"{-year} BCE" if year < 0 else str(year)
    return str(value["time"]).removeprefix("+")


def _quantity_text(value: Mapping[str, Any]) -> str:
    if value["unit"] is None:
        return str(value["amount"])
    return f"{value['amount']} {value['unit_label'] or value['unit']}"
