"""The names of Wikidata's RDF model: namespaces, prefixes, and ids to IRIs and back."""

from __future__ import annotations

import re
from typing import Final

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
SCHEMA: Final = "http://schema.org/"
PROV: Final = "http://www.w3.org/ns/prov#"
CC: Final = "http://creativecommons.org/ns#"
DCT: Final = "http://purl.org/dc/terms/"
GEO: Final = "http://www.opengis.net/ont/geosparql#"
ONTOLEX: Final = "http://www.w3.org/ns/lemon/ontolex#"
WIKIBASE: Final = "http://wikiba.se/ontology#"

WD: Final = "http://www.wikidata.org/entity/"
DATA: Final = "https://www.wikidata.org/wiki/Special:EntityData/"
WDS: Final = "http://www.wikidata.org/entity/statement/"
WDREF: Final = "http://www.wikidata.org/reference/"
WDV: Final = "http://www.wikidata.org/value/"
WDNO: Final = "http://www.wikidata.org/prop/novalue/"
WDT: Final = "http://www.wikidata.org/prop/direct/"
WDTN: Final = "http://www.wikidata.org/prop/direct-normalized/"
P: Final = "http://www.wikidata.org/prop/"
PS: Final = "http://www.wikidata.org/prop/statement/"
PSV: Final = "http://www.wikidata.org/prop/statement/value/"
PSN: Final = "http://www.wikidata.org/prop/statement/value-normalized/"
PQ: Final = "http://www.wikidata.org/prop/qualifier/"
PQV: Final = "http://www.wikidata.org/prop/qualifier/value/"
PQN: Final = "http://www.wikidata.org/prop/qualifier/value-normalized/"
PR: Final = "http://www.wikidata.org/prop/reference/"
PRV: Final = "http://www.wikidata.org/prop/reference/value/"
PRN: Final = "http://www.wikidata.org/prop/reference/value-normalized/"

GENID: Final = "http://www.wikidata.org/.well-known/genid/"
"""Where the query service puts unknown values that dumps keep as blank nodes."""

NAMESPACES: Final[dict[str, str]] = {
    "rdf": RDF,
    "rdfs": RDFS,
    "xsd": XSD,
    "owl": OWL,
    "skos": SKOS,
    "schema": SCHEMA,
    "prov": PROV,
    "cc": CC,
    "dct": DCT,
    "geo": GEO,
    "ontolex": ONTOLEX,
    "wikibase": WIKIBASE,
    "wd": WD,
    "data": DATA,
    "wds": WDS,
    "wdref": WDREF,
    "wdv": WDV,
    "wdno": WDNO,
    "wdt": WDT,
    "wdtn": WDTN,
    "p": P,
    "ps": PS,
    "psv": PSV,
    "psn": PSN,
    "pq": PQ,
    "pqv": PQV,
    "pqn": PQN,
    "pr": PR,
    "prv": PRV,
    "prn": PRN,
}
"""Every prefix of the model, by the name that Wikidata's own dumps use."""

PREFIXES: Final = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in NAMESPACES.items())
"""The prefixes as SPARQL declarations, one a line; put before a query."""

GREGORIAN_CALENDAR: Final = WD + "Q1985727"
JULIAN_CALENDAR: Final = WD + "Q1985786"
EARTH: Final = WD + "Q2"
NO_UNIT: Final = WD + "Q199"
"""The item "1": the unit of a quantity that is a bare number."""

_ENTITY_IRI: Final = re.compile(
    r"https?://www\.wikidata\.org/entity/"
    r"([QPE][1-9][0-9]{0,9}|L[1-9][0-9]{0,9}(?:-[FS][1-9][0-9]{0,9})?)"
)
_STATEMENT_LOCAL: Final = re.compile(
    # The hexadecimal part may begin like a form's or a sense's number; only lexemes have these.
    r"([QPqp][1-9][0-9]*|[Ll][1-9][0-9]*(?:-[FSfs][1-9][0-9]*(?=-[^-]{8}-))?)-(.+)"
)


def entity_iri(identifier: str) -> str:
    """The IRI of an item, property, lexeme, form or sense: ``Q42`` gives ``wd:Q42``."""
    return WD + identifier


def entity_id(iri: str) -> str | None:
    """The id in an entity's IRI, or None where ``iri`` is not an entity's."""
    found = _ENTITY_IRI.fullmatch(iri)
    return found[1] if found else None


def statement_id(iri: str) -> str | None:
    """The id in a statement's IRI (``wds:q42-ABC`` gives ``q42$ABC``), or None for other IRIs."""
    if not iri.startswith(WDS):
        return None
    found = _STATEMENT_LOCAL.fullmatch(iri, len(WDS))
    return f"{found[1]}${found[2]}" if found else None
