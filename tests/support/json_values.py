"""Wikidata's JSON read directly: what a value must look like, by this file's own arithmetic.

Nothing here uses the project's code, so that a comparison with it means something.
"""

from __future__ import annotations

import gzip
import json
import re
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

Json = dict[str, Any]

JULIAN = "http://www.wikidata.org/entity/Q1985786"
PRECISIONS = {11: "day", 10: "month", 9: "year", 8: "decade", 7: "century", 6: "millennium"}
TEXT_TYPES = {"commonsMedia": "media"}
LANGUAGES = ("en", "fr", "de", "zh", "ar", "ru")
ZH = ("zh", "zh-hans", "zh-cn", "zh-sg", "zh-my", "zh-hant", "zh-tw", "zh-hk", "zh-mo")
NOT_IN_AN_IRI = re.compile(r"[\x00-\x20<>\"{}|^`\\]")


def entities(path: Path) -> Iterator[Json]:
    """The documents of a file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def snaks(document: Json) -> Iterator[Json]:
    """Every snak of a document: main ones, qualifiers, references."""
    for statement in statements(document):
        yield statement["mainsnak"]
        yield from grouped(statement.get("qualifiers"))
        for reference in statement.get("references", ()):
            yield from grouped(reference["snaks"])


def statements(document: Json) -> Iterator[Json]:
    """Every statement of a document."""
    claims = document["claims"] or {}
    for several in claims.values():
        yield from several


def grouped(snaks_by_property: Any) -> list[Json]:
    """The snaks of a qualifiers or reference object; old documents have ``[]`` for none."""
    return [snak for several in (snaks_by_property or {}).values() for snak in several]


def datatypes(documents: Iterable[Json]) -> dict[str, str]:
    """The datatype of each property, as the snaks state it.

    RDF knows one for each property, while old documents still have ``string`` for what has been
    made ``external-id`` since, or say nothing.
    """
    found: dict[str, str] = {}
    for document in documents:
        for snak in snaks(document):
            kind = snak.get("datavalue", {}).get("type")
            guess = {"wikibase-entityid": "wikibase-item"}.get(kind, kind)
            stated = snak.get("datatype") or guess
            if stated and found.get(snak["property"]) in (None, "string"):
                found[snak["property"]] = stated
    return found


def expected(snak: Json, datatypes: Mapping[str, str]) -> tuple[Any, ...]:
    """What the value of a snak must be, in the form of ``reduced``."""
    if snak["snaktype"] != "value":
        return ({"somevalue": "unknown", "novalue": "none"}[snak["snaktype"]],)
    value = snak["datavalue"]["value"]
    kind = snak["datavalue"]["type"]
    if kind == "wikibase-entityid":
        letter = {"item": "Q", "property": "P", "lexeme": "L"}.get(value["entity-type"])
        identifier = value.get("id") or f"{letter}{value['numeric-id']}"
        return ("entity" if identifier[0] in "QP" else value["entity-type"], identifier)
    if kind == "time":
        return _time(value)
    if kind == "quantity":
        unit = None if value["unit"] == "1" else value["unit"].rpartition("/")[2]
        bounds = [value.get("lowerBound"), value.get("upperBound")]
        amounts = [_decimal(one) if one else None for one in (value["amount"], *bounds)]
        return ("quantity", unit, *amounts)
    if kind == "globecoordinate":
        numbers = [value["latitude"], value["longitude"], value["precision"]]
        return ("coordinate", value["globe"].rpartition("/")[2], *map(_rounded, numbers))
    if kind == "monolingualtext":
        return ("text", value["text"], value["language"])
    datatype = datatypes[snak["property"]]
    text = value.strip() if datatype in ("url", "external-id") else value
    if datatype == "url":
        # RDF writes in percent code what no IRI may hold.
        text = NOT_IN_AN_IRI.sub(lambda found: f"%{ord(found[0]):02X}", text)
    return (TEXT_TYPES.get(datatype, datatype), text)


def reduced(value: Json) -> tuple[Any, ...]:
    """A function's value as a tuple that compares with ``expected``; labels left out."""
    kind = value["type"]
    if kind in ("unknown", "none"):
        return (kind,)
    if kind == "entity":
        return (kind, value["id"])
    if kind == "time":
        return (kind, value["time"], value["precision"], value["calendar"], value["year"])
    if kind == "quantity":
        amounts = [value["amount"], value["lower"], value["upper"]]
        return (kind, value["unit"], *amounts)
    if kind == "coordinate":
        numbers = [value["latitude"], value["longitude"], value["precision"]]
        return (kind, value["globe"], *map(_rounded, numbers))
    if kind == "text":
        return (kind, value["text"], value["language"])
    return (kind, value["text"])


def best(several: list[Json]) -> list[Json]:
    """A property's best statements."""
    for rank in ("preferred", "normal"):
        found = [one for one in several if one["rank"] == rank]
        if found:
            return found
    return []


def chosen_texts(by_code: Any, *, mul: bool) -> dict[str, Any]:
    """Labels, descriptions or aliases in the six languages as the functions report them."""
    by_code = by_code or {}
    found = {}
    for language in LANGUAGES:
        for code in ZH if language == "zh" else (language,):
            if code in by_code:
                found[language] = _plain(by_code[code])
                break
    if mul and "mul" in by_code:
        found["mul"] = _plain(by_code["mul"])
    return found


def _plain(texts: Any) -> Any:
    return sorted(one["value"] for one in texts) if isinstance(texts, list) else texts["value"]


def _time(value: Json) -> tuple[Any, ...]:
    sign, rest = value["time"][0], value["time"][1:]
    year_text, month_text, day_text = rest.partition("T")[0].split("-")
    precision = value["precision"]
    calendar = "julian" if value["calendarmodel"] == JULIAN else "gregorian"
    written = int(year_text) * (-1 if sign == "-" else 1)
    year, month, day = written, int(month_text), int(day_text)
    if precision >= 9 and written < 0:
        year += 1  # JSON has no year 0, RDF has.
    if precision >= 11 and calendar == "julian":
        year, month, day = _gregorian(year, month, day)
    digits = f"{'-' if year < 0 else '+'}{abs(year):04d}"
    if precision < 9:
        digits = digits[: precision - 9]
    if precision >= 10:
        digits += f"-{month:02d}"
    if precision >= 11:
        digits += f"-{day:02d}"
    return ("time", digits, PRECISIONS[precision], calendar, written if precision >= 9 else None)


def _gregorian(year: int, month: int, day: int) -> tuple[int, int, int]:
    """A Julian day in the Gregorian calendar, by counting days from a common one."""
    # 1 January 1 (Julian) is 30 December of the year 0 (Gregorian): two days before day 1.
    cycles = 0
    while year < 400:
        year += 400  # 400 Julian years have 146,100 days, 400 Gregorian ones 146,097.
        cycles += 1
    lengths = [31, 29 if year % 4 == 0 else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    ordinal = (year - 1) * 365 + (year - 1) // 4 + sum(lengths[: month - 1]) + day - 2
    found = date.fromordinal(ordinal - 3 * cycles)
    return found.year - 400 * cycles, found.month, found.day


def _decimal(text: str) -> str:
    number = Decimal(text)
    shown = format(number, "f").lstrip("+")
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _rounded(number: float | None) -> float | None:
    """RDF writes 14 significant digits."""
    return None if number is None else float(f"{number:.12g}")
