"""An independent check: what the functions say against Wikidata's JSON, for 200 whole items."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from kg_functions.opening import open_graph
from tests.support import json_values as own
from tests.support.data import shared_data

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kg_functions.graph import Graph

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def documents() -> dict[str, own.Json]:
    return {one["id"]: one for one in own.entities(shared_data("wikidata", "rich.jsonl.gz"))}


@pytest.fixture(scope="module")
def datatypes(documents: dict[str, own.Json]) -> dict[str, str]:
    return own.datatypes(documents.values())


@pytest.fixture(scope="module")
def graph(datatypes: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    from kg_functions.build.pipeline import build_graph

    folder = tmp_path_factory.mktemp("rich")
    properties = _write_properties(datatypes, folder / "properties.jsonl")
    build_graph([properties, shared_data("wikidata", "rich.jsonl.gz")], folder / "graph")
    opened = open_graph(folder / "graph")
    yield opened
    opened.close()


def test_every_statement(
    graph: Graph, documents: dict[str, own.Json], datatypes: dict[str, str]
) -> None:
    answers = graph.claims(list(documents), rank="nondeprecated", limit=10_000)
    deprecated = graph.claims(list(documents), rank="deprecated", limit=10_000)
    compared: Counter[str] = Counter()
    for identifier, document in documents.items():
        assert answers[identifier]["next_offset"] is None
        found = {
            one["id"]: one
            for answer in (answers[identifier], deprecated[identifier])
            for one in answer["statements"]
        }
        wanted = {one["id"]: one for one in own.statements(document)}
        assert found.keys() == wanted.keys(), identifier
        for key, statement in wanted.items():
            shown = found[key]
            assert shown["property"] == statement["mainsnak"]["property"]
            assert shown["rank"] == statement["rank"], key
            assert own.reduced(shown["value"]) == own.expected(statement["mainsnak"], datatypes), (
                key
            )
            assert _reduced(shown["qualifiers"]) == _expected(
                own.grouped(statement.get("qualifiers")), datatypes
            ), key
            compared[shown["value"]["type"]] += 1
    assert compared.total() > 20_000
    assert {"entity", "time", "quantity", "coordinate", "text", "unknown", "none"} <= set(compared)


def test_every_reference(
    graph: Graph, documents: dict[str, own.Json], datatypes: dict[str, str]
) -> None:
    answers = graph.references(list(documents), limit=10_000)
    compared = 0
    for identifier, document in documents.items():
        wanted = {
            one["id"]: one
            for several in (document["claims"] or {}).values()
            for one in own.best(several)
        }
        found = {one["id"]: one for one in answers[identifier]["statements"]}
        assert found.keys() == wanted.keys(), identifier
        for key, statement in wanted.items():
            sources = Counter(_reduced(one) for one in found[key]["references"])
            assert sources == Counter(
                {
                    reference["hash"]: _expected(own.grouped(reference["snaks"]), datatypes)
                    for reference in statement.get("references", ())
                }.values()
            ), key
            compared += sources.total()
    assert compared > 7_000


def test_every_name(graph: Graph, documents: dict[str, own.Json]) -> None:
    answers = graph.describe(list(documents))
    for identifier, document in documents.items():
        found = answers[identifier]
        assert found["labels"] == own.chosen_texts(document["labels"], mul=True), identifier
        assert found["descriptions"] == own.chosen_texts(document["descriptions"], mul=False)
        assert found["aliases"] == own.chosen_texts(document["aliases"], mul=True), identifier
        sites = document["sitelinks"] or {}
        assert found["sitelinks"] == {
            code: sites[f"{code}wiki"]["title"] for code in own.LANGUAGES if f"{code}wiki" in sites
        }


def test_every_link(
    graph: Graph, documents: dict[str, own.Json], datatypes: dict[str, str]
) -> None:
    links = {
        (identifier, property_id, value[1])
        for identifier, document in documents.items()
        for property_id, several in (document["claims"] or {}).items()
        for value in (own.expected(one["mainsnak"], datatypes) for one in own.best(several))
        if value[0] == "entity" and value[1].startswith("Q")
    }
    answers = graph.edges(list(documents), limit=10_000)
    for identifier, answer in answers.items():
        found = {(e["direction"], e["property"], e["entity"]) for e in answer["edges"]}
        assert found == {("out", p, o) for s, p, o in links if s == identifier} | {
            ("in", p, s) for s, p, o in links if o == identifier
        }, identifier
        assert answer["total"] == len(found)


def _reduced(snaks: list[dict[str, Any]]) -> frozenset[tuple[str, Any]]:
    return frozenset((one["property"], own.reduced(one["value"])) for one in snaks)


def _expected(snaks: list[own.Json], datatypes: dict[str, str]) -> frozenset[tuple[str, Any]]:
    """As a set: RDF keeps equal qualifiers once."""
    return frozenset((one["property"], own.expected(one, datatypes)) for one in snaks)


def _write_properties(datatypes: dict[str, str], path: Path) -> Path:
    """Property documents with the datatypes that the items' own snaks state."""
    with path.open("w", encoding="utf-8") as file:
        for identifier, datatype in sorted(datatypes.items()):
            document = {
                "type": "property",
                "id": identifier,
                "datatype": datatype,
                "labels": {},
                "descriptions": {},
                "aliases": {},
                "claims": {},
            }
            file.write(json.dumps(document) + "\n")
    return path
