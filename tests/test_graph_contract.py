"""Every function on every engine: the same world, the same answers, value by value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from kg_functions.errors import CallError
from kg_functions.opening import open_graph
from kg_functions.registry import FUNCTIONS
from kg_functions.session import GraphSession
from tests.support import graphs as world
from tests.support.graph_checks import CHECKS
from tests.support.sparql_servers import oxigraph_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kg_functions.graph import Graph

WAYS = ("folder", "endpoint", "bare endpoint", "sparqlwrapper")
ENTITIES = [
    world.HUMAN,
    world.KINDS,
    world.RANKS,
    world.GAPS,
    world.DATES,
    world.AMOUNTS,
    world.TARGET,
    world.MERGED,
    world.MERGED_TWICE,
    world.MERGED_AWAY,
    world.ONLY_MUL,
    world.ONLY_HANT,
    world.NAMELESS,
    world.HUB,
    world.BUSY,
    world.EMPTY,
    world.FROM_TURTLE,
    world.MANY_NAMES,
    world.LINKED,
    world.METRE,
    world.UNDESCRIBED,
    world.MISSING,
    "P31",
    "P8000",
    world.UNDESCRIBED_PROPERTY,
    world.MISSING_PROPERTY,
    "Q0",
    f"Q{world.FIRST_OF_CROWD}",
]


@pytest.fixture(scope="module")
def server(world_folder: Path) -> Iterator[str]:
    with oxigraph_server(world_folder / "store") as url:
        yield url


@pytest.fixture(scope="module")
def graphs(world_folder: Path, server: str) -> Iterator[dict[str, Graph]]:
    opened = {
        "folder": open_graph(world_folder),
        "endpoint": open_graph(server, labels=world_folder),
        "bare endpoint": open_graph(server),
        "sparqlwrapper": open_graph(server, transport="sparqlwrapper"),
    }
    yield opened
    for graph in opened.values():
        graph.close()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(graphs: dict[str, Graph], way: str, check: Callable[[Graph], None]) -> None:
    check(graphs[way])


@pytest.mark.parametrize("name", [n for n, f in FUNCTIONS.items() if f.takes_ids])
def test_engines_agree_value_by_value(graphs: dict[str, Graph], name: str) -> None:
    """Both transports read the same replies, so one of them is enough here."""
    for arguments in _argument_sets(name):
        expected = _call(graphs["folder"], name, arguments)
        for way in ("endpoint", "bare endpoint", "folder"):
            assert _call(graphs[way], name, arguments) == expected, (way, arguments)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("london", {}),
        ("lond", {}),
        ("one of", {"limit": 50}),
        ("one of", {"limit": 50, "offset": 40}),
        ("one of", {"limit": 5, "offset": 100_000}),
        ("big quoted name", {}),
        ("繁體", {}),
        ("Londres", {"language": "fr"}),
        ("smoke the", {"language": "en"}),
        ("лондон", {}),
        ("", {}),
        ("?!", {}),
    ],
)
def test_search_agrees_with_the_label_index(
    graphs: dict[str, Graph], text: str, arguments: dict[str, Any]
) -> None:
    found = graphs["folder"].search_entity(text, **arguments)
    assert graphs["endpoint"].search_entity(text, **arguments) == found
    for match in found["matches"]:
        assert match["label"] == graphs["bare endpoint"].name([match["id"]])[match["id"]]


@pytest.mark.parametrize("way", WAYS)
def test_links_through_merged_ids_stay_theirs(graphs: dict[str, Graph], way: str) -> None:
    """A link to a merged id is one to that id: its target neither counts nor lists it."""
    graph = graphs[way]
    for asked in (world.TARGET, world.MERGED):
        assert graph.count_edges([asked], "P50")[asked] == {
            "id": world.TARGET,
            "out": 1,
            "in": 0,
            "by_property": {"P50": {"label": "author", "out": 1, "in": 0}},
        }
        [link] = graph.edges([asked], property="P50")[asked]["edges"]
        assert (link["direction"], link["entity"]) == ("out", world.MERGED)


def test_search_pages_join(graphs: dict[str, Graph]) -> None:
    whole = graphs["folder"].search_entity("one of", limit=10_000)
    assert whole["total"] == world.HUB_LINKS == len(whole["matches"])
    parts: list[Any] = []
    offset: int | None = 0
    while offset is not None:
        page = graphs["endpoint"].search_entity("one of", limit=999, offset=offset)
        parts += page["matches"]
        offset = page["next_offset"]
    assert parts == whole["matches"]


def test_without_a_label_index_it_is_said_once(server: str, world_folder: Path) -> None:
    said: list[str] = []
    graph = open_graph(server, notice=said.append)
    assert said == [
        f"{server}: raw data, as in Wikidata's dumps; exact names only (--labels GRAPH_FOLDER "
        "gives a label index); links by SPARQL."
    ]
    assert graph.search_entity("london")["total"] == 0, "exact names only"
    assert graph.search_entity("London")["total"] == 1
    assert len(said) == 1
    graph.close()
    graph = open_graph(server, labels=world_folder, notice=said.append)
    assert graph.search_entity("london")["total"] == 1
    assert said[1:] == [
        f"{server}: raw data, as in Wikidata's dumps; names from the label index; links from the "
        "adjacency."
    ]
    graph.close()
    graph = open_graph(world_folder, notice=said.append)
    assert graph.search_entity("london")["total"] == 1
    assert len(said) == 2
    graph.close()


def test_exact_names_are_only_text(graphs: dict[str, Graph]) -> None:
    """What a model writes never becomes part of a query."""
    bare = graphs["bare endpoint"]
    for hostile in ('" } ASK {} #', '\\"@en ?x ?y', "a\nb\tc\0d\x7f", "'''", "<>`|^", "$terms ?x"):
        assert bare.search_entity(hostile) == {"total": 0, "matches": [], "next_offset": None}
    with pytest.raises(CallError, match="half a character"):
        bare.search_entity("\ud800")


def test_results_are_plain_json(graphs: dict[str, Graph]) -> None:
    for name, function in FUNCTIONS.items():
        if not function.takes_ids:
            continue
        for answer in getattr(graphs["folder"], name)([world.KINDS, world.HUB, "P31"]).values():
            assert orjson.loads(orjson.dumps(answer)) == answer


def test_through_a_session(graphs: dict[str, Graph]) -> None:
    session = GraphSession(graphs["endpoint"])
    assert session.call("label", [world.MANY_NAMES, "Q0"], "ru") == {
        world.MANY_NAMES: "Лондон",
        "Q0": {"error": str(_error(lambda: session.call("label", "Q0", "ru")))},
    }
    assert session.call("claims", world.MERGED)["id"] == world.TARGET
    assert isinstance(_error(lambda: session.call("claims", world.MISSING)), CallError)


def _argument_sets(name: str) -> list[dict[str, Any]]:
    """Arguments that between them exercise every parameter of a function."""
    sets: list[dict[str, Any]] = [{}]
    parameters = {p.name: p for p in FUNCTIONS[name].parameters}
    for parameter in parameters.values():
        sets += [{parameter.name: choice} for choice in parameter.choices]
    if "language" in parameters:
        sets += [{"language": code} for code in ("en", "fr", "de", "zh", "ar", "ru", "mul")]
    if "property" in parameters:
        sets += [{"property": one} for one in ("P31", "P50", "P569", world.UNDESCRIBED_PROPERTY)]
    if "limit" in parameters:
        sets += [{"limit": 3, "offset": 1}, {"limit": 700, "offset": 2000}]
    return sets


def _call(graph: Graph, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    answers = getattr(graph, name)(ENTITIES, **arguments)
    return {
        one: [type(answer).__name__, str(answer)] if isinstance(answer, CallError) else answer
        for one, answer in answers.items()
    }


def _error(call: Callable[[], object]) -> Exception:
    with pytest.raises(CallError) as caught:
        call()
    return caught.value
