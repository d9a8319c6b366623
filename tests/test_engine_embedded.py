"""The embedded engine: terms, typed errors, and folders that are no stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyoxigraph
import pytest

from kg_functions.engines.embedded import EmbeddedEngine
from kg_functions.engines.protocol import Term
from kg_functions.errors import BackendDown, GraphSetupError, QuerySyntax
from kg_functions.rdf import XSD

if TYPE_CHECKING:
    from pathlib import Path

TURTLE = """
@prefix e: <http://e/> .
e:1 e:iri e:2 ; e:plain "a" ; e:text "b"@zh-Hant ; e:number 4 ; e:blank [] .
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    writer = pyoxigraph.Store(str(folder))
    writer.load(TURTLE.encode(), pyoxigraph.RdfFormat.TURTLE)
    writer.flush()
    del writer
    return folder


def test_terms(store: Path) -> None:
    engine = EmbeddedEngine.open(store)
    rows = engine.select("SELECT ?p ?o WHERE { <http://e/1> ?p ?o }")
    found = {row["p"].value.removeprefix("http://e/"): row["o"] for row in rows}
    assert found.pop("blank").kind == "blank"
    assert found == {
        "iri": Term("iri", "http://e/2"),
        "plain": Term("literal", "a"),
        "text": Term("literal", "b", None, "zh-hant"),
        "number": Term("literal", "4", XSD + "integer"),
    }


def test_an_unbound_variable_has_no_key(store: Path) -> None:
    engine = EmbeddedEngine.open(store)
    rows = engine.select("SELECT ?o ?x WHERE { <http://e/1> <http://e/plain> ?o }")
    assert rows == [{"o": Term("literal", "a")}]


def test_ask(store: Path) -> None:
    engine = EmbeddedEngine.open(store)
    assert engine.ask("ASK { <http://e/1> ?p ?o }") is True
    assert engine.ask("ASK { <http://e/3> ?p ?o }") is False


def test_errors(store: Path) -> None:
    engine = EmbeddedEngine.open(store)
    with pytest.raises(QuerySyntax):
        engine.select("SELECT nonsense")
    with pytest.raises(QuerySyntax):
        engine.select("ASK { ?s ?p ?o }")
    with pytest.raises(QuerySyntax):
        engine.ask("SELECT * WHERE { ?s ?p ?o }")
    engine.close()
    engine.close()
    with pytest.raises(BackendDown, match="closed"):
        engine.ask("ASK { ?s ?p ?o }")


def test_folders_that_are_no_stores(tmp_path: Path) -> None:
    with pytest.raises(GraphSetupError, match="is not there"):
        EmbeddedEngine.open(tmp_path / "missing")
    with pytest.raises(GraphSetupError, match="not an RDF store"):
        EmbeddedEngine.open(tmp_path)
    assert list(tmp_path.iterdir()) == [], "looking must leave nothing behind"
    (tmp_path / "CURRENT").write_text("nonsense")
    with pytest.raises(GraphSetupError, match="cannot be opened"):
        EmbeddedEngine.open(tmp_path)
