"""What single documents become: every kind of value, old generations of JSON, properties, lexemes.

The expected triples are written out by hand, as Wikibase's description of its RDF has them.
"""

from __future__ import annotations

from typing import Any

import pyoxigraph as ox
import pytest

from kg_functions.build.convert import Converter
from kg_functions.build.values import UnknownDatatypeError
from kg_functions.rdf import NAMESPACES
from tests.support.triples import converted, parse, said

PREFIXES = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in NAMESPACES.items())


def turtle(text: str) -> set[ox.Triple]:
    return parse(PREFIXES + text)


def snak(property: str, datatype: str | None, value: Any, kind: str = "string") -> dict[str, Any]:
    found = {"snaktype": "value", "property": property, "datavalue": {"value": value, "type": kind}}
    return found if datatype is None else found | {"datatype": datatype}


def statement(main: dict[str, Any], rank: str = "normal", **more: Any) -> dict[str, Any]:
    identifier = more.pop("id", "Q1$A-1")
    return {"id": identifier, "type": "statement", "rank": rank, "mainsnak": main, **more}


def item(*statements: dict[str, Any], **more: Any) -> dict[str, Any]:
    claims: dict[str, list[Any]] = {}
    for each in statements:
        claims.setdefault(each["mainsnak"]["property"], []).append(each)
    return {"type": "item", "id": "Q1", "claims": claims, **more}


def about(document: dict[str, Any], *predicates: str) -> set[Any]:
    """What the converter says with the given predicates (or everything), metadata left out."""
    return {
        fact
        for fact in said(converted(document))
        if "Special:EntityData" not in fact.subject
        and (not predicates or fact.predicate.startswith(predicates))
    }


VALUES = {
    "item": (
        snak("P1", "wikibase-item", {"entity-type": "item", "id": "Q5"}, "wikibase-entityid"),
        "wd:Q5",
        None,
    ),
    "item of an old document": (
        snak("P1", None, {"entity-type": "item", "numeric-id": 5}, "wikibase-entityid"),
        "wd:Q5",
        None,
    ),
    "property of an old document": (
        snak("P1", None, {"entity-type": "property", "numeric-id": 31}, "wikibase-entityid"),
        "wd:P31",
        None,
    ),
    "form": (
        snak("P1", "wikibase-form", {"entity-type": "form", "id": "L7-F2"}, "wikibase-entityid"),
        "wd:L7-F2",
        None,
    ),
    "text with everything to escape": (
        snak("P1", "string", 'a "quoted" \\ back\nslash\r\ttab \u00e9 \U0001f600'),
        '"a \\"quoted\\" \\\\ back\\nslash\\r\\ttab \u00e9 \U0001f600"',
        None,
    ),
    "external identifier": (snak("P1", "external-id", " n79 "), '"n79"', None),
    "formula": (snak("P1", "math", "a^2"), '"a^2"', None),
    "notation": (snak("P1", "musical-notation", "c'4"), '"c\'4"', None),
    "address": (
        snak("P1", "url", " http://x.org/a b?q={1}|2 "),
        "<http://x.org/a%20b?q=%7B1%7D%7C2>",
        None,
    ),
    "file": (
        snak("P1", "commonsMedia", "A \u00fc (1)'s.jpg"),
        "<http://commons.wikimedia.org/wiki/Special:FilePath/A%20%C3%BC%20%281%29%27s.jpg>",
        None,
    ),
    "shape": (
        snak("P1", "geo-shape", "Data:New York.map"),
        "<http://commons.wikimedia.org/data/main/Data:New+York.map>",
        None,
    ),
    "table": (
        snak("P1", "tabular-data", "Data:A/B.tab"),
        "<http://commons.wikimedia.org/data/main/Data:A/B.tab>",
        None,
    ),
    "text with a language": (
        snak("P1", "monolingualtext", {"text": "hi", "language": "en"}, "monolingualtext"),
        '"hi"@en',
        None,
    ),
    "text in no language": (
        snak("P1", "monolingualtext", {"text": "hi", "language": "?"}, "monolingualtext"),
        '"hi"',
        None,
    ),
    "time before Christ": (
        snak(
            "P1",
            "time",
            {
                "time": "-0044-03-15T00:00:00Z",
                "timezone": 60,
                "before": 0,
                "after": 0,
                "precision": 11,
                "calendarmodel": "http://www.wikidata.org/entity/Q1985786",
            },
            "time",
        ),
        '"-0043-03-13T00:00:00Z"^^xsd:dateTime',
        """a wikibase:TimeValue ; wikibase:timeValue "-0043-03-13T00:00:00Z"^^xsd:dateTime ;
        wikibase:timePrecision "11"^^xsd:integer ; wikibase:timeTimezone "60"^^xsd:integer ;
        wikibase:timeCalendarModel wd:Q1985786""",
    ),
    "time that is none": (
        snak(
            "P1",
            "time",
            {
                "time": "+0000-00-00T00:00:00Z",
                "precision": 9,
                "calendarmodel": "http://www.wikidata.org/entity/Q1985727",
            },
            "time",
        ),
        '"+0000-00-00T00:00:00Z"',
        """a wikibase:TimeValue ; wikibase:timeValue "+0000-00-00T00:00:00Z" ;
        wikibase:timePrecision "9"^^xsd:integer ; wikibase:timeTimezone "0"^^xsd:integer ;
        wikibase:timeCalendarModel wd:Q1985727""",
    ),
    "bare number": (
        snak("P1", "quantity", {"amount": "+1.50", "unit": "1"}, "quantity"),
        '"+1.50"^^xsd:decimal',
        """a wikibase:QuantityValue ; wikibase:quantityAmount "+1.50"^^xsd:decimal ;
        wikibase:quantityUnit wd:Q199""",
    ),
    "quantity with bounds": (
        snak(
            "P1",
            "quantity",
            {
                "amount": "-3",
                "unit": "http://www.wikidata.org/entity/Q11573",
                "upperBound": "-2",
                "lowerBound": "-4",
            },
            "quantity",
        ),
        '"-3"^^xsd:decimal',
        """a wikibase:QuantityValue ; wikibase:quantityAmount "-3"^^xsd:decimal ;
        wikibase:quantityUpperBound "-2"^^xsd:decimal ;
        wikibase:quantityLowerBound "-4"^^xsd:decimal ; wikibase:quantityUnit wd:Q11573""",
    ),
    "place on the Moon": (
        snak(
            "P1",
            "globe-coordinate",
            {
                "latitude": 20.5,
                "longitude": -0.14544444444444444,
                "altitude": None,
                "precision": None,
                "globe": "http://www.wikidata.org/entity/Q405",
            },
            "globecoordinate",
        ),
        '"<http://www.wikidata.org/entity/Q405> Point(-0.14544444444444 20.5)"^^geo:wktLiteral',
        """a wikibase:GlobecoordinateValue, wikibase:GeoAutoPrecision ;
        wikibase:geoLatitude "20.5"^^xsd:double ;
        wikibase:geoLongitude "-0.14544444444444"^^xsd:double ;
        wikibase:geoPrecision "0.00027777777777778"^^xsd:double ; wikibase:geoGlobe wd:Q405""",
    ),
    "place on Earth": (
        snak(
            "P1",
            "globe-coordinate",
            {"latitude": 52, "longitude": 1e-5, "precision": 2.7777777777777e-05, "globe": None},
            "globecoordinate",
        ),
        '"Point(1.0E-5 52)"^^geo:wktLiteral',
        """a wikibase:GlobecoordinateValue ; wikibase:geoLatitude "52"^^xsd:double ;
        wikibase:geoLongitude "1.0E-5"^^xsd:double ;
        wikibase:geoPrecision "2.7777777777777E-5"^^xsd:double ; wikibase:geoGlobe wd:Q2""",
    ),
}


@pytest.mark.parametrize("kind", VALUES)
def test_value_as_statement_qualifier_and_reference(kind: str) -> None:
    value, simple, node = VALUES[kind]
    document = item(
        statement(
            value,
            qualifiers={"P2": [value | {"property": "P2"}]},
            references=[{"hash": "0" * 40, "snaks": {"P3": [value | {"property": "P3"}]}}],
        )
    )
    nodes = (
        f"""wds:Q1-A-1 psv:P1 wdv:x ; pqv:P2 wdv:x . wdref:r prv:P3 wdv:x . wdv:x {node} ."""
        if node
        else ""
    )
    expected = turtle(
        f"""wd:Q1 a wikibase:Item ; p:P1 wds:Q1-A-1 ; wdt:P1 {simple} .
        wds:Q1-A-1 a wikibase:Statement, wikibase:BestRank ; wikibase:rank wikibase:NormalRank ;
            ps:P1 {simple} ; pq:P2 {simple} ; prov:wasDerivedFrom wdref:r .
        wdref:r a wikibase:Reference ; pr:P3 {simple} . {nodes}"""
    )
    assert about(document) == said(expected)


@pytest.mark.parametrize(
    ("ranks", "best"),
    [
        ("normal normal", "12"),
        ("normal preferred", "2"),
        ("preferred preferred deprecated", "12"),
        ("deprecated normal", "2"),
        ("deprecated", ""),
    ],
)
def test_best_rank_alone_is_truthy(ranks: str, best: str) -> None:
    statements = [
        statement(snak("P1", "string", str(number)), rank, id=f"q1${number}")
        for number, rank in enumerate(ranks.split(), 1)
    ]
    facts = converted(item(*statements))
    truthy = {t.object.value for t in facts if t.predicate.value.endswith("/direct/P1")}
    marked = {t.subject.value[-1] for t in facts if t.object.value.endswith("#BestRank")}
    assert truthy == marked == set(best)
    assert {t.object.value for t in facts if t.predicate.value.endswith("#rank")} == {
        f"http://wikiba.se/ontology#{rank.capitalize()}Rank" for rank in ranks.split()
    }


def test_unknown_and_no_value() -> None:
    """Unknown is a blank node of its own in each place (B46), no value a class (B47)."""
    unknown = {"snaktype": "somevalue", "property": "P1", "datatype": "string"}
    nothing = {"snaktype": "novalue", "property": "P2", "datatype": "string"}
    document = item(
        statement(unknown, qualifiers={"P2": [nothing]}),
        statement(nothing, id="Q1$B", references=[{"snaks": {"P2": [nothing], "P1": [unknown]}}]),
    )
    expected = turtle(
        """wd:Q1 a wikibase:Item, wdno:P2 ; p:P1 wds:Q1-A-1 ; p:P2 wds:Q1-B ; wdt:P1 [] .
        wds:Q1-A-1 a wikibase:Statement, wikibase:BestRank, wdno:P2 ;
            wikibase:rank wikibase:NormalRank ; ps:P1 [] .
        wds:Q1-B a wikibase:Statement, wikibase:BestRank, wdno:P2 ;
            wikibase:rank wikibase:NormalRank ; prov:wasDerivedFrom wdref:r .
        wdref:r a wikibase:Reference, wdno:P2 ; pr:P1 [] ."""
    )
    assert about(document) == said(expected)
    blank = [t.object for t in converted(document) if isinstance(t.object, ox.BlankNode)]
    assert len(set(blank)) == len(blank) == 3


def test_terms_and_sitelinks() -> None:
    document = item(
        labels={"en": {"language": "en", "value": "A"}, "mul": {"language": "mul", "value": "M"}},
        descriptions={"zh-tw": {"language": "zh-tw", "value": "D"}},
        aliases={"fr": [{"language": "fr", "value": "B"}, {"language": "fr", "value": "C"}]},
        sitelinks={
            "simplewiki": {"site": "simplewiki", "title": "A B/C: d?", "badges": ["Q17437796"]},
            "nowiki": {"site": "nowiki", "title": "\u00d8", "badges": []},
            "be_x_oldwikiquote": {"site": "be_x_oldwikiquote", "title": "x"},
            "commonswiki": {"site": "commonswiki", "title": "Category:X (y)"},
            "nosuch": {"site": "nosuch", "title": "lost"},
        },
    )
    expected = turtle(
        """wd:Q1 a wikibase:Item ; rdfs:label "A"@en, "M"@mul ; skos:prefLabel "A"@en, "M"@mul ;
            schema:name "A"@en, "M"@mul ; schema:description "D"@zh-tw ;
            skos:altLabel "B"@fr, "C"@fr .
        <https://simple.wikipedia.org/wiki/A_B/C:_d%3F> a schema:Article ; schema:about wd:Q1 ;
            schema:inLanguage "en-simple" ; schema:isPartOf <https://simple.wikipedia.org/> ;
            schema:name "A B/C: d?"@en-simple ; wikibase:badge wd:Q17437796 .
        <https://no.wikipedia.org/wiki/%C3%98> a schema:Article ; schema:about wd:Q1 ;
            schema:inLanguage "nb" ; schema:isPartOf <https://no.wikipedia.org/> ;
            schema:name "\u00d8"@nb .
        <https://be-tarask.wikiquote.org/wiki/x> a schema:Article ; schema:about wd:Q1 ;
            schema:inLanguage "be-tarask" ; schema:isPartOf <https://be-tarask.wikiquote.org/> ;
            schema:name "x"@be-tarask .
        <https://commons.wikimedia.org/wiki/Category:X_(y)> a schema:Article ;
            schema:about wd:Q1 ; schema:inLanguage "en" ;
            schema:isPartOf <https://commons.wikimedia.org/> ; schema:name "Category:X (y)"@en .
        <https://simple.wikipedia.org/> wikibase:wikiGroup "wikipedia" .
        <https://no.wikipedia.org/> wikibase:wikiGroup "wikipedia" .
        <https://be-tarask.wikiquote.org/> wikibase:wikiGroup "wikiquote" .
        <https://commons.wikimedia.org/> wikibase:wikiGroup "commons" ."""
    )
    assert about(document) == said(expected)
    entity = Converter().convert(document, [])
    assert entity.sitelinks == 4
    assert entity.problems == [("sitelink to an unknown wiki", "nosuch")]
    assert entity.labels == {"en": "A", "mul": "M"}
    assert entity.aliases == {"fr": ["B", "C"]}


def test_metadata() -> None:
    document = item(
        statement(snak("P1", "external-id", "x")),
        statement(snak("P2", "string", "x"), id="Q1$B"),
        lastrevid=7,
        modified="2025-01-02T03:04:05Z",
        sitelinks={"enwiki": {"site": "enwiki", "title": "A", "badges": []}},
        redirects={"from": "Q9", "to": "Q1"},
    )
    expected = turtle(
        """data:Q1 a schema:Dataset ; schema:about wd:Q1 ; schema:version "7"^^xsd:integer ;
            schema:dateModified "2025-01-02T03:04:05Z"^^xsd:dateTime ;
            wikibase:statements "2"^^xsd:integer ; wikibase:sitelinks "1"^^xsd:integer ;
            wikibase:identifiers "1"^^xsd:integer . wd:Q9 owl:sameAs wd:Q1 ."""
    )
    facts = said(converted(document))
    assert said(expected) <= facts
    assert {f for f in facts if "EntityData" in f.subject} == {
        f for f in said(expected) if "EntityData" in f.subject
    }


def test_old_documents_have_lists_where_objects_are_empty() -> None:
    document = item(
        statement(snak("P1", "string", "x"), qualifiers=[], references=[{"snaks": []}]),
        labels=[],
        descriptions=[],
        aliases=[],
        sitelinks=[],
    )
    assert len(about(document, "http://www.wikidata.org/prop/")) == 3
    assert about({"type": "item", "id": "Q1", "claims": []}) == said(
        turtle("wd:Q1 a wikibase:Item .")
    )


def test_text_without_datatype_takes_the_property_s() -> None:
    document = item(statement(snak("P18", None, "A b.jpg")))
    with pytest.raises(UnknownDatatypeError):
        converted(document)
    lines: list[str] = []
    Converter({"P18": "commonsMedia"}, assume_text=True).convert(document, lines)
    assert any("Special:FilePath/A%20b.jpg>" in line for line in lines)
    lines.clear()
    Converter({}, assume_text=True).convert(document, lines)
    assert any('"A b.jpg"' in line for line in lines)


def test_one_bad_statement_is_left_out_alone() -> None:
    bad = [
        statement({"snaktype": "value", "property": "P1"}, id="Q1$no-value"),
        statement(snak("P1", "time", {"time": "soon", "precision": 11}, "time"), id="Q1$no-date"),
        statement(snak("P1", "x", {}, "bad"), id="Q1$bad-type"),
        statement(snak("P1", "string", "x"), "best", id="Q1$bad-rank"),
        statement(snak("P1> .", "string", "x"), id="Q1$bad-property"),
        statement(
            snak("P1", "wikibase-item", {"id": "Q5> <"}, "wikibase-entityid"), id="Q1$bad-id"
        ),
        statement({"snaktype": "maybe", "property": "P1"}, id="Q1$bad-kind"),
    ]
    good = statement(snak("P1", "string", "kept"), id="Q1$good")
    lines: list[str] = []
    entity = Converter().convert(item(*bad, good), lines)
    assert entity.statements == 1
    assert [detail.partition(":")[0] for _, detail in entity.problems] == [
        each["id"] for each in bad[:4] + bad[5:] + bad[4:5]
    ]
    statements = {t.subject.value for t in parse("".join(lines)) if "/statement/" in str(t.subject)}
    assert statements == {"http://www.wikidata.org/entity/statement/Q1-good"}


def test_bad_statement_does_not_take_shared_nodes_with_it() -> None:
    """A value first met in a statement that fails is still described for the next one."""
    year = {
        "time": "+1986-00-00T00:00:00Z",
        "precision": 9,
        "calendarmodel": "http://www.wikidata.org/entity/Q1985727",
    }
    first = statement(snak("P1", "time", year, "time"), id="Q1$first", qualifiers={"P2": [{}]})
    second = statement(snak("P1", "time", year, "time"), id="Q1$second")
    facts = converted(item(first, second))
    nodes = {t.object for t in facts if t.predicate.value.endswith("/statement/value/P1")}
    assert len(nodes) == 1
    assert {t.subject for t in facts if t.predicate.value.endswith("#timeValue")} == nodes


@pytest.mark.parametrize(
    "document",
    [
        {"id": "Q1"} | {"labels": 5},
        {"id": "Q1", "labels": {"en": "A"}},
        {"id": "Q0"},
        {"id": "Q1> <"},
        {"id": 5},
        {"id": "L1", "lemmas": {}},
    ],
)
def test_documents_of_the_wrong_shape_leave_no_triples(document: dict[str, Any]) -> None:
    lines: list[str] = []
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        Converter().convert(document, lines)
    assert lines == []


def test_property() -> None:
    document = {
        "type": "property",
        "id": "P1",
        "datatype": "wikibase-item",
        "labels": {"en": {"language": "en", "value": "p"}},
        "claims": {},
    }
    facts = said(converted(document))
    expected = turtle(
        """wd:P1 a wikibase:Property ; rdfs:label "p"@en ;
            wikibase:propertyType wikibase:WikibaseItem ; wikibase:directClaim wdt:P1 .
        wdt:P1 a owl:ObjectProperty . psv:P1 a owl:ObjectProperty . wdno:P1 a owl:Class ."""
    )
    assert said(expected) <= facts
    assert Converter().convert(document, []).datatype == "wikibase-item"
    times = said(converted(document | {"datatype": "time"}))
    assert said(turtle("wdt:P1 a owl:DatatypeProperty . psv:P1 a owl:ObjectProperty .")) <= times


def test_lexeme() -> None:
    document = {
        "type": "lexeme",
        "id": "L7",
        "language": "Q1860",
        "lexicalCategory": "Q1084",
        "lemmas": {"en": {"language": "en", "value": "cat"}},
        "claims": [],
        "forms": [
            {
                "id": "L7-F1",
                "representations": {"en": {"language": "en", "value": "cats"}},
                "grammaticalFeatures": ["Q146786"],
                "claims": {"P1": [statement(snak("P1", "string", "x"), id="L7-F1$A")]},
            }
        ],
        "senses": [
            {"id": "L7-S1", "glosses": {"en": {"language": "en", "value": "pet"}}, "claims": []}
        ],
    }
    expected = turtle(
        """wd:L7 a wikibase:Lexeme, ontolex:LexicalEntry ; dct:language wd:Q1860 ;
            wikibase:lexicalCategory wd:Q1084 ; rdfs:label "cat"@en ; wikibase:lemma "cat"@en ;
            ontolex:lexicalForm wd:L7-F1 ; ontolex:sense wd:L7-S1 .
        wd:L7-F1 a wikibase:Form, ontolex:Form ; rdfs:label "cats"@en ;
            ontolex:representation "cats"@en ; wikibase:grammaticalFeature wd:Q146786 ;
            p:P1 wds:L7-F1-A ; wdt:P1 "x" .
        wds:L7-F1-A a wikibase:Statement, wikibase:BestRank ;
            wikibase:rank wikibase:NormalRank ; ps:P1 "x" .
        wd:L7-S1 a wikibase:Sense, ontolex:LexicalSense ; rdfs:label "pet"@en ;
            skos:definition "pet"@en ."""
    )
    assert about(document) == said(expected)


def test_links_are_truthy_and_between_items() -> None:
    def entity(identifier: str) -> dict[str, str]:
        return {"entity-type": "x", "id": identifier}

    document = item(
        statement(snak("P1", "wikibase-item", entity("Q5"), "wikibase-entityid")),
        statement(snak("P1", "wikibase-item", entity("Q6"), "wikibase-entityid"), "deprecated"),
        statement(snak("P2", "wikibase-property", entity("P5"), "wikibase-entityid")),
        statement({"snaktype": "somevalue", "property": "P3"}),
    )
    assert Converter().convert(document, []).links == [(1, 5)]
