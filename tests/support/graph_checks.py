"""What every Wikidata graph over the made-up world must answer, whatever its engine.

Each check takes a graph and fails with AssertionError. The contract tests run them on every
engine; the mutation tests run them with one rule switched off and expect them to fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kg_functions.errors import CallError, InvalidArgument, InvalidIdentifier, NotInGraph
from tests.support import graphs as world

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg_functions.graph import Graph

Value = dict[str, Any]


def entity(identifier: str, label: str | None) -> Value:
    return {"type": "entity", "id": identifier, "label": label}


def quantity(amount: str, **parts: str | None) -> Value:
    rest = {"unit": None, "unit_label": None, "lower": None, "upper": None}
    return {"type": "quantity", "amount": amount, **rest, **parts}


def day(time: str, year: int, text: str, calendar: str = "gregorian") -> Value:
    return moment(time, "day", year, text, calendar)


def moment(
    time: str, precision: str, year: int | None, text: str, calendar: str = "gregorian"
) -> Value:
    return {
        "type": "time",
        "time": time,
        "precision": precision,
        "calendar": calendar,
        "year": year,
        "text": text,
    }


def place(latitude: float, longitude: float, precision: float | None, globe: str = "Q2") -> Value:
    return {
        "type": "coordinate",
        "latitude": latitude,
        "longitude": longitude,
        "precision": precision,
        "globe": globe,
    }


UNKNOWN: Value = {"type": "unknown"}
NONE: Value = {"type": "none"}


def statements(graph: Graph, identifier: str, **arguments: Any) -> list[dict[str, Any]]:
    """The statements of one entity, on one page."""
    answer = graph.claims([identifier], limit=10_000, **arguments)[identifier]
    assert answer["next_offset"] is None
    assert answer["total"] == len(answer["statements"])
    return list(answer["statements"])


def values(graph: Graph, identifier: str, **arguments: Any) -> list[tuple[str, Value]]:
    """Properties and values of one entity, in the order of `claims`."""
    return [(s["property"], s["value"]) for s in statements(graph, identifier, **arguments)]


def check_every_datatype(graph: Graph) -> None:
    assert values(graph, world.KINDS) == [
        ("P18", {"type": "media", "text": "A picture, no. 1 (ä).jpg"}),
        ("P31", entity("Q5", "human")),
        ("P50", entity(world.LINKED, "Linked")),
        ("P214", {"type": "external-id", "text": "0012345"}),
        ("P569", day("+1952-03-11", 1952, "11 March 1952")),
        ("P625", place(51.5, -0.1275, 0.0001)),
        ("P625", place(-4.5, 137.4, 1e-05, "Q111")),
        ("P625", place(1.0, 2.0, None)),
        ("P856", {"type": "url", "text": "http://www.wikidata.org/entity/Q5"}),
        ("P856", {"type": "url", "text": "https://example.org/ünïcode?q=1"}),
        ("P1082", quantity("78")),
        ("P1476", {"type": "text", "text": 'He said "hi"\n\\o/', "language": "en"}),
        ("P1476", {"type": "text", "text": "標題", "language": "zh-hant"}),
        ("P1545", {"type": "string", "text": "  12a "}),
        ("P1659", entity("P279", "subclass of")),
        ("P2534", {"type": "math", "text": "E=mc^2 < 5"}),
        ("P3896", {"type": "geo-shape", "text": "Data:Somewhere & more.map"}),
        ("P4150", {"type": "tabular-data", "text": "Data:Weather.tab"}),
        ("P5188", {"type": "lexeme", "text": "L123"}),
        ("P5189", {"type": "form", "text": "L123-F1"}),
        ("P5972", {"type": "sense", "text": "L123-S2"}),
        ("P6604", {"type": "musical-notation", "text": "\\relative c' { c d e }"}),
        ("P12861", {"type": "entity-schema", "text": "E42"}),
    ]


def check_a_whole_statement(graph: Graph) -> None:
    [found] = statements(graph, world.KINDS, property="P50")
    assert found == {
        "id": f"{world.KINDS}$00000015-0000-4000-8000-000000000000",
        "property": "P50",
        "property_label": "author",
        "value": entity(world.LINKED, "Linked"),
        "rank": "normal",
        "qualifiers": [
            _snak("P50", "author", entity("Q5", "human")),
            _snak("P50", "author", entity(world.NAMELESS, None)),
            _snak("P214", "VIAF ID", {"type": "external-id", "text": "77"}),
            _snak("P580", "start time", moment("+1990", "year", 1990, "1990")),
            _snak("P582", "end time", UNKNOWN),
            _snak("P625", "coordinate location", place(5.0, 6.0, 0.1)),
            _snak("P856", "official website", {"type": "url", "text": "http://example.org/"}),
            _snak("P1082", "population", NONE),
            _snak("P1476", "title", {"type": "text", "text": "Titel", "language": "de"}),
            _snak("P1545", "series ordinal", {"type": "string", "text": "10"}),
            _snak("P1545", "series ordinal", {"type": "string", "text": "2"}),
            _snak("P2048", "height", quantity("1.5", unit=world.METRE, unit_label="metre")),
        ],
    }


def check_references(graph: Graph) -> None:
    answer = graph.references([world.KINDS])[world.KINDS]
    assert answer["total"] == 23
    sources = {s["property"]: s["references"] for s in answer["statements"]}
    source = [
        _snak("P248", "stated in", entity(world.LINKED, "Linked")),
        _snak("P813", "retrieved", day("+2020-02-29", 2020, "29 February 2020")),
        _snak("P854", "reference URL", {"type": "url", "text": "https://example.org/a?b=c&d=%20e"}),
    ]
    assert sources["P31"] == [source, [_snak("P248", "stated in", entity(world.METRE, "metre"))]]
    assert sources["P569"] == [source]
    assert sources["P50"] == [
        [_snak("P813", "retrieved", UNKNOWN), _snak("P1476", "title", NONE)],
    ]
    assert sources["P18"] == []
    [first] = graph.references([world.KINDS], property="P18")[world.KINDS]["statements"]
    assert list(first) == ["id", "property", "property_label", "value", "references"]
    page = graph.references([world.KINDS], limit=2, offset=21)[world.KINDS]
    assert [s["property"] for s in page["statements"]] == ["P6604", "P12861"]
    assert page["next_offset"] is None


def check_ranks(graph: Graph) -> None:
    """B48."""
    assert values(graph, world.RANKS) == [
        ("P21", entity(world.LINKED, "Linked")),
        ("P31", entity(world.LINKED, "Linked")),
        ("P50", entity(world.LINKED, "Linked")),
        ("P50", entity("Q5", "human")),
        ("P569", UNKNOWN),
        ("P1082", quantity("2")),
        ("P1082", quantity("1")),
    ]
    shown = [(s["id"], s["rank"]) for s in statements(graph, world.RANKS, rank="nondeprecated")]
    assert shown == [
        (f"{world.RANKS}$F", "normal"),
        (f"{world.RANKS}$C", "preferred"),
        (f"{world.RANKS}$B", "normal"),
        (f"{world.RANKS}$z-10", "normal"),
        (f"{world.RANKS}$z-2", "normal"),
        (f"{world.RANKS}$J", "preferred"),
        (f"{world.RANKS}$K", "normal"),
        (f"{world.RANKS}$G", "preferred"),
        (f"{world.RANKS}$H", "preferred"),
        (f"{world.RANKS}$I", "normal"),
    ]
    shown = [(s["id"], s["rank"]) for s in statements(graph, world.RANKS, rank="deprecated")]
    assert shown == [(f"{world.RANKS}${one}", "deprecated") for one in "EAD"]
    assert values(graph, world.RANKS, property="P279") == []
    assert values(graph, world.RANKS, property="P569") == [("P569", UNKNOWN)]


def check_gaps(graph: Graph) -> None:
    """B46, B47: unknown and no value, also as qualifiers; neither is ever a link."""
    assert values(graph, world.GAPS) == [
        ("P21", entity(world.LINKED, "Linked")),
        ("P31", entity("Q5", "human")),
        ("P50", UNKNOWN),
        ("P50", NONE),
        ("P569", UNKNOWN),
        ("P570", NONE),
        ("P625", NONE),
        ("P2048", UNKNOWN),
    ]
    qualifiers = {s["property"]: s["qualifiers"] for s in statements(graph, world.GAPS)}
    assert qualifiers["P570"] == [
        _snak("P580", "start time", NONE),
        _snak("P582", "end time", UNKNOWN),
    ]
    assert qualifiers["P21"] == [_snak("P21", "sex or gender", NONE)]
    assert qualifiers["P50"] == []
    assert graph.degree([world.GAPS])[world.GAPS] == {"id": world.GAPS, "out": 2, "in": 0}
    assert [e["property"] for e in graph.edges([world.GAPS])[world.GAPS]["edges"]] == ["P21", "P31"]
    # The query service's form of the same.
    assert values(graph, world.FROM_TURTLE, property="P50") == [("P50", UNKNOWN)]
    [found] = statements(graph, world.FROM_TURTLE, property="P50")
    assert found["qualifiers"] == [_snak("P582", "end time", UNKNOWN)]
    assert graph.count_edges([world.FROM_TURTLE])[world.FROM_TURTLE]["by_property"] == {}


def check_dates(graph: Graph) -> None:
    """B49, B50."""
    ides = day("-0043-03-13", -44, "15 March 44 BCE", "julian")
    assert values(graph, world.DATES) == [
        ("P569", ides),
        ("P569", day("+1643-01-04", 1642, "25 December 1642", "julian")),
        ("P570", moment("-0043", "year", -44, "44 BCE", "julian")),
        ("P570", moment("+0000", "year", -1, "1 BCE")),
        ("P571", day("+1986-05-11", 1986, "11 May 1986")),
        ("P571", moment("+1986-05", "month", 1986, "May 1986")),
        ("P571", moment("+1986", "year", 1986, "1986")),
        ("P571", moment("+198", "decade", None, "1980s")),
        ("P571", moment("+19", "century", None, "20th century")),
        ("P571", moment("+20", "century", None, "20th century")),
        ("P571", moment("-05", "century", None, "5th century BCE")),
        ("P571", moment("+1", "millennium", None, "2nd millennium")),
        ("P571", moment("-1", "ten thousand years", None, "10000 years BCE")),
        ("P571", moment("-66", "million years", None, "66 million years BCE")),
        ("P571", moment("-13", "billion years", None, "14 billion years BCE")),
    ]
    # 44 BCE written as RDF, not converted from JSON.
    assert values(graph, world.FROM_TURTLE, property="P569") == [("P569", ides)]


def check_quantities(graph: Graph) -> None:
    """B51, B42: exact decimals with unit and bounds."""
    assert values(graph, world.AMOUNTS) == [
        (
            "P1106",
            quantity("1.96", unit=world.METRE, unit_label="metre", lower="1.95", upper="1.97"),
        ),
        ("P1106", quantity("-0.0000001")),
        ("P1106", quantity("0")),
        ("P1106", quantity("12345678901234567890.123456789012345")),
        ("P1106", quantity("100", unit=world.UNDESCRIBED)),
    ]


def check_merged_items(graph: Graph) -> None:
    """B52: a merged item answers as its target, under the id that was asked."""
    asked = [world.MERGED, world.MERGED_TWICE, world.TARGET, world.MERGED_AWAY]
    for function in (
        graph.claims,
        graph.references,
        graph.describe,
        graph.edges,
        graph.count_edges,
        graph.degree,
    ):
        answers = function(asked)
        assert list(answers) == asked
        assert isinstance(answers[world.MERGED_AWAY], NotInGraph)
        assert world.MISSING in str(answers[world.MERGED_AWAY])
        for one in asked[:3]:
            assert answers[one]["id"] == world.TARGET
            assert answers[one] == answers[world.TARGET]
    assert graph.name(asked[:3]) == dict.fromkeys(asked[:3], "Survivor")
    assert graph.label(asked[:3], "fr") == dict.fromkeys(asked[:3], "Survivant")
    assert graph.has(asked) == dict(zip(asked, [True, True, True, False], strict=True))
    # A value that still names the merged item keeps its id and shows its target's label.
    assert values(graph, world.TARGET, property="P50") == [
        ("P50", entity(world.MERGED, "Survivor"))
    ]


def check_names(graph: Graph) -> None:
    """B53 to B55: `mul`, the Chinese variants, languages that do not fall back, no label."""
    asked = [world.MANY_NAMES, world.ONLY_MUL, world.ONLY_HANT, world.NAMELESS, "P31", "P8000"]
    assert graph.labels(asked) == {
        world.MANY_NAMES: {
            "en": "London",
            "fr": "Londres",
            "de": "London",
            "zh": "伦敦",
            "ar": "لندن",
            "ru": "Лондон",
            "mul": "London",
        },
        world.ONLY_MUL: {"mul": "Everywhere"},
        world.ONLY_HANT: {"zh": "繁體名"},
        world.NAMELESS: {},
        "P31": {"en": "instance of"},
        "P8000": {},
    }
    assert list(graph.labels(asked)[world.MANY_NAMES]) == [
        "en",
        "fr",
        "de",
        "zh",
        "ar",
        "ru",
        "mul",
    ]
    assert list(graph.name(asked).values()) == [
        "London",
        "Everywhere",
        None,
        None,
        "instance of",
        None,
    ]
    assert list(graph.label(asked, "zh").values()) == [
        "伦敦",
        "Everywhere",
        "繁體名",
        None,
        None,
        None,
    ]
    assert list(graph.label(asked, "fr").values()) == [
        "Londres",
        "Everywhere",
        None,
        None,
        None,
        None,
    ]
    assert list(graph.label(asked, "mul").values())[:3] == ["London", "Everywhere", None]
    assert graph.descriptions(asked) == {
        world.MANY_NAMES: {"en": "capital", "fr": "capitale", "ru": "столица"},
        world.ONLY_MUL: {},
        world.ONLY_HANT: {"zh": "臺灣說明"},
        world.NAMELESS: {},
        "P31": {"en": "what it is"},
        "P8000": {},
    }


def check_describe(graph: Graph) -> None:
    answers = graph.describe([world.MANY_NAMES, world.ONLY_HANT, world.EMPTY, "P31"])
    assert answers[world.MANY_NAMES] == {
        "id": world.MANY_NAMES,
        "types": [{"id": world.HUB, "label": "Hub"}],
        "labels": graph.labels([world.MANY_NAMES])[world.MANY_NAMES],
        "descriptions": graph.descriptions([world.MANY_NAMES])[world.MANY_NAMES],
        "aliases": {
            "en": ['Big "quoted" \\ name', "London Town", "The Smoke"],
            "fr": ["Ville de Londres"],
            "mul": ["LDN"],
        },
        "sitelinks": {
            "en": "London",
            "fr": "Londres",
            "zh": "伦敦",
            "ar": "لندن",
            "ru": "Лондон",
        },
    }
    assert answers[world.ONLY_HANT]["aliases"] == {"zh": ["简体别名"]}
    assert answers[world.EMPTY] == {
        "id": world.EMPTY,
        "types": [],
        "labels": {},
        "descriptions": {},
        "aliases": {},
        "sitelinks": {},
    }
    assert answers["P31"]["aliases"] == {"en": ["is a", "type"]}
    assert graph.describe([world.KINDS])[world.KINDS]["sitelinks"] == {
        "en": "Kinds (values)",
        "de": "Arten",
    }
    assert graph.describe([world.RANKS])[world.RANKS]["types"] == [
        {"id": world.LINKED, "label": "Linked"}
    ]


def check_edges(graph: Graph) -> None:
    answer = graph.edges([world.HUB], limit=4)[world.HUB]
    total = 2 + world.HUB_LINKS + 1 + len(range(0, world.HUB_LINKS, 3)) + 5
    assert answer == {
        "id": world.HUB,
        "total": total,
        "edges": [
            _edge("out", "P279", "subclass of", "Q5", "human"),
            _edge("out", "P8000", None, world.LINKED, "Linked"),
            _edge("in", "P31", "instance of", world.MANY_NAMES, "London"),
            _edge("in", "P31", "instance of", f"Q{world.FIRST_OF_CROWD}", "One of 0"),
        ],
        "next_offset": 4,
    }
    # An URL that looks like an item, and a link to a property, are no links.
    assert [e["property"] for e in graph.edges([world.KINDS])[world.KINDS]["edges"]] == [
        "P31",
        "P50",
    ]
    assert graph.edges(["P31"])["P31"] == {
        "id": "P31",
        "total": 0,
        "edges": [],
        "next_offset": None,
    }
    into = graph.edges([world.HUB], direction="in", property="P9999")[world.HUB]
    assert [e["entity"] for e in into["edges"]] == [
        f"Q{world.FIRST_OF_CROWD + place * 37}" for place in range(0, world.HUB_LINKS, 500)
    ]
    assert {e["property_label"] for e in into["edges"]} == {None}
    out = graph.edges([world.HUB], direction="out")[world.HUB]
    assert (out["total"], out["next_offset"]) == (2, None)
    assert graph.edges([world.HUB], offset=total)[world.HUB] == {
        "id": world.HUB,
        "total": total,
        "edges": [],
        "next_offset": None,
    }
    self_link = graph.edges([world.NAMELESS])[world.NAMELESS]["edges"]
    assert [(e["direction"], e["entity"]) for e in self_link] == [
        ("out", world.NAMELESS),
        ("in", world.NAMELESS),
    ]
    truthy = graph.edges([world.RANKS], direction="out")[world.RANKS]["edges"]
    assert [(e["property"], e["entity"]) for e in truthy] == [
        ("P21", world.LINKED),
        ("P31", world.LINKED),
        ("P50", "Q5"),
        ("P50", world.LINKED),
    ]


def check_counts(graph: Graph) -> None:
    answer = graph.count_edges([world.HUB])[world.HUB]
    assert answer == {
        "id": world.HUB,
        "out": 2,
        "in": world.HUB_LINKS + 1 + 782 + 5,
        "by_property": {
            "P31": {"label": "instance of", "out": 0, "in": world.HUB_LINKS + 1},
            "P50": {"label": "author", "out": 0, "in": 782},
            "P279": {"label": "subclass of", "out": 1, "in": 0},
            "P8000": {"label": None, "out": 1, "in": 0},
            "P9999": {"label": None, "out": 0, "in": 5},
        },
    }
    assert list(answer["by_property"]) == ["P31", "P50", "P279", "P8000", "P9999"]
    assert graph.count_edges([world.HUB], property="P50")[world.HUB] == {
        "id": world.HUB,
        "out": 0,
        "in": 782,
        "by_property": {"P50": {"label": "author", "out": 0, "in": 782}},
    }
    assert graph.degree([world.HUB, world.BUSY, world.EMPTY]) == {
        world.HUB: {"id": world.HUB, "out": 2, "in": answer["in"]},
        world.BUSY: {"id": world.BUSY, "out": world.BUSY_STATEMENTS, "in": 0},
        world.EMPTY: {"id": world.EMPTY, "out": 0, "in": 0},
    }


def check_paging(graph: Graph) -> None:
    """To the end without gaps or doubles, in an order that is the same for every page size."""
    _check_pages(graph.edges, world.HUB, "edges", 997)
    _check_pages(graph.edges, world.BUSY, "edges", 900)
    _check_pages(graph.claims, world.BUSY, "statements", 907)
    _check_pages(graph.references, world.KINDS, "statements", 5)
    numbers = [
        (e["direction"] == "in", int(e["property"][1:]), int(e["entity"][1:]))
        for e in graph.edges([world.BUSY], limit=10_000)[world.BUSY]["edges"]
    ]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == world.BUSY_STATEMENTS


def check_lists(graph: Graph) -> None:
    """A list answers each id as a single call does; what fails is an error value."""
    asked = [world.KINDS, "Q0", world.MISSING, "P31", world.KINDS, "xyzzy", world.HUB]
    for function in (
        graph.claims,
        graph.references,
        graph.describe,
        graph.labels,
        graph.label,
        graph.descriptions,
        graph.edges,
        graph.count_edges,
        graph.degree,
        graph.name,
    ):
        answers = function(asked)
        assert list(answers) == list(dict.fromkeys(asked))
        assert isinstance(answers["Q0"], InvalidIdentifier)
        assert isinstance(answers["xyzzy"], InvalidIdentifier)
        assert isinstance(answers[world.MISSING], NotInGraph)
        for one in (world.KINDS, "P31", world.HUB):
            assert answers[one] == function([one])[one]
    has = graph.has(asked)
    assert [has[one] for one in (world.KINDS, world.MISSING, "P31")] == [True, False, True]
    assert isinstance(has["Q0"], InvalidIdentifier)
    assert graph.has(["P8888", world.UNDESCRIBED, "Q5"]) == {
        "P8888": False,
        world.UNDESCRIBED: False,
        "Q5": True,
    }
    assert graph.claims([]) == {}


def check_errors(graph: Graph) -> None:
    kinds = [world.KINDS]
    _refuses(NotInGraph, "search_property", lambda: graph.claims(kinds, property="P8888"))
    _refuses(NotInGraph, "P8888", lambda: graph.references(kinds, property="P8888"))
    _refuses(NotInGraph, "P8888", lambda: graph.edges(kinds, property="P8888"))
    _refuses(NotInGraph, "P8888", lambda: graph.count_edges(kinds, property="P8888"))
    _refuses(InvalidIdentifier, "P31", lambda: graph.claims(kinds, property="Q5"))
    _refuses(InvalidIdentifier, "P31", lambda: graph.edges(kinds, property="P31> ?x ?y"))
    _refuses(InvalidArgument, "best", lambda: graph.claims(kinds, rank="all"))
    _refuses(InvalidArgument, "both", lambda: graph.edges(kinds, direction="up"))
    _refuses(InvalidArgument, "mul", lambda: graph.label(kinds, language="es"))
    _refuses(InvalidArgument, "mul", lambda: graph.search_entity("London", language="es"))
    _refuses(InvalidIdentifier, "'Q42'", lambda: graph.check_id("42"))
    _refuses(InvalidIdentifier, "'P31'", lambda: graph.check_property("Q42"))
    # Used in a statement, though not described in the graph.
    assert graph.edges(kinds, property=world.UNDESCRIBED_PROPERTY)[world.KINDS]["total"] == 0
    missing = graph.claims([world.MISSING])[world.MISSING]
    assert isinstance(missing, NotInGraph)
    assert "search_entity" in str(missing)


def check_exact_names(graph: Graph) -> None:
    """What every graph finds, with a label index or without."""
    assert graph.search_entity("London") == {
        "total": 1,
        "matches": [
            {
                "id": world.MANY_NAMES,
                "label": "London",
                "description": "capital",
                "matched": "label",
                "matched_text": "London",
                "language": "en",
            }
        ],
        "next_offset": None,
    }
    [found] = graph.search_entity('Big "quoted" \\ name')["matches"]
    assert (found["id"], found["matched"], found["language"]) == (world.MANY_NAMES, "alias", "en")
    [found] = graph.search_entity("繁體名")["matches"]
    assert (found["id"], found["label"], found["language"]) == (world.ONLY_HANT, None, "zh-hant")
    [found] = graph.search_entity("Everywhere")["matches"]
    assert (found["label"], found["description"], found["language"]) == ("Everywhere", None, "mul")
    assert graph.search_entity("Londres", language="fr")["total"] == 1
    assert graph.search_entity("Londres", language="de")["total"] == 0
    assert graph.search_entity("no such name") == {"total": 0, "matches": [], "next_offset": None}
    [found] = graph.search_property("instance of")["matches"]
    assert found == {
        "id": "P31",
        "label": "instance of",
        "description": "what it is",
        "matched": "label",
        "matched_text": "instance of",
        "language": "en",
        "datatype": "wikibase-item",
    }
    assert graph.search_property("is a")["matches"][0]["matched"] == "alias"
    assert graph.search_property("London")["total"] == 0
    # Labels before aliases, and among equals English first.
    heure = graph.search_property("heure")
    assert [match["id"] for match in heure["matches"]] == ["P7001", "P7003", "P7002"]
    assert [match["language"] for match in heure["matches"]] == ["fr", "en", "fr"]
    pages = [graph.search_property("heure", limit=1, offset=place) for place in range(3)]
    assert [page["matches"][0] for page in pages] == heure["matches"]
    assert [page["next_offset"] for page in pages] == [1, 2, None]
    assert {page["total"] for page in pages} == {3}


CHECKS: tuple[Callable[[Graph], None], ...] = (
    check_every_datatype,
    check_a_whole_statement,
    check_references,
    check_ranks,
    check_gaps,
    check_dates,
    check_quantities,
    check_merged_items,
    check_names,
    check_describe,
    check_edges,
    check_counts,
    check_paging,
    check_lists,
    check_errors,
    check_exact_names,
)


def _snak(property_id: str, label: str | None, value: Value) -> dict[str, Any]:
    return {"property": property_id, "property_label": label, "value": value}


def _edge(
    direction: str, property_id: str, property_label: str | None, other: str, label: str | None
) -> dict[str, Any]:
    return {
        "direction": direction,
        "property": property_id,
        "property_label": property_label,
        "entity": other,
        "label": label,
    }


def _check_pages(function: Any, identifier: str, key: str, size: int) -> None:
    whole = function([identifier], limit=10_000)[identifier]
    assert whole["next_offset"] is None
    assert len(whole[key]) == whole["total"]
    parts: list[Any] = []
    offset: int | None = 0
    while offset is not None:
        page = function([identifier], limit=size, offset=offset)[identifier]
        assert page["total"] == whole["total"]
        assert len(page[key]) == min(size, whole["total"] - offset)
        parts += page[key]
        offset = page["next_offset"]
    assert parts == whole[key]


def _refuses(error: type[CallError], hint: str, call: Callable[[], object]) -> None:
    try:
        answer = call()
    except error as caught:
        assert hint in str(caught)
    else:
        raise AssertionError(f"{error.__name__} was expected, not {answer!r}")
