"""The demo graph against the real slice: names are the right ones, facts do not contradict it."""

from __future__ import annotations

import io
import re
from typing import Any

import orjson
import pytest
import zstandard

from kg_functions.build.dates import xsd_date_time
from kg_functions.demo.tables import Entity, read_tables
from tests.support.data import shared_data
from tests.support.demo_tables import statements

pytestmark = pytest.mark.slow

_FIRST_ID = re.compile(rb'"id":"([PQ][0-9]+)"')

DATES = ("P569", "P570", "P571", "P576")
LINKS = ("P17", "P19", "P20", "P21", "P22", "P30", "P36", "P138", "P159", "P184", "P403")
QUANTITIES = ("P1086", "P2043", "P2044", "P2046", "P4511")
TEXTS = ("P246", "P297", "P298", "P300", "P227", "P1563")

TOLERANCE = 0.05
"""Sources differ about how long a river is and how high a town lies."""

OTHER_NAMES = {
    "Q122392": "the slice's label is the first name alone",
    "Q57191": "the slice has the short form of the name",
}
OTHER_FACTS = {
    ("Q132537", "P184"): "Oppenheimer's thesis was supervised by Born, not by Pauli",
    ("Q60024", "P20"): "Helmholtz died in Charlottenburg, now Berlin; the slice has his birthplace",
    ("Q57067", "P20"): "the slice has West Berlin",
    ("Q60025", "P20"): "the slice has a part of New York City",
    ("Q41304", "P138"): "the slice names the assembly that met at Weimar",
    ("Q49115", "P159"): "the slice has a larger administrative unit",
    ("Q47554", "P17"): "the slice has former countries alone",
    ("Q37922", "P17"): "the slice has another item for Sweden",
    (
        "Q220",
        "P571",
    ): "the slice's 13 April is 21 April Julian, but is marked as Julian",
    (
        "Q12146",
        "P571",
    ): "the slice has the year of the undivided canton",
}


def claims_of(document: dict[str, Any], property: str) -> list[dict[str, Any]]:
    """The best values of a property: those of preferred rank where there are any."""
    claims = document.get("claims") or {}
    usable = [one for one in claims.get(property, ()) if one["mainsnak"]["snaktype"] == "value"]
    best = [one for one in usable if one["rank"] == "preferred"]
    return best or [one for one in usable if one["rank"] == "normal"]


def values_of(document: dict[str, Any], property: str) -> list[Any]:
    found = []
    for statement in claims_of(document, property):
        value = statement["mainsnak"]["datavalue"]["value"]
        if isinstance(value, dict) and "entity-type" in value:
            value = value.get("id") or f"Q{value['numeric-id']}"
        found.append(value)
    return found


def any_rank(document: dict[str, Any], property: str) -> dict[str, Any]:
    """The document with every value of the property, whatever its rank."""
    claims = document.get("claims") or {}
    return {
        "claims": {
            property: [{**statement, "rank": "normal"} for statement in claims.get(property, ())]
        }
    }


@pytest.fixture(scope="module")
def entities() -> list[Entity]:
    return read_tables()


@pytest.fixture(scope="module")
def documents(entities: list[Entity]) -> dict[str, Any]:
    """The slice's documents about the entities of the demo graph."""
    wanted = {entity["id"].encode() for entity in entities}
    found = {}
    path = shared_data("wikidata", "slice.jsonl.zst")
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        for line in io.BufferedReader(stream):
            first = _FIRST_ID.search(line)
            if first is not None and first[1] in wanted:
                document = orjson.loads(line)
                found[document["id"]] = document
    return found


def test_the_slice_knows_every_id(entities: list[Entity], documents: dict[str, Any]) -> None:
    assert {entity["id"] for entity in entities} == set(documents)


def test_names(entities: list[Entity], documents: dict[str, Any]) -> None:
    others = set()
    for entity in entities:
        ours = entity["labels"].get("en") or entity["labels"].get("mul")
        theirs = documents[entity["id"]]
        names = {
            text["value"].casefold()
            for language in ("en", "mul")
            for text in (
                *([theirs["labels"][language]] if language in (theirs["labels"] or ()) else ()),
                *((theirs.get("aliases") or {}).get(language, ())),
            )
        }
        if ours is not None and names and ours["value"].casefold() not in names:
            others.add(entity["id"])
    assert others == set(OTHER_NAMES)


def same_date(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether two dates agree as far as the coarser one goes."""
    precision = min(ours["precision"], theirs["precision"])
    first, second = (
        xsd_date_time(date["time"], date["precision"], date["calendarmodel"]) or date["time"]
        for date in (ours, theirs)
    )
    if precision >= 10:
        # Derived documents keep the day as it was entered and lose its calendar.
        digits = -10 if precision == 11 else -13
        raw = {date["time"][:digits] for date in (ours, theirs)}
        return first[:digits] == second[:digits] or len(raw) == 1
    years = [int(date["time"][:-16]) for date in (ours, theirs)]
    span = {9: 1, 8: 10, 7: 100, 6: 1000}[precision]
    # The last year of a century belongs to it; a decade begins with its round year.
    return len({(year - (span > 10)) // span for year in years}) == 1


def same_quantity(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    one, other = float(ours["amount"]), float(theirs["amount"])
    return ours["unit"] != theirs["unit"] or abs(one - other) <= TOLERANCE * abs(other)


def contradicts(property: str, ours: list[Any], theirs: list[Any]) -> bool:
    if property in DATES:
        return not any(same_date(one, other) for one in ours for other in theirs)
    if property in QUANTITIES:
        return not any(same_quantity(one, other) for one in ours for other in theirs)
    return not set(ours) & set(theirs)


def test_facts(entities: list[Entity], documents: dict[str, Any]) -> None:
    others, compared = set(), 0
    for entity in entities:
        for property in (*DATES, *LINKS, *QUANTITIES, *TEXTS):
            ours = values_of(entity, property)
            theirs = values_of(any_rank(documents[entity["id"]], property), property)
            if ours and theirs:
                compared += 1
                if contradicts(property, ours, theirs):
                    others.add((entity["id"], property))
    assert compared > 1000
    assert others == set(OTHER_FACTS)


def test_datatypes(entities: list[Entity], documents: dict[str, Any]) -> None:
    """Where the slice's statements state a datatype, it is ours."""
    stated: dict[str, set[str]] = {}
    for document in documents.values():
        for statement in statements(document):
            main = statement["mainsnak"]
            if "datatype" in main and document.get("x-source") != "derived":
                stated.setdefault(main["property"], set()).add(main["datatype"])
    for entity in entities:
        if entity["id"] in stated:
            assert entity["datatype"] in stated[entity["id"]], entity["id"]
