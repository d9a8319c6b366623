"""Lines that are a little off: what can still be read is read, the rest is reported by number."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyoxigraph as ox
import pytest

from kg_functions.build import reading
from kg_functions.build.compression import ByteSource
from kg_functions.build.documents import Document, documents
from kg_functions.build.pipeline import build_graph
from kg_functions.build.problems import Problem
from kg_functions.build.reading import read_chunks
from kg_functions.errors import GraphSetupError
from tests.support.build_documents import entity, triples

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = (json.dumps({"id": identifier}) for identifier in ("Q1", "Q2"))


def read(path: Path, content: str) -> list[tuple[int, str]]:
    """The line and id of every document, or the line and reason of a problem."""
    path.write_text(content)
    with ByteSource(path) as source:
        found = [document for chunk in read_chunks(source) for document in documents(chunk)]
    return [
        (one.line, one.content["id"] if isinstance(one, Document) else one.reason)
        for one in found
        if isinstance(one, (Document, Problem))
    ]


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json"])
@pytest.mark.parametrize("first", ["{broken", "what?", '{"id": "Q9",'])
def test_a_bad_first_line_is_skipped(name: str, first: str, tmp_path: Path) -> None:
    found = read(tmp_path / name, f"{first}\n{ONE}\n{TWO}\n")
    assert found == [(1, "not JSON"), (2, "Q1"), (3, "Q2")]


def test_a_name_that_says_lines_is_believed(tmp_path: Path) -> None:
    bad = 50
    found = read(tmp_path / "a.jsonl", "{broken\n" * bad + f"{ONE}\n")
    assert [what for _, what in found] == ["not JSON"] * bad + ["Q1"]


def test_a_bad_first_line_of_a_long_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no more is read ahead than a single document may be long."""
    monkeypatch.setattr(reading, "_LARGEST_DOCUMENT", 100)
    monkeypatch.setattr("kg_functions.build.compression._BLOCK", 64)
    content = "{broken\n" + f"{ONE}\n" * 50
    assert read(tmp_path / "a.json", content) == [
        (1, "not JSON"),
        *((line, "Q1") for line in range(2, 52)),
    ]
    with pytest.raises(GraphSetupError, match="neither one entity a line nor a single document"):
        read(tmp_path / "b.json", "{\n" + " \n" * 200)


def test_a_single_document_may_hold_documents_on_lines_of_their_own(tmp_path: Path) -> None:
    content = '{"entities": {"Q1":\n' + ONE + '\n, "Q2":\n' + TWO + "\n}}\n"
    assert read(tmp_path / "a.json", content) == [(1, "Q1"), (1, "Q2")]


@pytest.mark.parametrize(
    "content",
    [
        f"{ONE}\n,{TWO}\n",
        f"[\n{ONE}\n,{TWO}\n]\n",
        f"[{ONE}\n , {TWO}]",
        f"[\n{ONE}\n]\n[\n{TWO}\n]\n",
        f"[{ONE}]\n[{TWO}]\n",
        f"[{ONE}][{TWO}]",
        f"[\n{ONE},\n][\n{TWO}\n]\n",
    ],
)
def test_commas_and_arrays_however_they_stand(content: str, tmp_path: Path) -> None:
    found = read(tmp_path / "a.json", content)
    assert [what for _, what in found] == ["Q1", "Q2"]


def test_blank_nodes_of_two_n_triples_files_stay_apart(tmp_path: Path) -> None:
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://wikiba.se/ontology#Item> ."
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    for name, item in (("a.nt", "Q1"), ("b.nt", "Q2")):
        subject = f"<http://www.wikidata.org/entity/{item}>"
        (tmp_path / name).write_text(
            f"{subject} {kind}\n"
            f"{subject} <http://x/p> _:b1 .\n_:b1<http://x/q>_:b2.\n_:b2 <http://x/q> _:b1 .\n"
            f'{subject} {label} "_:b1 in a text" . # and _:b2 .\n'
        )
    build_graph([tmp_path / "a.nt", tmp_path / "b.nt"], tmp_path / "graph")
    found = triples(tmp_path / "graph")
    ends = {t.object for t in found if t.predicate.value == "http://x/p"}
    assert len(ends) == 2
    assert all(isinstance(end, ox.BlankNode) for end in ends)
    assert sum(t.predicate.value == "http://x/q" for t in found) == 4
    for end in ends:
        # Within a file equal labels stay one node.
        assert sum(end in (t.subject, t.object) for t in found) == 3
    labels = {str(t.object) for t in found if t.predicate.value.endswith("#label")}
    assert labels == {'"_:b1 in a text"'}


def test_a_bad_first_line_in_a_build(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{broken\n" + json.dumps(entity("Q1", "One")) + "\n")
    reported: list[str] = []
    manifest = build_graph([path], tmp_path / "graph", report=reported.append)
    assert manifest.counts.items == 1
    assert [line.split(": ")[:3] for line in reported] == [
        ["a.jsonl line 1", "skipped", "not JSON"]
    ]
