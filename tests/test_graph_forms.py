"""Raw and munged data: the same answers from both, told apart when an endpoint is opened (B56)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyoxigraph as ox
import pytest

from kg_functions.engines.embedded import EmbeddedEngine
from kg_functions.errors import GraphSetupError
from kg_functions.opening import open_graph
from kg_functions.rdf import DATA, GENID, RDF, RDFS, SCHEMA, SKOS, WD, WIKIBASE
from kg_functions.wikidata.graph import WikidataGraph
from kg_functions.wikidata.probe import check_model
from tests.support.graph_checks import CHECKS
from tests.support.sparql_servers import oxigraph_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_DROPPED_TYPES = {
    f"{WIKIBASE}{name}" for name in ("Item", "Statement", "TimeValue", "QuantityValue", "Reference")
}


def munged(quads: Iterable[ox.Quad]) -> list[ox.Quad]:
    """Raw data as Wikidata's query service loads it."""

    def moved(term: Any) -> Any:
        if isinstance(term, ox.BlankNode):
            return ox.NamedNode(GENID + term.value)
        if isinstance(term, ox.NamedNode) and term.value.startswith(DATA):
            return ox.NamedNode(WD + term.value.removeprefix(DATA))
        return term

    kept = []
    for subject, predicate, object, _ in quads:
        of_page = str(subject).startswith(f"<{DATA}")
        of_entity = str(subject).startswith(f"<{WD}")
        if predicate.value == f"{RDF}type" and (
            of_page or getattr(object, "value", None) in _DROPPED_TYPES
        ):
            continue
        if predicate.value == f"{SKOS}prefLabel" or (of_page and predicate.value.endswith("about")):
            continue
        if of_entity and predicate.value == f"{SCHEMA}name":
            continue
        kept.append(ox.Quad(moved(subject), predicate, moved(object)))
    return kept


def fill(store: ox.Store, quads: Iterable[ox.Quad]) -> ox.Store:
    store.bulk_extend(quads)
    store.flush()
    return store


@pytest.fixture(scope="module")
def raw(world_folder: Path) -> list[ox.Quad]:
    return list(ox.Store.read_only(str(world_folder / "store")))


@pytest.fixture(scope="module")
def munged_graph(raw: list[ox.Quad]) -> WikidataGraph:
    store = ox.Store()
    store.bulk_extend(munged(raw))
    return WikidataGraph(EmbeddedEngine.from_store(store))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract_on_munged_data(
    munged_graph: WikidataGraph, check: Callable[[WikidataGraph], None]
) -> None:
    check(munged_graph)


ITEM = "Q70000"
PAGE_COUNT = (f"{DATA}{ITEM}", f"{WIKIBASE}sitelinks", "3")
ITEM_COUNT = (f"{WD}{ITEM}", f"{WIKIBASE}sitelinks", "3")
PREF_LABEL = (f"{WD}{ITEM}", f"{SKOS}prefLabel", "x")
LABEL = (f"{WD}{ITEM}", f"{RDFS}label", "x")
RANKED = (f"{WD}statement/{ITEM}-1", f"{WIKIBASE}rank", "normal")


def engine(*facts: tuple[str, str, str]) -> EmbeddedEngine:
    store = ox.Store()
    for subject, predicate, value in facts:
        store.add(ox.Quad(ox.NamedNode(subject), ox.NamedNode(predicate), ox.Literal(value)))
    return EmbeddedEngine.from_store(store)


@pytest.mark.parametrize(
    ("facts", "form"),
    [
        ([PAGE_COUNT, PREF_LABEL], "raw"),
        ([PAGE_COUNT], "raw"),
        ([PREF_LABEL], "raw"),
        ([ITEM_COUNT, LABEL], "munged"),
        ([LABEL], None),
    ],
)
def test_forms(facts: list[tuple[str, str, str]], form: str | None) -> None:
    assert check_model(engine(RANKED, *facts)) == form


@pytest.mark.parametrize("more", [PAGE_COUNT, PREF_LABEL])
def test_a_mix_is_refused(more: tuple[str, str, str]) -> None:
    with pytest.raises(GraphSetupError, match="mixes data") as caught:
        check_model(engine(RANKED, ITEM_COUNT, more))
    assert "\n" not in str(caught.value)


def test_real_endpoints(raw: list[ox.Quad], tmp_path: Path) -> None:
    some = [quad for quad in raw if "Q90" in str(quad.subject) or "/statement/Q9" in str(quad)]
    fill(ox.Store(str(tmp_path / "munged")), munged(some))
    fill(ox.Store(str(tmp_path / "mixed")), [*some[: len(some) // 2], *munged(some)])
    said: list[str] = []
    with oxigraph_server(tmp_path / "munged") as url:
        open_graph(url, notice=said.append).close()
    assert said[0].startswith(f"{url}: munged data, as in Wikidata's query service; exact names")
    with oxigraph_server(tmp_path / "mixed") as url, pytest.raises(GraphSetupError, match="mixes"):
        open_graph(url, notice=said.append)
    assert len(said) == 1


@pytest.mark.parametrize("counted_on", [DATA, WD])
def test_sitelinks_decide_between_equal_names(counted_on: str) -> None:
    """Whether they are counted on data pages or on the items; one query, one VALUES block."""
    store = ox.Store()
    for item, sitelinks in (("Q3", 2), ("Q20", 10), ("Q100", 9), ("Q7", None)):
        entity = ox.NamedNode(WD + item)
        store.add(ox.Quad(entity, ox.NamedNode(f"{RDFS}label"), ox.Literal("Same", language="en")))
        if counted_on == DATA:
            page = ox.NamedNode(DATA + item)
            store.add(ox.Quad(page, ox.NamedNode(f"{SCHEMA}about"), entity))
        if sitelinks is not None:
            count = ox.Literal(str(sitelinks))
            subject = ox.NamedNode(counted_on + item)
            store.add(ox.Quad(subject, ox.NamedNode(f"{WIKIBASE}sitelinks"), count))
    graph = WikidataGraph(EmbeddedEngine.from_store(store))
    found = graph.search_entity("Same")
    assert [match["id"] for match in found["matches"]] == ["Q20", "Q100", "Q3", "Q7"]
