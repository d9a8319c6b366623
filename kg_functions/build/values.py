"""Values of snaks as RDF terms, and the value nodes behind times, quantities and coordinates."""

from __future__ import annotations

import re
from hashlib import md5
from typing import Any, Final, NamedTuple

from kg_functions.build.dates import xsd_date_time
from kg_functions.build.ntriples import (
    DATE_TIME,
    DECIMAL,
    DOUBLE,
    INTEGER,
    TYPE,
    file_path,
    iri,
    language_suffix,
    literal,
    title_path,
)
from kg_functions.rdf import EARTH, GEO, NO_UNIT, WD, WDV, WIKIBASE

MEDIA: Final = "http://commons.wikimedia.org/wiki/Special:FilePath/"
COMMONS_DATA: Final = "http://commons.wikimedia.org/data/main/"

_WKT: Final = f"^^<{GEO}wktLiteral>"
_CACHED_NODES: Final = 100_000
_ENTITY_ID: Final = re.compile(r"[QPE][1-9][0-9]{0,9}|L[1-9][0-9]{0,9}(?:-[FS][1-9][0-9]{0,9})?")
_ID_LETTERS: Final = {"item": "Q", "property": "P", "lexeme": "L"}
_DEFAULT_PRECISION: Final = 1 / 3600
"""What Wikibase writes for a coordinate without precision: one second of arc."""

TEXT_DATATYPES: Final = frozenset({"string", "external-id", "math", "musical-notation"})
"""Datatypes whose value stays the text it is."""


class Term(NamedTuple):
    """One value.

    Attributes:
        simple: the term that ``wdt``, ``ps``, ``pq`` and ``pr`` lead to.
        node: the value node that ``psv``, ``pqv`` and ``prv`` lead to, or None.
        item: the number of the item that the value is, or None for any other value.
    """

    simple: str
    node: str | None = None
    item: int | None = None


class UnknownDatatypeError(Exception):
    """A text whose datatype neither its snak nor anything read so far states."""


class Values:
    """Turns data values into terms; each value node is described once, then remembered.

    Args:
        lines: where the triples that describe value nodes are put.
    """

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._nodes: dict[tuple[Any, ...], Term] = {}

    def term(self, value: dict[str, Any], datatype: str | None) -> Term:
        """The term of a ``datavalue``.

        Args:
            value: with ``type`` and ``value``, as in entity JSON.
            datatype: the property's datatype; only texts need it.

        Raises:
            UnknownDatatypeError: for a text without datatype.
            ValueError, KeyError, TypeError, AttributeError: for a value of the wrong shape.
        """
        kind = value["type"]
        content = value["value"]
        if kind == "wikibase-entityid":
            return _entity(content)
        if kind == "string":
            return Term(_text(content, datatype))
        if kind == "time":
            return self._time(content)
        if kind == "quantity":
            return self._quantity(content)
        if kind == "globecoordinate":
            return self._coordinate(content)
        if kind == "monolingualtext":
            return Term(literal(content["text"]) + language_suffix(content["language"]))
        raise ValueError(f"unknown type of value {kind!r}")

    def _time(self, value: dict[str, Any]) -> Term:
        key = (
            value["time"],
            value["precision"],
            value["calendarmodel"].strip(),
            value.get("timezone", 0),
        )
        known = self._nodes.get(key)
        if known is not None:
            return known
        time, precision, calendar, timezone = key
        date = xsd_date_time(time, precision, calendar)
        simple = literal(time) if date is None else literal(date) + DATE_TIME
        return self._describe(
            key,
            simple,
            "TimeValue",
            f"<{WIKIBASE}timeValue> {simple}",
            f'<{WIKIBASE}timePrecision> "{int(precision)}"{INTEGER}',
            f'<{WIKIBASE}timeTimezone> "{int(timezone)}"{INTEGER}',
            f"<{WIKIBASE}timeCalendarModel> {iri(calendar)}",
        )

    def _quantity(self, value: dict[str, Any]) -> Term:
        upper, lower = value.get("upperBound"), value.get("lowerBound")
        key = ("quantity", value["amount"], value["unit"].strip(), upper, lower)
        known = self._nodes.get(key)
        if known is not None:
            return known
        unit = NO_UNIT if key[2] == "1" else key[2]
        simple = literal(key[1]) + DECIMAL
        bounds: tuple[str, ...] = ()
        if upper is not None and lower is not None:
            bounds = (
                f"<{WIKIBASE}quantityUpperBound> {literal(upper)}{DECIMAL}",
                f"<{WIKIBASE}quantityLowerBound> {literal(lower)}{DECIMAL}",
            )
        return self._describe(
            key,
            simple,
            "QuantityValue",
            f"<{WIKIBASE}quantityAmount> {simple}",
            *bounds,
            f"<{WIKIBASE}quantityUnit> {iri(unit)}",
        )

    def _coordinate(self, value: dict[str, Any]) -> Term:
        globe = (value.get("globe") or EARTH).strip()
        key = ("point", value["latitude"], value["longitude"], value.get("precision"), globe)
        known = self._nodes.get(key)
        if known is not None:
            return known
        latitude, longitude = php_float(key[1]), php_float(key[2])
        point = f"Point({longitude} {latitude})"
        if globe != EARTH:
            point = f"<{globe.replace('>', '%3E')}> {point}"
        precision, automatic = key[3], [f"{TYPE} <{WIKIBASE}GeoAutoPrecision>"]
        if precision is None:
            precision = _DEFAULT_PRECISION
        else:
            automatic.clear()
        return self._describe(
            key,
            literal(point) + _WKT,
            "GlobecoordinateValue",
            f'<{WIKIBASE}geoLatitude> "{latitude}"{DOUBLE}',
            f'<{WIKIBASE}geoLongitude> "{longitude}"{DOUBLE}',
            *automatic,
            f'<{WIKIBASE}geoPrecision> "{php_float(precision)}"{DOUBLE}',
            f"<{WIKIBASE}geoGlobe> {iri(globe)}",
        )

    def _describe(self, key: tuple[Any, ...], simple: str, kind: str, *facts: str) -> Term:
        """Write a value node's triples and remember its name, which is a hash of its content."""
        described = (f"{TYPE} <{WIKIBASE}{kind}>", *facts)
        digest = md5("\n".join(described).encode(), usedforsecurity=False).hexdigest()
        node = f"<{WDV}{digest}>"
        self._lines.extend(f"{node} {fact} .\n" for fact in described)
        if len(self._nodes) >= _CACHED_NODES:
            self._nodes.clear()
        term = self._nodes[key] = Term(simple, node)
        return term


def _entity(value: dict[str, Any]) -> Term:
    """The term of an entity value; older documents have a number and a type instead of an id."""
    identifier = value.get("id")
    if identifier is None:
        identifier = f"{_ID_LETTERS[value['entity-type']]}{int(value['numeric-id'])}"
    if not _ENTITY_ID.fullmatch(identifier):
        raise ValueError(f"{identifier!r} is not an entity id")
    item = int(identifier[1:]) if identifier[0] == "Q" else None
    return Term(f"<{WD}{identifier}>", None, item)


def _text(text: str, datatype: str | None) -> str:
    """The term of a string value, which depends on the property's datatype."""
    if datatype in TEXT_DATATYPES:
        return literal(text.strip() if datatype == "external-id" else text)
    if datatype == "url":
        return iri(text.strip())
    if datatype == "commonsMedia":
        return iri(MEDIA + file_path(text))
    if datatype in ("geo-shape", "tabular-data"):
        return iri(COMMONS_DATA + title_path(text))
    if datatype is None:
        raise UnknownDatatypeError
    return literal(text)


def php_float(number: float) -> str:
    """A number as Wikibase's server writes it: 14 significant digits, ``2.7777777777778E-5``."""
    text = f"{number:.14G}"
    mantissa, exponent, power = text.partition("E")
    if not exponent:
        return text
    if "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}E{int(power):+d}"
