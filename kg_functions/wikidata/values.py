"""Typed values: from RDF terms and value nodes to the shapes that the functions return."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, unquote_plus

from kg_functions.datatypes import URL_TYPE, datatype_name
from kg_functions.lru import Lru
from kg_functions.rdf import GENID, GEO, NO_UNIT, RDF, WIKIBASE, XSD, entity_id
from kg_functions.wikidata import queries
from kg_functions.wikidata.queries import Query
from kg_functions.wikidata.times import time_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kg_functions.engines.protocol import SparqlEngine, Term

Value = dict[str, Any]
Facts = dict[str, list["Term"]]
"""What is said of one node: objects by predicate IRI."""

DATATYPES: Final = Query(
    """
SELECT ?property ?datatype WHERE {
  VALUES ?property { $terms }
  ?property wikibase:propertyType ?datatype .
}
""",
    order="?property ?datatype",
)

_TEXT_TYPES: Final = {
    "string": "string",
    "external-id": "external-id",
    "url": "url",
    "commonsMedia": "media",
    "localMedia": "media",
    "geo-shape": "geo-shape",
    "tabular-data": "tabular-data",
    "math": "math",
    "musical-notation": "musical-notation",
    "entity-schema": "entity-schema",
}
_TIME_LITERALS: Final = frozenset(XSD + t for t in ("dateTime", "date", "gYearMonth", "gYear"))
_NUMBER_LITERALS: Final = frozenset(
    XSD + t for t in ("decimal", "integer", "int", "long", "double", "float", "nonNegativeInteger")
)
_AUTO_PRECISION: Final = WIKIBASE + "GeoAutoPrecision"
_WKT: Final = GEO + "wktLiteral"
_MATHML: Final = "http://www.w3.org/1998/Math/MathML"
_MEDIA: Final = re.compile(r"https?://commons\.wikimedia\.org/wiki/Special:FilePath/(.+)")
_DATA_PAGE: Final = re.compile(r"https?://commons\.wikimedia\.org/data/main/(.+)")
_POINT: Final = re.compile(
    r"(?:<(?P<globe>[^>]*)>\s*)?Point\(\s*(?P<longitude>\S+)\s+(?P<latitude>\S+)\s*\)",
    re.IGNORECASE,
)
_TEX: Final = re.compile(
    r'<annotation\b[^>]*encoding="application/x-tex"[^>]*>(.*?)</annotation>', re.DOTALL
)
_ENTITIES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&"))


class Datatypes:
    """The datatype of each property, asked for once.

    Args:
        engine: what to ask.
    """

    def __init__(self, engine: SparqlEngine, capacity: int = 50_000) -> None:
        self._engine = engine
        self._cache: Lru[str, str | None] = Lru(capacity)

    def get(self, properties: Iterable[str]) -> dict[str, str | None]:
        """Datatypes as Wikidata's JSON names them (``wikibase-item``); None where unknown."""
        wanted = set(properties)
        types = self._cache.get_many(wanted)
        missing = sorted(wanted - set(types))
        if missing:
            fresh = self._ask(missing)
            self._cache.put_many(fresh)
            types.update(fresh)
        return types

    def _ask(self, properties: Sequence[str]) -> dict[str, str | None]:
        found: dict[str, str | None] = dict.fromkeys(properties)
        terms = [queries.entity(identifier) for identifier in properties]
        for row in queries.fetch(self._engine, DATATYPES, terms):
            identifier = entity_id(row["property"].value)
            if identifier in found:
                found[identifier] = datatype_name(row["datatype"].value)
        return found


def unknown() -> Value:
    """The value of which Wikidata says that there is one, unknown which."""
    return {"type": "unknown"}


def none() -> Value:
    """The value of which Wikidata says that there is none."""
    return {"type": "none"}


def is_unknown(term: Term) -> bool:
    """Whether a term stands for an unknown value: a blank node, or the query service's IRI."""
    if term.kind == "blank":
        return True
    return term.kind == "iri" and term.value.replace("https:", "http:", 1).startswith(GENID)


def from_node(facts: Mapping[str, Sequence[Term]]) -> Value | None:
    """The value of a full value node, or None where it is no such node (or not complete)."""
    if moment := _one(facts, "timeValue"):
        precision = _one(facts, "timePrecision")
        return time_value(
            moment, int(precision) if precision else None, _one(facts, "timeCalendarModel")
        )
    if (amount := _one(facts, "quantityAmount")) is not None:
        return _quantity(
            amount,
            _one(facts, "quantityUnit"),
            _one(facts, "quantityLowerBound"),
            _one(facts, "quantityUpperBound"),
        )
    latitude, longitude = _one(facts, "geoLatitude"), _one(facts, "geoLongitude")
    if latitude is not None and longitude is not None:
        precision = None if _is_automatic(facts) else _one(facts, "geoPrecision")
        return _coordinate(latitude, longitude, precision, _one(facts, "geoGlobe"))
    return None


def from_term(term: Term, datatype: str | None) -> Value:
    """The value of a simple term.

    Args:
        term: the object of a ``ps:``, ``pq:`` or ``pr:`` triple.
        datatype: the property's, as Wikidata's JSON names it; None where the graph does not say.
    """
    if is_unknown(term):
        return unknown()
    if term.kind == "iri":
        return _from_iri(term.value, datatype)
    if term.language is not None:
        return {"type": "text", "text": term.value, "language": term.language}
    value: Value | None = None
    if term.datatype in _TIME_LITERALS:
        value = time_value(term.value, None, None)
    elif term.datatype in _NUMBER_LITERALS:
        value = _quantity(term.value, None, None, None)
    elif term.datatype == _WKT:
        value = _from_point(term.value)
    elif term.datatype == _MATHML:
        value = {"type": "math", "text": _tex(term.value)}
    return value or {"type": _TEXT_TYPES.get(datatype or "", "string"), "text": term.value}


def fill_names(values: Iterable[Value], names: Mapping[str, str | None]) -> None:
    """Put labels into values made by this module."""
    for value in values:
        if value["type"] == "entity":
            value["label"] = names.get(value["id"])
        elif value["type"] == "quantity" and value["unit"] is not None:
            value["unit_label"] = names.get(value["unit"])


def named_ids(values: Iterable[Value]) -> set[str]:
    """The ids in values whose names ``fill_names`` wants."""
    found = set()
    for value in values:
        identifier = value["id"] if value["type"] == "entity" else value.get("unit")
        if identifier is not None:
            found.add(identifier)
    return found


def canonical_amount(lexical: str) -> str:
    """A decimal as every engine gives it: ``+1.960`` is ``1.96``, ``1.0E3`` is ``1000``."""
    try:
        number = Decimal(lexical)
    except InvalidOperation:
        return lexical
    if not number.is_finite():
        return lexical
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _quantity(amount: str, unit: str | None, lower: str | None, upper: str | None) -> Value:
    return {
        "type": "quantity",
        "amount": canonical_amount(amount),
        "unit": entity_id(unit) if unit and unit != NO_UNIT else None,
        "unit_label": None,
        "lower": canonical_amount(lower) if lower is not None else None,
        "upper": canonical_amount(upper) if upper is not None else None,
    }


def _coordinate(latitude: str, longitude: str, precision: str | None, globe: str | None) -> Value:
    return {
        "type": "coordinate",
        "latitude": float(latitude),
        "longitude": float(longitude),
        "precision": float(precision) if precision is not None else None,
        "globe": (entity_id(globe) if globe else None) or "Q2",
    }


def _from_point(text: str) -> Value | None:
    found = _POINT.fullmatch(text.strip())
    if found is None:
        return None
    return _coordinate(found["latitude"], found["longitude"], None, found["globe"])


def _from_iri(address: str, datatype: str | None) -> Value:
    if datatype == URL_TYPE:
        return {"type": "url", "text": address}
    identifier = entity_id(address)
    if identifier is not None:
        return _from_id(identifier)
    if found := _MEDIA.fullmatch(address):
        return {"type": "media", "text": unquote(found[1]).replace("_", " ")}
    if found := _DATA_PAGE.fullmatch(address):
        kind = datatype if datatype in ("geo-shape", "tabular-data") else _data_kind(found[1])
        return {"type": kind, "text": unquote_plus(found[1])}
    return {"type": _TEXT_TYPES.get(datatype or "", "url"), "text": address}


def _from_id(identifier: str) -> Value:
    """The value that an entity is; the first letter of an id tells its kind."""
    if identifier[0] in "QP":
        return {"type": "entity", "id": identifier, "label": None}
    if identifier[0] == "E":
        return {"type": "entity-schema", "text": identifier}
    kind = "form" if "-F" in identifier else "sense" if "-S" in identifier else "lexeme"
    return {"type": kind, "text": identifier}


def _is_automatic(facts: Mapping[str, Sequence[Term]]) -> bool:
    """Whether Wikibase filled in the precision of a coordinate that had been given none."""
    return any(term.value == _AUTO_PRECISION for term in facts.get(RDF + "type", ()))


def _data_kind(page: str) -> str:
    """Map data ends in ``.map``, tables in ``.tab``."""
    return "tabular-data" if page.endswith(".tab") else "geo-shape"


def _tex(markup: str) -> str:
    """The TeX that MathML markup carries as an annotation; the markup itself where it has none."""
    found = _TEX.search(markup)
    if found is None:
        return markup
    text = found[1]
    for escaped, character in _ENTITIES:
        text = text.replace(escaped, character)
    return text.strip()


def _one(facts: Mapping[str, Sequence[Term]], local: str) -> str | None:
    terms = facts.get(WIKIBASE + local)
    return terms[0].value if terms else None
