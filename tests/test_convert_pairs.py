"""The converter against Wikidata itself: six items as JSON and as official Turtle of one revision.

Every difference that stays is listed with its reason. Each rule of the conversion is switched off
once, to show that the comparison then fails.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson
import pyoxigraph as ox
import pytest

from kg_functions.build import dates, ntriples, sites, statements, terms, values
from kg_functions.build.properties import property_triples
from kg_functions.datatypes import datatype_name
from kg_functions.rdf import (
    CC,
    OWL,
    PQN,
    PR,
    PRN,
    PS,
    PSN,
    RDF,
    SCHEMA,
    SKOS,
    WD,
    WDNO,
    WDTN,
    WIKIBASE,
    P,
    entity_id,
)
from tests.support.data import shared_data
from tests.support.triples import converted, parse, said, without_orphans

if TYPE_CHECKING:
    from collections.abc import Callable

ITEMS: Final = ("Q42", "Q8413", "Q182397", "Q17633526", "Q51605722", "Q120248304")


def pair(item: str) -> tuple[dict[str, Any], set[ox.Triple]]:
    """An item's entity JSON and its official triples."""
    json = gzip.decompress(shared_data("wikidata", "pairs", f"{item}.json.gz").read_bytes())
    turtle = gzip.decompress(shared_data("wikidata", "pairs", f"{item}.ttl.gz").read_bytes())
    return orjson.loads(json)["entities"][item], parse(turtle)


@dataclass(frozen=True)
class Difference:
    """Official triples that entity JSON cannot give.

    Attributes:
        reason: why not.
        covers: whether it covers a triple in the official Turtle of an item.
    """

    reason: str
    covers: Callable[[ox.Triple, str], bool]


def _about_another_entity(triple: ox.Triple, item: str) -> bool:
    subject = _value(triple.subject)
    other = subject is not None and entity_id(subject) not in (None, item)
    return other and triple.predicate.value != f"{OWL}sameAs"


def _defines_a_property(triple: ox.Triple, item: str) -> bool:
    subject = _value(triple.subject)
    if subject is None:
        return triple.predicate.value.startswith((OWL, RDF))
    return subject.startswith((P, WDNO))


def _normalises(triple: ox.Triple, item: str) -> bool:
    predicate = triple.predicate.value
    return predicate.startswith((WDTN, PSN, PQN, PRN)) or predicate == (
        f"{WIKIBASE}quantityNormalized"
    )


def _value(term: Any) -> str | None:
    return term.value if isinstance(term, ox.NamedNode) else None


DIFFERENCES: Final = (
    Difference(
        "Special:EntityData adds stubs (type, label, description, datatype) of the entities that "
        "an item mentions; in a graph they come from those entities' own documents",
        _about_another_entity,
    ),
    Difference(
        "likewise the predicates of mentioned properties; see test_property_definitions",
        _defines_a_property,
    ),
    Difference(
        "which ids were merged into the item is known to the server only",
        lambda triple, item: triple.predicate.value == f"{OWL}sameAs",
    ),
    Difference(
        "normalised values need the server's tables of units and of formatter addresses",
        _normalises,
    ),
    Difference(
        "licence and software version are the same for every entity; dumps state them once",
        lambda triple, item: triple.predicate.value in (f"{CC}license", f"{SCHEMA}softwareVersion"),
    ),
)

ABRIDGED: Final = "Q120248304"
"""Whoever published this Turtle left out some of what the server wrote; see ``OMITTED``."""

OMITTED: Final = frozenset(
    {
        f"{SKOS}prefLabel",
        f"{SCHEMA}name",
        f"{SCHEMA}version",
        f"{SCHEMA}dateModified",
        f"{WIKIBASE}statements",
        f"{WIKIBASE}sitelinks",
        f"{WIKIBASE}identifiers",
        f"{PR}P5017",
        f"{PS}P625",
    }
)
"""Predicates that the abridged Turtle never has, and with them the type of reference nodes."""


def made(document: dict[str, Any]) -> set[ox.Triple]:
    """Our triples, abridged where the official ones are."""
    triples = converted(document)
    if document["id"] != ABRIDGED:
        return triples
    return {
        triple
        for triple in triples
        if triple.predicate.value not in OMITTED and _value(triple.object) != f"{WIKIBASE}Reference"
    }


def expected(official: set[ox.Triple], item: str) -> set[ox.Triple]:
    """The official triples without those that a listed difference covers."""
    kept = {
        triple
        for triple in official
        if not any(difference.covers(triple, item) for difference in DIFFERENCES)
    }
    return without_orphans(kept)


def agrees(item: str) -> bool:
    document, official = pair(item)
    return said(made(document)) == said(expected(official, item))


@pytest.mark.parametrize("item", ITEMS)
def test_conversion_equals_the_official_turtle(item: str) -> None:
    document, official = pair(item)
    ours, theirs = said(made(document)), said(expected(official, item))
    assert sorted(theirs - ours) == []
    assert sorted(ours - theirs) == []
    assert len(ours) > 50


def test_every_listed_difference_occurs() -> None:
    occurring = set()
    for item in ITEMS:
        official = pair(item)[1]
        occurring |= {d for d in DIFFERENCES for t in official if d.covers(t, item)}
    assert occurring == set(DIFFERENCES)


@pytest.mark.parametrize("item", [item for item in ITEMS if item != ABRIDGED])
def test_property_definitions(item: str) -> None:
    """What an item's Turtle says of each mentioned property follows from its datatype."""
    official = pair(item)[1]
    about: dict[str, set[ox.Triple]] = {}
    for triple in official:
        property = _defined_property(triple)
        if property is not None:
            about.setdefault(property, set()).add(triple)
    restrictions: dict[Any, set[ox.Triple]] = {}
    for triple in official:
        if isinstance(triple.subject, ox.BlankNode):
            restrictions.setdefault(triple.subject, set()).add(triple)
    assert about
    for property, triples in about.items():
        datatype = next(t.object.value for t in triples if t.predicate.value == DATATYPE)
        ours = "".join(property_triples(property, f"<{WD}{property}>", datatype_name(datatype)))
        theirs = triples.union(*(restrictions.get(t.object, ()) for t in triples))
        assert said(parse(ours, ox.RdfFormat.N_TRIPLES)) == said(theirs)


DATATYPE: Final = f"{WIKIBASE}propertyType"


def _defined_property(triple: ox.Triple) -> str | None:
    """The property whose datatype, roles or classes a triple states."""
    subject = _value(triple.subject) or ""
    if subject.startswith(WD):
        identifier = subject.removeprefix(WD)
        defines = triple.predicate.value.startswith(WIKIBASE) and identifier.startswith("P")
        return identifier if defines else None
    return subject.rpartition("/")[2] if subject.startswith(P) else None


def _patch(module: Any, name: str, value: Any) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(module, name, value)


def _without_novalue_class(patch: pytest.MonkeyPatch) -> None:
    names = statements.property_names

    def other_class(identifier: str) -> Any:
        found = names(identifier)
        truthy = found.truthy._replace(novalue="<http://example.org/none>")
        return found._replace(truthy=truthy, statement=truthy, qualifier=truthy)

    patch.setattr(statements, "property_names", other_class)


def _without_site_languages(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sites, "_SITE_LANGUAGES", {})
    patch.setattr(terms, "site", sites.site.__wrapped__)


def _without_canonical_codes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sites, "_CANONICAL", {})
    patch.setattr(terms, "site", sites.site.__wrapped__)


def _without_value_nodes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(values.Values, "_describe", lambda self, key, simple, *facts: values.Term(simple))


MUTATIONS: Final[dict[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "Julian days stay unconverted": _patch(dates, "julian_to_gregorian", lambda *day: None),
    "preferred rank is no better": _patch(statements, "best_rank", lambda ranks: "normal"),
    "deprecated statements are best as well": _patch(
        statements, "best_rank", lambda ranks: min(ranks)
    ),
    "no value is another class": _without_novalue_class,
    "texts lose their language": _patch(terms, "language_suffix", lambda code: ""),
    "monolingual values lose their language": _patch(values, "language_suffix", lambda code: ""),
    "page titles are encoded strictly": _patch(terms, "title_path", ntriples.file_path),
    "file names are encoded like titles": _patch(values, "file_path", ntriples.title_path),
    "languages of sites are their codes": _without_site_languages,
    "language codes are not made canonical": _without_canonical_codes,
    "numbers have all their digits": _patch(values, "php_float", repr),
    "unit 1 is not the item one": _patch(values, "NO_UNIT", "1"),
    "values have no nodes": _without_value_nodes,
    "statement ids keep their dollar": _patch(statements, "statement_name", str),
    "labels are only rdfs:label": _patch(terms, "LABEL_PREDICATES", terms.LABEL_PREDICATES[:1]),
}


@pytest.mark.parametrize("rule", MUTATIONS)
def test_comparison_notices_a_missing_rule(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTATIONS[rule](monkeypatch)
    assert not all(agrees(item) for item in ("Q182397", "Q8413", "Q42"))
