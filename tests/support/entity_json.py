"""Writing Wikidata entity JSON by hand: one short call a document, a statement, a value."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

GREGORIAN = "http://www.wikidata.org/entity/Q1985727"
JULIAN = "http://www.wikidata.org/entity/Q1985786"
WD = "http://www.wikidata.org/entity/"

UNKNOWN: Json = {"snaktype": "somevalue"}
NONE: Json = {"snaktype": "novalue"}

_DATATYPES: dict[str, str] = {}


def item(identifier: str, **parts: Any) -> Json:
    """An item document.

    Args:
        identifier: its id.
        parts: ``labels`` and ``descriptions`` by language, ``aliases`` as lists by language,
            ``sitelinks`` by wiki, ``claims`` as a list of statements.
    """
    claims: dict[str, list[Json]] = {}
    for place, statement in enumerate(parts.get("claims", ())):
        statement = dict(statement)
        statement.setdefault("id", f"{identifier}${place:08X}-0000-4000-8000-000000000000")
        claims.setdefault(statement["mainsnak"]["property"], []).append(statement)
    return {
        "type": "item",
        "id": identifier,
        "labels": _texts(parts.get("labels", {})),
        "descriptions": _texts(parts.get("descriptions", {})),
        "aliases": {
            code: [{"language": code, "value": one} for one in several]
            for code, several in parts.get("aliases", {}).items()
        },
        "claims": claims,
        "sitelinks": {
            wiki: {"site": wiki, "title": title, "badges": []}
            for wiki, title in parts.get("sitelinks", {}).items()
        },
        "lastrevid": 1,
        "modified": "2026-01-02T03:04:05Z",
    }


def property_document(identifier: str, datatype: str, label: str | None, **parts: Any) -> Json:
    """A property document; its datatype goes into all snaks of the property made afterwards."""
    _DATATYPES[identifier] = datatype
    labels = {**({"en": label} if label else {}), **parts.pop("labels", {})}
    document = item(identifier, labels=labels, **parts)
    del document["sitelinks"]
    return {**document, "type": "property", "datatype": datatype}


def statement(
    property_id: str,
    value: Json,
    rank: str = "normal",
    qualifiers: list[tuple[str, Json]] | None = None,
    references: list[list[tuple[str, Json]]] | None = None,
    id: str | None = None,
) -> Json:
    """A statement; a value is what the functions below give, ``UNKNOWN`` or ``NONE``."""
    document: Json = {
        "type": "statement",
        "rank": rank,
        "mainsnak": snak(property_id, value),
        "qualifiers": _grouped(qualifiers or []),
        "references": [
            {"snaks": _grouped(one), "snaks-order": list(dict.fromkeys(p for p, _ in one))}
            for one in references or []
        ],
    }
    if id is not None:
        document["id"] = id
    return document


def snak(property_id: str, value: Json) -> Json:
    """A property with a value."""
    made = {"property": property_id, "datatype": _DATATYPES[property_id]}
    if value in (UNKNOWN, NONE):
        return {**made, **value}
    return {**made, "snaktype": "value", "datavalue": value}


def entity(identifier: str) -> Json:
    """An item, property, lexeme, form or sense as a value."""
    kind = {"Q": "item", "P": "property", "L": "lexeme", "E": "entity-schema"}[identifier[0]]
    kind = "form" if "-F" in identifier else "sense" if "-S" in identifier else kind
    return {"type": "wikibase-entityid", "value": {"entity-type": kind, "id": identifier}}


def text(content: str) -> Json:
    """A string; the property's datatype says of which sort."""
    return {"type": "string", "value": content}


def monolingual(content: str, language: str) -> Json:
    """A text in a language."""
    return {"type": "monolingualtext", "value": {"text": content, "language": language}}


def time(content: str, precision: int, calendar: str = GREGORIAN) -> Json:
    """A time as Wikidata's JSON has it."""
    return {
        "type": "time",
        "value": {
            "time": content,
            "timezone": 0,
            "before": 0,
            "after": 0,
            "precision": precision,
            "calendarmodel": calendar,
        },
    }


def quantity(
    amount: str, unit: str | None = None, lower: str | None = None, upper: str | None = None
) -> Json:
    """An amount with the item that is its unit, and bounds."""
    value = {"amount": amount, "unit": WD + unit if unit else "1"}
    if lower is not None and upper is not None:
        value |= {"lowerBound": lower, "upperBound": upper}
    return {"type": "quantity", "value": value}


def coordinate(
    latitude: float, longitude: float, precision: float | None = None, globe: str = "Q2"
) -> Json:
    """A place on a globe."""
    return {
        "type": "globecoordinate",
        "value": {
            "latitude": latitude,
            "longitude": longitude,
            "altitude": None,
            "precision": precision,
            "globe": WD + globe,
        },
    }


def _texts(by_code: dict[str, str]) -> dict[str, Json]:
    return {code: {"language": code, "value": one} for code, one in by_code.items()}


def _grouped(snaks: list[tuple[str, Json]]) -> dict[str, list[Json]]:
    grouped: dict[str, list[Json]] = {}
    for property_id, value in snaks:
        grouped.setdefault(property_id, []).append(snak(property_id, value))
    return grouped
