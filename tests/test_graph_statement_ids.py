"""Statement ids in JSON form and as IRIs, also where a UUID begins like a form's number."""

from __future__ import annotations

import pytest

from kg_functions.build.statements import statement_name
from kg_functions.rdf import WDS, statement_id

UUID = "F2416336-CE6B-4463-A729-7A0A93E8D73C"


@pytest.mark.parametrize(
    "identifier",
    [f"Q5${UUID}", f"q42${UUID}", f"P31${UUID}", f"L12${UUID}", f"L12-F3${UUID}", "Q42$derived-3"],
)
def test_there_and_back(identifier: str) -> None:
    assert statement_id(WDS + statement_name(identifier)) == identifier


@pytest.mark.parametrize("iri", ["http://example.org/Q5-1", WDS + "Q5", WDS + "X5-1", WDS])
def test_other_iris(iri: str) -> None:
    assert statement_id(iri) is None
