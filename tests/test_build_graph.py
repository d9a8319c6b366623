"""Whole builds: what lies in a graph folder."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyoxigraph as ox
import pytest

from kg_functions.adjacency import Adjacency
from kg_functions.build.pipeline import build_graph
from kg_functions.manifest import Counts, load_manifest
from tests.support.build_documents import (
    DOCUMENTS,
    ask,
    entity,
    found,
    leftovers,
    link,
    triples,
    write,
)
from tests.support.data import shared_data

if TYPE_CHECKING:
    from kg_functions.build.progress import BuildProgress


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("build")
    build_graph([write(folder / "slice.jsonl")], folder / "graph")
    return folder / "graph"


def test_manifest(graph: Path) -> None:
    manifest = load_manifest(graph)
    assert manifest.parts == ("store", "labels", "adjacency")
    assert manifest.counts == Counts(
        items=4,
        properties=2,
        statements=6,
        links=2,
        labels=6,
        triples=len(triples(graph)),
    )
    assert manifest.snapshot == "slice-2025-02-03"
    assert manifest.snapshot_date == "2025-02-03"
    (source,) = manifest.sources
    assert (source.name, source.size) == (
        "slice.jsonl",
        (graph.parent / source.name).stat().st_size,
    )
    assert list(manifest.skipped) == ["repeated entity"]
    assert leftovers(graph.parent) == []


def test_store(graph: Path) -> None:
    assert ask(graph, 'wd:Q1 a wikibase:Item ; rdfs:label "One"@en ; wdt:P31 wd:Q5')
    assert ask(graph, "wd:Q2 wdt:P31 wd:Q1")
    assert not ask(graph, "wd:Q2 wdt:P31 wd:Q5")
    assert ask(graph, "wd:P31 wikibase:propertyType wikibase:WikibaseItem")


def test_text_of_unknown_datatype_waits_for_the_property(graph: Path) -> None:
    assert ask(graph, "wd:Q7 wdt:P18 ?file FILTER(isIRI(?file))")
    assert ask(graph, 'wd:Q7 wdt:P99 "plain"')


def test_adjacency(graph: Path) -> None:
    adjacency = Adjacency.open(graph / "adjacency")
    assert adjacency.degree(5) == (0, 1)
    assert adjacency.degree(1) == (1, 1)
    assert adjacency.degree(6) == (0, 0)


def test_labels(graph: Path) -> None:
    assert found(graph, "five", "item") == found(graph, "Five", "item") == [("Q5", None)]
    assert found(graph, "old", "item") == [("Q7", None)]
    assert found(graph, "image", "property") == [("P18", "commonsMedia")]


def test_rdf_makes_the_same_graph(graph: Path, tmp_path: Path) -> None:
    """Links, names and counts of an RDF input come from its triples alone."""
    store = ox.Store.read_only(str(graph / "store"))
    counts = load_manifest(graph).counts
    for suffix, format in (("nt", ox.RdfFormat.N_TRIPLES), ("ttl", ox.RdfFormat.TURTLE)):
        data = store.dump(format=format, from_graph=ox.DefaultGraph())
        assert data is not None
        path = tmp_path / f"dump.{suffix}.gz"
        path.write_bytes(gzip.compress(data))
        manifest = build_graph([path], tmp_path / suffix)
        # A second document adds a label of Q5 to the triples, and names have one a language.
        assert manifest.counts == counts
        assert Adjacency.open(tmp_path / suffix / "adjacency").degree(5) == (0, 1)
        assert found(tmp_path / suffix, "image", "property") == [("P18", "commonsMedia")]


def test_json_and_rdf_together(tmp_path: Path) -> None:
    (tmp_path / "more.ttl").write_text(
        "@prefix wd: <http://www.wikidata.org/entity/> .\n"
        "@prefix wdt: <http://www.wikidata.org/prop/direct/> .\n"
        "@prefix wikibase: <http://wikiba.se/ontology#> .\n"
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "wd:Q9 a wikibase:Item ; wdt:P31 wd:Q1 . wd:Q8 owl:sameAs wd:Q9 .\n"
    )
    inputs = [write(tmp_path / "a.jsonl"), tmp_path / "more.ttl"]
    manifest = build_graph(inputs, tmp_path / "graph", snapshot="mixed")
    assert (manifest.counts.items, manifest.counts.links, manifest.counts.redirects) == (5, 3, 1)
    assert manifest.snapshot == "mixed"
    assert [source.name for source in manifest.sources] == ["a.jsonl", "more.ttl"]


def test_redirects(tmp_path: Path) -> None:
    both = entity("Q3", "Three", redirects={"from": "Q14", "to": "Q3"})
    documents = [
        entity("Q1", "One", redirects={"from": "Q11", "to": "Q1"}),
        {"entity": "Q12", "redirect": "Q1"},
        {"entities": {"Q13": entity("Q2", "Two")}},
        # As Special:EntityData answers: the old id is the key and is stated once more inside.
        {"entities": {"Q14": both}},
    ]
    manifest = build_graph([write(tmp_path / "a.jsonl", documents)], tmp_path / "graph")
    assert manifest.counts.redirects == 4
    for source, target in (("Q11", "Q1"), ("Q12", "Q1"), ("Q13", "Q2"), ("Q14", "Q3")):
        assert ask(tmp_path / "graph", f"wd:{source} owl:sameAs wd:{target}")


def test_a_repeated_entity_is_reported(tmp_path: Path) -> None:
    """Its statements are merged, its names left out of the index; both are said."""
    first = write(tmp_path / "a.jsonl", [entity("Q1", "One", link("P31", "Q5"))])
    second = write(
        tmp_path / "b.jsonl", [entity("Q2", "Two"), entity("Q1", "Uno", link("P50", "Q5"))]
    )
    reported: list[str] = []
    manifest = build_graph([first, second], tmp_path / "graph", report=reported.append)
    assert reported == [
        "b.jsonl line 2: skipped: Q1: repeated entity: its statements were merged with those met "
        "earlier, its names left out of the label index"
    ]
    assert manifest.skipped["repeated entity"].count == 1
    assert (manifest.counts.items, manifest.counts.statements) == (2, 2)
    assert ask(tmp_path / "graph", "wd:Q1 wdt:P31 wd:Q5 ; wdt:P50 wd:Q5")
    assert found(tmp_path / "graph", "One", "item") == [("Q1", None)]
    assert found(tmp_path / "graph", "Uno", "item") == []


def test_triples_of_one_entity_may_be_spread(tmp_path: Path) -> None:
    line = (
        "<http://www.wikidata.org/entity/Q1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
        "<http://wikiba.se/ontology#Item> .\n"
    )
    inputs = [tmp_path / "a.nt", tmp_path / "b.nt"]
    for path in inputs:
        path.write_text(line * 2)
    manifest = build_graph(inputs, tmp_path / "graph")
    assert (manifest.counts.items, manifest.skipped) == (1, {})


@pytest.mark.parametrize("jobs", [1, 2])
def test_bad_lines_are_reported_counted_and_skipped(jobs: int, tmp_path: Path) -> None:
    good = [json.dumps(entity(f"Q{n}", f"item {n}")) for n in (1, 2, 3)]
    bad = [
        "{not json}",
        '"text"',
        json.dumps({"id": "Q9", "labels": {"en": "flat"}}),
        json.dumps(entity("Q4", "four", {"mainsnak": {"property": "P1"}})),
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([good[0], bad[0], bad[1], good[1], bad[2], bad[3], good[2], ""]))
    reported: list[str] = []
    manifest = build_graph([path], tmp_path / "graph", jobs=jobs, report=reported.append)
    assert manifest.counts.items == 4
    assert {reason: skipped.count for reason, skipped in manifest.skipped.items()} == {
        "not JSON": 1,
        "not an entity": 1,
        "unreadable entity": 1,
        "unreadable statement": 1,
    }
    assert [line.split(":")[0] for line in sorted(reported)] == [
        f"a.jsonl line {number}" for number in (2, 3, 5, 6)
    ]
    example = manifest.skipped["unreadable entity"].examples[0]
    assert (example.line, example.entity) == (5, "Q9")
    assert load_manifest(tmp_path / "graph") == manifest


def test_bad_n_triples_lines_are_skipped(tmp_path: Path) -> None:
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://wikiba.se/ontology#Item> ."
    (tmp_path / "a.nt").write_text(
        f"<http://www.wikidata.org/entity/Q1> {kind}\n"
        f'<http://www.wikidata.org/entity/Q1> {label} "One"@en\n'
        f"<http://www.wikidata.org/entity/Q2> {kind}\n"
        "what?\n"
        f'<http://www.wikidata.org/entity/Q2> {label} "Two"@en .\n'
    )
    reported: list[str] = []
    manifest = build_graph([tmp_path / "a.nt"], tmp_path / "graph", report=reported.append)
    assert [line.split(":")[0] for line in reported] == ["a.nt line 2", "a.nt line 4"]
    assert manifest.skipped["not N-Triples"].count == 2
    assert (manifest.counts.items, manifest.counts.triples, manifest.counts.labels) == (2, 3, 1)


def test_progress(tmp_path: Path) -> None:
    reports: list[BuildProgress] = []
    path = write(tmp_path / "a.jsonl")
    build_graph([path], tmp_path / "graph", progress=reports.append)
    phases = list(dict.fromkeys(report.phase for report in reports))
    assert phases == ["read", "links", "labels", "store"]
    read = [report for report in reports if report.phase == "read"][-1]
    assert read.done == read.total == path.stat().st_size
    assert reports[-1].entities == len(DOCUMENTS)
    assert read.rate > 0


def test_real_items(tmp_path: Path) -> None:
    """Six items as JSON and as official Turtle: the counts agree, and so do Q42's links."""
    folder = shared_data("wikidata", "pairs")
    json_files = sorted(folder.glob("*.json.gz"))
    manifest = build_graph(json_files, tmp_path / "json")
    assert manifest.counts.items == 6
    assert manifest.skipped == {}
    claims = 0
    for path in json_files:
        for document in json.loads(gzip.decompress(path.read_bytes()))["entities"].values():
            claims += sum(map(len, document["claims"].values()))
    assert manifest.counts.statements == claims
    turtle_files = sorted(folder.glob("*.ttl.gz"))
    redirects = sum(
        gzip.decompress(path.read_bytes()).count(b" owl:sameAs ") for path in turtle_files
    )
    from_turtle = build_graph(turtle_files, tmp_path / "turtle")
    assert from_turtle.counts.statements == claims
    assert from_turtle.counts.redirects == redirects > 0
    links = Adjacency.open(tmp_path / "json" / "adjacency")
    others = Adjacency.open(tmp_path / "turtle" / "adjacency")
    assert (links.links, links.degree(42)) == (others.links, others.degree(42))
