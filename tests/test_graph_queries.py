"""Building queries safely, asking few of them, and reading long answers whole (B43)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_functions.engines.embedded import EmbeddedEngine
from kg_functions.errors import InvalidArgument, InvalidIdentifier
from kg_functions.wikidata import queries, sparql_links
from kg_functions.wikidata.graph import WikidataGraph
from kg_functions.wikidata.queries import Query
from tests.support import graphs as world
from tests.support.graph_checks import CHECKS, check_paging

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kg_functions.engines.protocol import Row

UNICODE = st.text(st.characters(exclude_categories=["Cs"]))


class Counting:
    """An engine that counts what it is asked."""

    def __init__(self, engine: EmbeddedEngine) -> None:
        self._engine = engine
        self.asked: list[str] = []
        self.address = "counting"

    def select(self, query: str) -> list[Row]:
        self.asked.append(query)
        return self._engine.select(query)

    def ask(self, query: str) -> bool:
        self.asked.append(query)
        return self._engine.ask(query)

    def close(self) -> None:
        self._engine.close()


@given(UNICODE)
def test_a_literal_means_its_text(text: str) -> None:
    store = pyoxigraph.Store()
    term = queries.literal(text, "en")
    [row] = EmbeddedEngine.from_store(store).select(f"SELECT ({term} AS ?x) WHERE {{}}")
    assert (row["x"].value, row["x"].language) == (text, "en")


@given(UNICODE)
def test_an_iri_cannot_break_out(text: str) -> None:
    try:
        term = queries.iri(text)
    except InvalidArgument:
        return
    assert not set(term[1:-1]) & set('<>"{}|^`\\ \n\t')


@pytest.mark.parametrize("text", ["Q1> ?x ?y . <x", "Q", "Q01", "wd:Q1", "", "Q1 ", "q1"])
def test_ids_are_checked(text: str) -> None:
    with pytest.raises(InvalidIdentifier):
        queries.entity(text)
    with pytest.raises(InvalidIdentifier):
        queries.predicate("wdt", text)


def test_only_the_prefixes_in_use_are_sent() -> None:
    query = Query("SELECT ?x WHERE { VALUES ?x { $terms } ?x wdt:P31 wd:Q5 $option }", "?x")
    filled = query.fill(["<http://x>", "<https://y>"], "# done")
    assert filled.splitlines() == [
        "PREFIX wd: <http://www.wikidata.org/entity/>",
        "PREFIX wdt: <http://www.wikidata.org/prop/direct/>",
        "SELECT ?x WHERE { VALUES ?x { <http://x> <https://y> } ?x wdt:P31 wd:Q5 # done }",
    ]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_long_answers_are_read_in_parts(
    world_folder: Path, monkeypatch: pytest.MonkeyPatch, check: Callable[[WikidataGraph], None]
) -> None:
    """The whole contract again with tiny limits: halves, then ordered pages, nothing lost."""
    monkeypatch.setattr(queries, "ROW_LIMIT", 700)
    monkeypatch.setattr(queries, "CHUNK", 90)
    monkeypatch.setattr(sparql_links, "SORTED_HERE", 100)
    graph = WikidataGraph(EmbeddedEngine.open(world_folder / "store"))
    check(graph)
    graph.close()


def test_a_cut_answer_would_be_noticed(world_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "ROW_LIMIT", 700)
    monkeypatch.setattr(queries, "_pages", lambda engine, query: iter(()))
    graph = WikidataGraph(EmbeddedEngine.open(world_folder / "store"))
    with pytest.raises(AssertionError):
        check_paging(graph)
    graph.close()


def test_a_limit_stands_in_every_query(world_folder: Path) -> None:
    engine = Counting(EmbeddedEngine.open(world_folder / "store"))
    graph = WikidataGraph(engine)
    for check in CHECKS:
        check(graph)
    selects = [query for query in engine.asked if "SELECT" in query]
    assert len(selects) > 100
    assert all("\nLIMIT " in query for query in selects)


@pytest.mark.parametrize(
    "function",
    ["claims", "references", "describe", "labels", "edges", "count_edges", "degree", "name", "has"],
)
def test_a_list_takes_as_few_queries_as_one_id(world_folder: Path, function: str) -> None:
    crowd = [f"Q{world.FIRST_OF_CROWD + place * 37}" for place in range(150)]
    counts = []
    for ids in (crowd[:1], crowd):
        engine = Counting(EmbeddedEngine.open(world_folder / "store"))
        answers = getattr(WikidataGraph(engine), function)(ids)
        assert len(answers) == len(ids)
        counts.append(len(engine.asked))
    assert counts[0] == counts[1] <= 7


def test_names_are_asked_for_once(world_folder: Path) -> None:
    engine = Counting(EmbeddedEngine.open(world_folder / "store"))
    graph = WikidataGraph(engine)
    graph.edges([world.HUB])
    before = len(engine.asked)
    graph.edges([world.HUB])
    again = engine.asked[before:]
    assert again
    assert not any("rdfs:label" in query for query in again)
