"""Values as people write them in the demo tables, and as Wikidata's entity JSON has them."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from kg_functions.demo.rows import Names, Row

UNKNOWN: Final = "<unknown>"
NONE: Final = "<none>"

TEXT_DATATYPES: Final = ("string", "external-id", "url", "commonsMedia", "math")
DATATYPES: Final = (
    "wikibase-item",
    "wikibase-property",
    "time",
    "quantity",
    "globe-coordinate",
    "monolingualtext",
    *TEXT_DATATYPES,
)

_ENTITY: Final = "http://www.wikidata.org/entity/"
_GREGORIAN: Final = _ENTITY + "Q1985727"
_JULIAN: Final = _ENTITY + "Q1985786"
_EARTH: Final = "Q2"

_DAY: Final = re.compile(r"([0-9]{1,4})(?:-([0-9]{2}))?(?:-([0-9]{2}))?")
_SPAN: Final = re.compile(r"([0-9]{1,3}0)s|([0-9]{1,2})(?:st|nd|rd|th) (century|millennium)")
_QUANTITY: Final = re.compile(
    r"(?P<amount>-?[0-9.]+)"
    r"(?: ±(?P<spread>[0-9.]+)| \[(?P<lower>-?[0-9.]+), (?P<upper>-?[0-9.]+)\])?"
    r"(?: (?P<unit>Q.+))?"
)
_COORDINATE: Final = re.compile(r"(-?[0-9.]+), (-?[0-9.]+)(?: ±([0-9.]+))?(?: on (Q.+))?")
_MONOLINGUAL: Final = re.compile(r"([a-z]{2,3}(?:-[a-z]+)?): (.+)")


def snak(property: str, datatype: str, text: str, names: Names, row: Row) -> dict[str, Any]:
    """One snak of entity JSON.

    Args:
        property: its id.
        datatype: one of ``DATATYPES``.
        text: the value in the syntax of the tables (see tables/README.md).
        names: the ids that may stand in a value.
        row: where the text stands, for messages.

    Raises:
        TableError: if the text does not fit the datatype.
    """
    if text in (UNKNOWN, NONE):
        kind = "somevalue" if text == UNKNOWN else "novalue"
        return {"snaktype": kind, "property": property, "datatype": datatype}
    return {
        "snaktype": "value",
        "property": property,
        "datavalue": _datavalue(datatype, text, names, row),
        "datatype": datatype,
    }


def _datavalue(datatype: str, text: str, names: Names, row: Row) -> dict[str, Any]:
    if not text:
        raise row.error(f"the value is blank; write {UNKNOWN} or {NONE} if that is meant")
    if datatype in ("wikibase-item", "wikibase-property"):
        return {"value": _entity(datatype, text, names, row), "type": "wikibase-entityid"}
    if datatype == "time":
        return {"value": _time(text, row), "type": "time"}
    if datatype == "quantity":
        return {"value": _quantity(text, names, row), "type": "quantity"}
    if datatype == "globe-coordinate":
        return {"value": _coordinate(text, names, row), "type": "globecoordinate"}
    if datatype == "monolingualtext":
        found = _MONOLINGUAL.fullmatch(text)
        if found is None:
            raise row.error(f"{text!r} is not a text with its language such as 'de: Freistaat'")
        return {"value": {"text": found[2], "language": found[1]}, "type": "monolingualtext"}
    return {"value": text, "type": "string"}


def _entity(datatype: str, text: str, names: Names, row: Row) -> dict[str, Any]:
    identifier = names.resolve(text, row)
    kind = "item" if identifier.startswith("Q") else "property"
    if datatype != f"wikibase-{kind}":
        raise row.error(f"{identifier} is no {datatype.removeprefix('wikibase-')}")
    return {"entity-type": kind, "numeric-id": int(identifier[1:]), "id": identifier}


def _time(text: str, row: Row) -> dict[str, Any]:
    rest, calendar, sign = text, _GREGORIAN, "+"
    if rest.endswith(" julian"):
        rest, calendar = rest.removesuffix(" julian"), _JULIAN
    if rest.endswith(" BCE"):
        rest, sign = rest.removesuffix(" BCE"), "-"
    day, span = _DAY.fullmatch(rest), _SPAN.fullmatch(rest)
    if day is not None:
        year, month, date = int(day[1]), day[2] or "00", day[3] or "00"
        precision = 11 if day[3] else 10 if day[2] else 9
        if year == 0 or int(month) > 12 or int(date) > 31 or (day[2] and not int(month)):
            raise row.error(f"{text!r} is no date of the calendar")
    elif span is not None:
        month = date = "00"
        if span[1]:
            year, precision = int(span[1]), 8
        else:
            # As Wikibase stores it: the last year of the century or millennium.
            year, precision = {
                "century": (int(span[2]) * 100, 7),
                "millennium": (int(span[2]) * 1000, 6),
            }[span[3]]
    else:
        raise row.error(
            f"{text!r} is not a date such as 1879-03-14, 1879-03, 1879, 1870s, 19th century or "
            "2nd millennium, with BCE and julian after it where they apply"
        )
    return {
        "time": f"{sign}{year:04d}-{month}-{date}T00:00:00Z",
        "timezone": 0,
        "before": 0,
        "after": 0,
        "precision": precision,
        "calendarmodel": calendar,
    }


def _decimal(text: str, row: Row) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise row.error(f"{text!r} is not a number") from None


def _signed(number: Decimal) -> str:
    return f"{number:+f}"


def _quantity(text: str, names: Names, row: Row) -> dict[str, Any]:
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise row.error(
            f"{text!r} is not a quantity such as 12, 12 Q11573 (metre), 12 ±1 Q11573 (metre) "
            "or 12 [11, 14] Q11573 (metre)"
        )
    amount = _decimal(found["amount"], row)
    unit = f"{_ENTITY}{names.resolve(found['unit'], row)}" if found["unit"] else "1"
    value = {"amount": _signed(amount), "unit": unit}
    if found["spread"]:
        spread = _decimal(found["spread"], row)
        value |= {"upperBound": _signed(amount + spread), "lowerBound": _signed(amount - spread)}
    elif found["lower"]:
        lower, upper = _decimal(found["lower"], row), _decimal(found["upper"], row)
        if not lower <= amount <= upper:
            raise row.error(f"{amount} does not lie between {lower} and {upper}")
        value |= {"upperBound": _signed(upper), "lowerBound": _signed(lower)}
    return value


def _coordinate(text: str, names: Names, row: Row) -> dict[str, Any]:
    found = _COORDINATE.fullmatch(text)
    if found is None:
        raise row.error(
            f"{text!r} is not a coordinate such as 51.53, 9.93 or 51.53, 9.93 ±0.01, with "
            "'on Q405' after it where the globe is not the Earth"
        )
    latitude, longitude = _decimal(found[1], row), _decimal(found[2], row)
    if abs(latitude) > 90 or abs(longitude) > 360:
        raise row.error(f"{text!r} lies outside the globe")
    decimals = max(_decimals(latitude), _decimals(longitude))
    globe = names.resolve(found[4], row) if found[4] else _EARTH
    return {
        "latitude": float(latitude),
        "longitude": float(longitude),
        "altitude": None,
        "precision": float(found[3]) if found[3] else float(Decimal(10) ** -decimals),
        "globe": _ENTITY + globe,
    }


def _decimals(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
