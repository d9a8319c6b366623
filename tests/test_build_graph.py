"""Whole builds: what lies in a graph folder, and what is left behind when a build fails."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyoxigraph as ox
import pytest

from kg_functions.adjacency import Adjacency
from kg_functions.build import pipeline, workers
from kg_functions.build.pipeline import build_graph
from kg_functions.errors import GraphSetupError
from kg_functions.label_index import LabelIndex
from kg_functions.manifest import Counts, load_manifest
from kg_functions.rdf import PREFIXES
from tests.support.data import ROOT, shared_data
from tests.support.triples import said

if TYPE_CHECKING:
    from kg_functions.build.progress import BuildProgress


def link(property: str, target: str, rank: str = "normal") -> dict[str, Any]:
    value = {"entity-type": "item", "numeric-id": int(target[1:]), "id": target}
    return {
        "id": f"Q0${property}-{target}-{rank}",
        "rank": rank,
        "type": "statement",
        "mainsnak": {
            "snaktype": "value",
            "property": property,
            "datatype": "wikibase-item",
            "datavalue": {"type": "wikibase-entityid", "value": value},
        },
    }


def text(property: str, value: str, datatype: str | None) -> dict[str, Any]:
    snak = {
        "snaktype": "value",
        "property": property,
        "datavalue": {"type": "string", "value": value},
    }
    if datatype is not None:
        snak["datatype"] = datatype
    return {"id": f"Q0${property}-{value}", "rank": "normal", "mainsnak": snak}


def entity(identifier: str, label: str, *statements: dict[str, Any], **more: Any) -> dict[str, Any]:
    claims: dict[str, list[Any]] = {}
    for statement in statements:
        statement = json.loads(json.dumps(statement).replace("Q0$", f"{identifier}$"))
        claims.setdefault(statement["mainsnak"]["property"], []).append(statement)
    labels = {"en": {"language": "en", "value": label}}
    kind = "item" if identifier.startswith("Q") else "property"
    return {"type": kind, "id": identifier, "labels": labels, "claims": claims} | more


DOCUMENTS = [
    entity("P31", "instance of", datatype="wikibase-item"),
    entity("P18", "image", datatype="commonsMedia"),
    entity("Q1", "One", link("P31", "Q5"), link("P31", "Q6", "deprecated"), modified="2025-02-03"),
    entity("Q2", "Two", link("P31", "Q5"), link("P31", "Q1", "preferred"), modified="2024-01-01"),
    entity("Q5", "Five", sitelinks={"enwiki": {"site": "enwiki", "title": "Five"}}),
    entity("Q7", "Old", text("P18", "A.jpg", None), text("P99", "plain", None)),
    entity("Q5", "Five again"),
]


def write(path: Path, documents: list[Any] = DOCUMENTS) -> Path:
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return path


def triples(folder: Path) -> set[ox.Triple]:
    return {quad.triple for quad in ox.Store.read_only(str(folder / "store"))}


def ask(folder: Path, pattern: str) -> bool:
    store = ox.Store.read_only(str(folder / "store"))
    return bool(store.query(f"{PREFIXES} ASK {{ {pattern} }}"))


def found(folder: Path, name: str, kind: Literal["item", "property"]) -> list[Any]:
    index = LabelIndex.open(folder / "labels")
    page = index.search(name, kind=kind, limit=9, offset=0)
    index.close()
    return [(hit.id, hit.datatype) for hit in page.hits]


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


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
    assert manifest.skipped == {}
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


def test_two_processes_make_the_same_graph(graph: Path, tmp_path: Path) -> None:
    path = graph.parent / "slice.jsonl"
    manifest = build_graph([path], tmp_path / "graph", jobs=2)
    assert manifest.counts == load_manifest(graph).counts
    assert said(triples(tmp_path / "graph")) == said(triples(graph))


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
    documents = [
        entity("Q1", "One", redirects={"from": "Q11", "to": "Q1"}),
        {"entity": "Q12", "redirect": "Q1"},
        {"entities": {"Q13": entity("Q2", "Two")}},
    ]
    manifest = build_graph([write(tmp_path / "a.jsonl", documents)], tmp_path / "graph")
    assert manifest.counts.redirects == 3
    for source, target in (("Q11", "Q1"), ("Q12", "Q1"), ("Q13", "Q2")):
        assert ask(tmp_path / "graph", f"wd:{source} owl:sameAs wd:{target}")


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


def cut_gzip(folder: Path) -> Path:
    path = folder / "cut.jsonl.gz"
    path.write_bytes(gzip.compress(write(folder / "a.jsonl").read_bytes())[:-20])
    return path


def open_array(folder: Path) -> Path:
    path = folder / "open.json"
    path.write_text("[\n" + ",\n".join(json.dumps(document) for document in DOCUMENTS))
    return path


def nothing(folder: Path) -> Path:
    path = folder / "nothing.jsonl"
    path.write_text("{}\n[]\n")
    return path


@pytest.mark.parametrize(
    ("make", "message", "jobs"),
    [
        (cut_gzip, r"cut\.jsonl\.gz ends early", 1),
        (cut_gzip, r"cut\.jsonl\.gz ends early", 2),
        (open_array, r"open\.json ends early: the array is not closed", 1),
        (nothing, r"No entity was found in nothing\.jsonl \(line 1: it has no id\)", 1),
        (lambda folder: folder / "missing.json", r"missing\.json cannot be read", 1),
    ],
)
def test_failed_build_leaves_nothing(make: Any, message: str, jobs: int, tmp_path: Path) -> None:
    path = make(tmp_path)
    with pytest.raises(GraphSetupError, match=message) as caught:
        build_graph([path], tmp_path / "graph", jobs=jobs)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "graph").exists()
    assert leftovers(tmp_path) == []
    assert multiprocessing.active_children() == []


def test_dead_process_ends_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_work", _die)
    with pytest.raises(GraphSetupError, match="ended without a word"):
        build_graph([write(tmp_path / "a.jsonl")], tmp_path / "graph", jobs=2)
    assert leftovers(tmp_path) == []


def _die(connection: Any, folder: Path, name: str) -> None:
    os._exit(9)


@pytest.mark.parametrize(
    ("phase", "jobs"), [("read", 2), ("read", 1), ("links", 1), ("labels", 1), ("store", 1)]
)
def test_interrupted_build_leaves_nothing(phase: str, jobs: int, tmp_path: Path) -> None:
    def interrupt(progress: BuildProgress) -> None:
        if progress.phase == phase:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_graph(
            [write(tmp_path / "a.jsonl")], tmp_path / "graph", jobs=jobs, progress=interrupt
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl"]
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_in_a_terminal(jobs: int, tmp_path: Path) -> None:
    """A real SIGINT to the whole process group, in the midst of reading."""
    path = tmp_path / "endless.json"
    os.mkfifo(path)
    program = [sys.executable, "-m", "tests.support.build"]
    command = [*program, str(path), str(tmp_path / "graph"), str(jobs)]
    process = subprocess.Popen(
        command, cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    with path.open("w") as pipe:
        for number in range(1, 3000):
            pipe.write(json.dumps(entity(f"Q{number}", "x" * 1000)) + "\n")
        pipe.flush()
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert errors.strip().splitlines()[-1:] == ["KeyboardInterrupt"], errors
    assert errors.count("Traceback") == 1, errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["endless.json"]


def test_target_that_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl")
    (tmp_path / "empty").mkdir()
    build_graph([path], tmp_path / "empty")
    with pytest.raises(GraphSetupError, match="is a graph folder already"):
        build_graph([path], tmp_path / "empty")
    other = write(tmp_path / "b.jsonl", DOCUMENTS[:3])
    manifest = build_graph([other], tmp_path / "empty", overwrite=True)
    assert load_manifest(tmp_path / "empty").counts == manifest.counts
    assert manifest.counts.items == 1
    with pytest.raises(GraphSetupError, match=r"b\.jsonl is a file"):
        build_graph([path], other, overwrite=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("Dear Sir")
    with pytest.raises(GraphSetupError, match="not empty and not a graph folder"):
        build_graph([path], tmp_path / "full", overwrite=True)
    assert (tmp_path / "full" / "letter.txt").read_text() == "Dear Sir"
    assert leftovers(tmp_path) == []


def test_graph_that_cannot_be_replaced_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old graph keeps its place until the new one is whole."""
    path = write(tmp_path / "a.jsonl")
    before = build_graph([path], tmp_path / "graph")
    monkeypatch.setattr(pipeline, "build_labels", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build_graph([path], tmp_path / "graph", overwrite=True)
    assert load_manifest(tmp_path / "graph") == before


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
    assert read.seconds_left == 0


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
