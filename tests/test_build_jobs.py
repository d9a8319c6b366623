"""Several processes: the same graph whoever converts what, and a clear end where one dies."""

from __future__ import annotations

import multiprocessing
import queue
import random
import signal
from typing import TYPE_CHECKING, Any

import pytest

from kg_functions.build import naming, pipeline, reading, workers
from kg_functions.build.chunks import Chunk, Format
from kg_functions.build.pipeline import build_graph
from kg_functions.build.staging import Staged, deferred_chunks, merged_datatypes, read_names
from kg_functions.errors import GraphSetupError
from kg_functions.manifest import load_manifest
from tests.support.build_documents import (
    DOCUMENTS,
    ask,
    entity,
    found,
    leftovers,
    text,
    triples,
    write,
)
from tests.support.triples import said

if TYPE_CHECKING:
    from pathlib import Path

# The property's document says string, a snak elsewhere what it is, an old document nothing.
WEAK = [
    entity("P77", "address", datatype="string"),
    *DOCUMENTS,
    entity("Q20", "Stated", text("P77", "http://example.org/a", "url")),
    entity("Q21", "Old", text("P77", "http://example.org/b", None)),
    entity("Q20", "Stated again", text("P77", "http://example.org/c", "string")),
]


def test_two_processes_make_the_same_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "slice.jsonl", WEAK)
    build_graph([path], tmp_path / "one")
    # A chunk a document, so that neither process can take them all.
    monkeypatch.setattr(reading, "CHUNK_BYTES", 1)
    monkeypatch.setattr(reading, "_HEAD", 1)
    monkeypatch.setattr("kg_functions.build.compression._BLOCK", 64)
    shares: list[int] = []

    def build_labels(files: Any, *rest: Any) -> Any:
        shares.extend(file.stat().st_size for file in files)
        return real(files, *rest)

    real = naming.build_labels
    monkeypatch.setattr(pipeline, "build_labels", build_labels)
    manifest = build_graph([path], tmp_path / "two", jobs=2)
    assert len(shares) == 3
    assert all(shares), "both processes and the step for deferred documents had something to do"
    expected = load_manifest(tmp_path / "one")
    assert (manifest.counts, manifest.skipped) == (expected.counts, expected.skipped)
    assert said(triples(tmp_path / "two")) == said(triples(tmp_path / "one"))
    for folder in ("one", "two"):
        assert ask(tmp_path / folder, "wd:Q21 wdt:P77 <http://example.org/b>")
        assert found(tmp_path / folder, "stated", "item") == [("Q20", None)]
        assert found(tmp_path / folder, "stated again", "item") == []


def staged(path: Path, documents: dict[str, str], snaks: dict[str, str]) -> Staged:
    return Staged(path, path, path, datatypes=documents, snak_datatypes=snaks)


def test_datatypes_do_not_depend_on_who_met_them(tmp_path: Path) -> None:
    parts = [
        staged(tmp_path, {"P1": "string", "P2": "url"}, {"P3": "string"}),
        staged(tmp_path, {"P1": "math"}, {"P1": "url", "P3": "external-id"}),
        staged(tmp_path, {}, {"P1": "commonsMedia", "P4": "string"}),
        staged(tmp_path, {"P4": "url"}, {}),
    ]
    expected = {"P1": "commonsMedia", "P2": "url", "P3": "external-id", "P4": "string"}
    for seed in range(10):
        random.Random(seed).shuffle(parts)
        assert merged_datatypes(parts) == expected


def test_what_is_staged_comes_in_the_order_of_the_inputs(tmp_path: Path) -> None:
    """Whichever process had which chunk, the first document of an entity stays the first."""
    places = [[(0, 2), (1, 1), (1, 9)], [(0, 1), (0, 30), (1, 2)], []]
    files = [tmp_path / str(number) for number in range(3)]
    for path, several in zip(files, places, strict=True):
        path.write_text("".join(f'[{input}, {line}, "Q1"]\n' for input, line in several))
    ordered = sorted(place for several in places for place in several)
    assert [place for place, _ in read_names(files)] == ordered
    for path, several in zip(files, places, strict=True):
        path.write_text("".join(f'["a", {input}, {line}]\t{{}}\n' for input, line in several))
    assert [(chunk.input, chunk.line) for chunk in deferred_chunks(files)] == ordered


def test_dead_process_ends_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_work", _die)
    with pytest.raises(GraphSetupError, match="ended without a word"):
        build_graph([write(tmp_path / "a.jsonl")], tmp_path / "graph", jobs=2)
    assert leftovers(tmp_path) == []


def _die(connection: Any, folder: Path, name: str) -> None:
    import os

    os._exit(9)


def test_a_process_that_is_dead_already_is_no_broken_pipe() -> None:
    ours, theirs = multiprocessing.Pipe()
    theirs.close()
    chunk = Chunk("a.jsonl", 0, 1, b"{}", Format.JSON)
    exchange = workers._Exchange(iter([chunk]), queue.Queue())
    workers._accompany(ours, exchange)
    ours.close()
    assert "ended without a word" in str(exchange.results.get_nowait())


def test_ctrl_c_does_not_reach_processes_that_are_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_work", _tell_signals)
    with pytest.raises(GraphSetupError, match="held back"):
        build_graph([write(tmp_path / "a.jsonl")], tmp_path / "graph", jobs=2)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def _tell_signals(connection: Any, folder: Path, name: str) -> None:
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    connection.recv()
    held = "held back" if signal.SIGINT in blocked else "delivered"
    connection.send(GraphSetupError(f"SIGINT is {held}"))
