"""A small made-up world in Wikidata's formats that holds every data trap (B46 to B55).

The ids are invented. Most of it is entity JSON; what JSON dumps do not have (merged items, the
query service's unknown values, a date of 44 BCE as RDF writes it) is Turtle.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.entity_json import (
    JULIAN,
    NONE,
    UNKNOWN,
    Json,
    coordinate,
    entity,
    item,
    monolingual,
    property_document,
    quantity,
    statement,
    text,
    time,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

HUMAN = "Q5"
KINDS = "Q9001"
RANKS = "Q9002"
GAPS = "Q9003"
DATES = "Q9004"
AMOUNTS = "Q9005"
TARGET = "Q9006"
MERGED = "Q9007"
MERGED_TWICE = "Q9008"
MERGED_AWAY = "Q9009"
ONLY_MUL = "Q9010"
ONLY_HANT = "Q9011"
NAMELESS = "Q9012"
HUB = "Q9013"
BUSY = "Q9014"
EMPTY = "Q9015"
FROM_TURTLE = "Q9016"
MANY_NAMES = "Q9017"
LINKED = "Q9018"
METRE = "Q9019"
UNDESCRIBED = "Q9099"
MISSING = "Q424242"
UNDESCRIBED_PROPERTY = "P9999"
MISSING_PROPERTY = "P8888"

HUB_LINKS = 2_345
BUSY_STATEMENTS = 1_606
FIRST_OF_CROWD = 70_000

PROPERTIES = {
    "P18": ("commonsMedia", "image"),
    "P21": ("wikibase-item", "sex or gender"),
    "P31": ("wikibase-item", "instance of"),
    "P50": ("wikibase-item", "author"),
    "P214": ("external-id", "VIAF ID"),
    "P248": ("wikibase-item", "stated in"),
    "P279": ("wikibase-item", "subclass of"),
    "P569": ("time", "date of birth"),
    "P570": ("time", "date of death"),
    "P571": ("time", "inception"),
    "P580": ("time", "start time"),
    "P582": ("time", "end time"),
    "P625": ("globe-coordinate", "coordinate location"),
    "P813": ("time", "retrieved"),
    "P854": ("url", "reference URL"),
    "P856": ("url", "official website"),
    "P1082": ("quantity", "population"),
    "P1106": ("quantity", "Sandbox-Quantity"),
    "P1476": ("monolingualtext", "title"),
    "P1545": ("string", "series ordinal"),
    "P1659": ("wikibase-property", "see also"),
    "P2048": ("quantity", "height"),
    "P2534": ("math", "defining formula"),
    "P3896": ("geo-shape", "geoshape"),
    "P4150": ("tabular-data", "weather history"),
    "P5188": ("wikibase-lexeme", "Sandbox-Lexeme"),
    "P5189": ("wikibase-form", "Sandbox-Form"),
    "P5972": ("wikibase-sense", "translation"),
    "P6604": ("musical-notation", "musical motif"),
    "P12861": ("entity-schema", "EntitySchema for this class"),
    "P8000": ("wikibase-item", None),
    "P7001": ("string", None),
    "P7002": ("string", "time"),
    "P7003": ("string", "Zeit"),
}

MORE_OF_PROPERTIES: dict[str, dict[str, Any]] = {
    "P31": {"descriptions": {"en": "what it is"}, "aliases": {"en": ["is a", "type"]}},
    # A word that is a French label here, an English alias there, an English label elsewhere.
    "P7001": {"labels": {"fr": "heure"}},
    "P7002": {"aliases": {"fr": ["heure"]}},
    "P7003": {"aliases": {"en": ["heure"]}},
}
"""Further parts of property documents."""


@dataclass(frozen=True)
class World:
    """Where the made-up world lies.

    Attributes:
        folder: the graph folder.
        inputs: what it was built from.
    """

    folder: Path
    inputs: tuple[Path, ...]


def write_world(folder: Path) -> tuple[Path, ...]:
    """Write the input files; gives their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    entities = folder / "world.jsonl"
    entities.write_text(
        "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in documents()), "utf-8"
    )
    turtle = folder / "more.ttl"
    turtle.write_text(TURTLE, "utf-8")
    return (entities, turtle)


def build_world(folder: Path) -> World:
    """Build the world's graph folder below ``folder`` through the ordinary builder."""
    from kg_functions.build.pipeline import build_graph

    inputs = write_world(folder / "inputs")
    build_graph(list(inputs), folder / "graph")
    return World(folder / "graph", inputs)


def documents() -> Iterator[Json]:
    """Every entity document of the world."""
    described = [
        property_document(identifier, datatype, label, **MORE_OF_PROPERTIES.get(identifier, {}))
        for identifier, (datatype, label) in PROPERTIES.items()
    ]
    # Used, but without a document of its own.
    property_document(UNDESCRIBED_PROPERTY, "wikibase-item", None)
    yield from described
    yield item(HUMAN, labels={"en": "human", "fr": "être humain"})
    yield item(METRE, labels={"mul": "metre"})
    yield from (_kinds(), _ranks(), _gaps(), _dates(), _amounts(), _target())
    yield from _names()
    yield from _crowd()


def _kinds() -> Json:
    """A value of every datatype; qualifiers and references of many."""
    source = [
        ("P248", entity(LINKED)),
        ("P813", time("+2020-02-29T00:00:00Z", 11)),
        ("P854", text("https://example.org/a?b=c&d=%20e")),
    ]
    return item(
        KINDS,
        labels={"en": "Kinds of values", "de": "Arten von Werten"},
        descriptions={"en": "has one of each"},
        sitelinks={"enwiki": "Kinds (values)", "dewiki": "Arten", "eswiki": "Tipos"},
        claims=[
            statement("P31", entity(HUMAN), references=[source, [("P248", entity(METRE))]]),
            statement("P18", text("A picture, no. 1 (ä).jpg")),
            statement("P214", text("0012345")),
            statement("P569", time("+1952-03-11T00:00:00Z", 11), references=[source]),
            statement("P625", coordinate(51.5, -0.1275, 0.0001)),
            statement("P625", coordinate(-4.5, 137.4, 1e-05, globe="Q111")),
            statement("P625", coordinate(1.0, 2.0, None)),
            statement("P856", text("http://www.wikidata.org/entity/Q5")),
            statement("P856", text("https://example.org/ünïcode?q=1")),
            statement("P1082", quantity("+78")),
            statement("P1476", monolingual('He said "hi"\n\\o/', "en")),
            statement("P1476", monolingual("標題", "zh-hant")),
            statement("P1545", text("  12a ")),
            statement("P1659", entity("P279")),
            statement("P2534", text("E=mc^2 < 5")),
            statement("P3896", text("Data:Somewhere & more.map")),
            statement("P4150", text("Data:Weather.tab")),
            statement("P5188", entity("L123")),
            statement("P5189", entity("L123-F1")),
            statement("P5972", entity("L123-S2")),
            statement("P6604", text("\\relative c' { c d e }")),
            statement(
                "P50",
                entity(LINKED),
                qualifiers=[
                    ("P1545", text("2")),
                    ("P1545", text("10")),
                    ("P580", time("+1990-00-00T00:00:00Z", 9)),
                    ("P582", UNKNOWN),
                    ("P50", entity(NAMELESS)),
                    ("P50", entity(HUMAN)),
                    ("P2048", quantity("+1.50", METRE)),
                    ("P1082", NONE),
                    ("P856", text("http://example.org/")),
                    ("P214", text("77")),
                    ("P1476", monolingual("Titel", "de")),
                    ("P625", coordinate(5.0, 6.0, 0.1)),
                ],
                references=[[("P813", UNKNOWN), ("P1476", NONE)]],
            ),
            statement("P12861", entity("E42")),
        ],
    )


def _ranks() -> Json:
    """Every case of ranks, with ids out of order."""
    return item(
        RANKS,
        labels={"en": "Ranks"},
        claims=[
            # Preferred, normal and deprecated.
            statement("P31", entity(HUMAN), "normal", id=f"{RANKS}$B"),
            statement("P31", entity(LINKED), "preferred", id=f"{RANKS}$C"),
            statement("P31", entity(METRE), "deprecated", id=f"{RANKS}$A"),
            # Normal ones alone, in an order that ids decide.
            statement("P50", entity(HUMAN), id=f"{RANKS}$z-2"),
            statement("P50", entity(LINKED), id=f"{RANKS}$z-10"),
            # Deprecated alone.
            statement("P279", entity(HUMAN), "deprecated", id=f"{RANKS}$D"),
            # Normal and deprecated.
            statement("P21", entity(METRE), "deprecated", id=f"{RANKS}$E"),
            statement("P21", entity(LINKED), "normal", id=f"{RANKS}$F"),
            # Two preferred; an unknown preferred value hides a normal one.
            statement("P1082", quantity("+1"), "preferred", id=f"{RANKS}$H"),
            statement("P1082", quantity("+2"), "preferred", id=f"{RANKS}$G"),
            statement("P1082", quantity("+3"), "normal", id=f"{RANKS}$I"),
            statement("P569", UNKNOWN, "preferred", id=f"{RANKS}$J"),
            statement("P569", time("+1900-00-00T00:00:00Z", 9), "normal", id=f"{RANKS}$K"),
        ],
    )


def _gaps() -> Json:
    """Unknown and no value wherever a value may stand."""
    return item(
        GAPS,
        labels={"en": "Gaps"},
        claims=[
            statement("P31", entity(HUMAN)),
            statement("P50", UNKNOWN),
            statement("P50", NONE),
            statement("P569", UNKNOWN),
            statement("P570", NONE, qualifiers=[("P580", NONE), ("P582", UNKNOWN)]),
            statement("P2048", UNKNOWN),
            statement("P625", NONE),
            # A qualifier without value of the statement's own property.
            statement("P21", entity(LINKED), qualifiers=[("P21", NONE)]),
        ],
    )


def _dates() -> Json:
    """Dates before our era, of every precision, and Julian ones (B49, B50)."""
    return item(
        DATES,
        labels={"en": "Dates"},
        claims=[
            statement("P569", time("-0044-03-15T00:00:00Z", 11, JULIAN)),
            statement("P569", time("+1642-12-25T00:00:00Z", 11, JULIAN)),
            statement("P570", time("-0044-00-00T00:00:00Z", 9, JULIAN)),
            statement("P570", time("-0001-00-00T00:00:00Z", 9)),
            statement("P571", time("+1986-05-11T00:00:00Z", 11)),
            statement("P571", time("+1986-05-00T00:00:00Z", 10)),
            statement("P571", time("+1986-00-00T00:00:00Z", 9)),
            statement("P571", time("+1980-00-00T00:00:00Z", 8)),
            statement("P571", time("+1950-00-00T00:00:00Z", 7)),
            statement("P571", time("+2000-00-00T00:00:00Z", 7)),
            statement("P571", time("-0500-00-00T00:00:00Z", 7)),
            statement("P571", time("+1500-00-00T00:00:00Z", 6)),
            statement("P571", time("-10000-00-00T00:00:00Z", 5)),
            statement("P571", time("-66000000-00-00T00:00:00Z", 3)),
            statement("P571", time("-13798000000-00-00T00:00:00Z", 0)),
        ],
    )


def _amounts() -> Json:
    """Units, bounds and exact decimals (B51)."""
    return item(
        AMOUNTS,
        labels={"en": "Amounts"},
        claims=[
            statement("P1106", quantity("+1.9600", METRE, "+1.95", "+1.970")),
            statement("P1106", quantity("-0.0000001")),
            statement("P1106", quantity("+0")),
            statement("P1106", quantity("+12345678901234567890.123456789012345")),
            statement("P1106", quantity("+100", UNDESCRIBED)),
        ],
    )


def _target() -> Json:
    """What merged items became (B52)."""
    return item(
        TARGET,
        labels={"en": "Survivor", "fr": "Survivant"},
        descriptions={"en": "what is left"},
        claims=[statement("P31", entity(HUMAN)), statement("P50", entity(MERGED))],
    )


def _names() -> Iterator[Json]:
    """Names in `mul`, in Chinese variants, none at all, and in all languages (B53 to B55)."""
    yield item(ONLY_MUL, labels={"mul": "Everywhere"}, aliases={"mul": ["All over"]})
    yield item(
        ONLY_HANT,
        labels={"zh-hk": "香港名", "zh-hant": "繁體名", "ja": "日本名"},
        descriptions={"zh-tw": "臺灣說明"},
        aliases={"zh-hans": ["简体别名"], "zh-hant": ["繁體別名"]},
    )
    yield item(NAMELESS, claims=[statement("P31", entity(NAMELESS))])
    yield item(EMPTY)
    yield item(LINKED, labels={"en": "Linked", "en-gb": "Linked (British)"})
    yield item(
        MANY_NAMES,
        labels={
            "en": "London",
            "fr": "Londres",
            "de": "London",
            "zh": "伦敦",
            "zh-hant": "倫敦",
            "ar": "لندن",
            "ru": "Лондон",
            "es": "Londres",
            "mul": "London",
        },
        descriptions={"en": "capital", "fr": "capitale", "ru": "столица", "it": "capitale"},
        aliases={
            "en": ["The Smoke", 'Big "quoted" \\ name', "London Town"],
            "fr": ["Ville de Londres"],
            "mul": ["LDN"],
        },
        sitelinks={
            "enwiki": "London",
            "frwiki": "Londres",
            "zhwiki": "伦敦",
            "arwiki": "لندن",
            "ruwiki": "Лондон",
            "commonswiki": "London",
            "enwikivoyage": "London",
        },
        claims=[statement("P31", entity(HUB)), statement("P21", entity(UNDESCRIBED))],
    )


def _crowd() -> Iterator[Json]:
    """An item with thousands of incoming links, and one with thousands of statements (B55)."""
    yield item(
        HUB,
        labels={"en": "Hub"},
        claims=[statement("P279", entity(HUMAN)), statement("P8000", entity(LINKED))],
    )
    for place in range(HUB_LINKS):
        claims = [statement("P31", entity(HUB))]
        if place % 3 == 0:
            claims.append(statement("P50", entity(HUB)))
        if place % 500 == 0:
            claims.append(statement(UNDESCRIBED_PROPERTY, entity(HUB)))
        yield item(
            f"Q{FIRST_OF_CROWD + place * 37}", labels={"en": f"One of {place}"}, claims=claims
        )
    yield item(
        BUSY,
        labels={"en": "Busy"},
        claims=[
            # In no order of the numbers, and with some that are not in the graph.
            statement(
                "P50" if place % 2 else "P31",
                entity(f"Q{FIRST_OF_CROWD + place * 7919 % BUSY_STATEMENTS * 37}"),
                qualifiers=[("P1545", text(str(place)))],
            )
            for place in range(BUSY_STATEMENTS)
        ],
    )


TURTLE = f"""
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wds: <http://www.wikidata.org/entity/statement/> .
@prefix wdv: <http://www.wikidata.org/value/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix psv: <http://www.wikidata.org/prop/statement/value/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

wd:{MERGED} owl:sameAs wd:{TARGET} .
wd:{MERGED_TWICE} owl:sameAs wd:{MERGED} .
wd:{MERGED_AWAY} owl:sameAs wd:{MISSING} .

# Unknown values as IRIs, as the query service has them.
<https://www.wikidata.org/wiki/Special:EntityData/{FROM_TURTLE}>
    <http://schema.org/about> wd:{FROM_TURTLE} ; wikibase:sitelinks "0"^^xsd:integer .
wd:{FROM_TURTLE} a wikibase:Item ;
    rdfs:label "From Turtle"@en ;
    wdt:P50 <http://www.wikidata.org/.well-known/genid/1f0e> ;
    wdt:P569 "-0043-03-13T00:00:00Z"^^xsd:dateTime ;
    p:P50 wds:{FROM_TURTLE}-00000001 ;
    p:P569 wds:{FROM_TURTLE}-00000002 .
wds:{FROM_TURTLE}-00000001 a wikibase:Statement, wikibase:BestRank ;
    wikibase:rank wikibase:NormalRank ;
    ps:P50 <http://www.wikidata.org/.well-known/genid/1f0e> ;
    pq:P582 <http://www.wikidata.org/.well-known/genid/1f0f> .
wds:{FROM_TURTLE}-00000002 a wikibase:Statement, wikibase:BestRank ;
    wikibase:rank wikibase:NormalRank ;
    ps:P569 "-0043-03-13T00:00:00Z"^^xsd:dateTime ;
    psv:P569 wdv:0c0ffee00c0ffee00c0ffee00c0ffee0 .
wdv:0c0ffee00c0ffee00c0ffee00c0ffee0 a wikibase:TimeValue ;
    wikibase:timeValue "-0043-03-13T00:00:00Z"^^xsd:dateTime ;
    wikibase:timePrecision "11"^^xsd:integer ;
    wikibase:timeTimezone "0"^^xsd:integer ;
    wikibase:timeCalendarModel wd:Q1985786 .
"""
