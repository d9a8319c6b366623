"""Names of the RDF model: ids and IRIs, sites, language tags, datatypes."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_functions import rdf
from kg_functions.build.ntriples import iri, language_suffix, literal
from kg_functions.build.sites import Site, language_tag, site
from kg_functions.build.statements import statement_name
from kg_functions.datatypes import datatype_iri, datatype_name
from kg_functions.rdf import WDS, entity_id, entity_iri, statement_id

NUMBERS = st.integers(1, 10**9)
UUIDS = st.uuids().map(str)


@given(entity=st.sampled_from(["Q1", "q42", "P31", "p31", "L7", "l7-f2", "L7-S1"]), uuid=UUIDS)
def test_statement_ids_and_iris(entity: str, uuid: str) -> None:
    for identifier in (f"{entity}${uuid}", f"{entity}${uuid.upper()}"):
        assert statement_id(WDS + statement_name(identifier)) == identifier


def test_statement_names() -> None:
    assert statement_id(WDS + statement_name("Q42$derived-3")) == "Q42$derived-3"
    assert statement_id(WDS + statement_name("L7$F1234567-A")) == "L7$F1234567-A"
    assert statement_name("q42$ABC-1") == "q42-ABC-1"
    assert statement_id("http://www.wikidata.org/entity/Q42") is None
    assert statement_id("http://www.wikidata.org/entity/statement/Q42") is None


@given(st.sampled_from("QPLE"), NUMBERS)
def test_entity_ids_and_iris(letter: str, number: int) -> None:
    assert entity_id(entity_iri(f"{letter}{number}")) == f"{letter}{number}"


@pytest.mark.parametrize(
    "address",
    [
        "http://www.wikidata.org/entity/statement/Q42-A",
        "http://www.wikidata.org/entity/Q042",
        "http://example.org/entity/Q42",
        "Q42",
    ],
)
def test_other_iris_name_no_entity(address: str) -> None:
    assert entity_id(address) is None


def test_prefixes_are_sparql() -> None:
    store = ox.Store()
    for name in rdf.NAMESPACES:
        assert store.query(f"{rdf.PREFIXES} ASK {{ BIND({name}:x AS ?x) }}")


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("enwiki", Site("https://en.wikipedia.org/", "en", "wikipedia")),
        ("zh_yuewiki", Site("https://zh-yue.wikipedia.org/", "yue", "wikipedia")),
        ("nowikinews", Site("https://no.wikinews.org/", "nb", "wikinews")),
        ("be_x_oldwiki", Site("https://be-tarask.wikipedia.org/", "be-tarask", "wikipedia")),
        ("nds_nlwiki", Site("https://nds-nl.wikipedia.org/", "nds-NL", "wikipedia")),
        ("specieswiki", Site("https://species.wikimedia.org/", "en", "species")),
        ("wikidatawiki", Site("https://www.wikidata.org/", "en", "wikidata")),
        ("frwiktionary", Site("https://fr.wiktionary.org/", "fr", "wiktionary")),
        ("nosuch", None),
        ("", None),
        ("wiki", None),
    ],
)
def test_sites(identifier: str, expected: Site | None) -> None:
    assert site(identifier) == expected


@pytest.mark.parametrize(
    ("code", "tag"),
    [
        ("simple", "en-simple"),
        ("zh-hans", "zh-Hans"),
        ("pt-br", "pt-BR"),
        ("sr-ec", "sr-EC"),
        ("de-x-formal", "de-x-formal"),
        ("crh", "crh-Latn"),
    ],
)
def test_language_tags(code: str, tag: str) -> None:
    assert language_tag(code) == tag


@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("wikibase-item", "WikibaseItem"),
        ("commonsMedia", "CommonsMedia"),
        ("globe-coordinate", "GlobeCoordinate"),
        ("external-id", "ExternalId"),
        ("monolingualtext", "Monolingualtext"),
        ("entity-schema", "WikibaseEntitySchema"),
        ("some-new thing", "SomeNewThing"),
    ],
)
def test_datatypes(name: str, local: str) -> None:
    assert datatype_iri(name) == rdf.WIKIBASE + local
    assert datatype_name(datatype_iri(name)) == (local if name == "some-new thing" else name)


def test_older_spelling_of_a_datatype() -> None:
    assert datatype_name(rdf.WIKIBASE + "Globecoordinate") == "globe-coordinate"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_survives_as_a_literal(text: str) -> None:
    line = f"<http://x/s> <http://x/p> {literal(text)} .\n"
    (triple,) = ox.parse(line.encode(), ox.RdfFormat.N_TRIPLES)
    assert triple.object.value == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_makes_an_iri_that_can_be_read(text: str) -> None:
    line = f"<http://x/s> <http://x/p> {iri('http://x/' + text)} .\n"
    (triple,) = ox.parse(line.encode(), ox.RdfFormat.N_TRIPLES, lenient=True)
    assert isinstance(triple.object, ox.NamedNode)


@given(st.text(max_size=12))
def test_every_language_code_can_be_read_or_is_dropped(code: str) -> None:
    line = f'<http://x/s> <http://x/p> "x"{language_suffix(code)} .\n'
    (triple,) = ox.parse(line.encode(), ox.RdfFormat.N_TRIPLES, lenient=True)
    assert triple.object.value == "x"
