"""What RDF says about a property itself: its datatype and its predicates in every role."""

from __future__ import annotations

from hashlib import md5
from typing import Final

from kg_functions.build.ntriples import TYPE
from kg_functions.datatypes import datatype_iri
from kg_functions.rdf import (
    OWL,
    PQ,
    PQN,
    PQV,
    PR,
    PRN,
    PRV,
    PS,
    PSN,
    PSV,
    WDNO,
    WDT,
    WDTN,
    WIKIBASE,
    P,
)

_ROLES: Final = (
    ("directClaim", WDT),
    ("claim", P),
    ("statementProperty", PS),
    ("statementValue", PSV),
    ("qualifier", PQ),
    ("qualifierValue", PQV),
    ("reference", PR),
    ("referenceValue", PRV),
    ("novalue", WDNO),
)
_NORMALIZED_ROLES: Final = (
    ("directClaimNormalized", WDTN),
    ("statementValueNormalized", PSN),
    ("qualifierValueNormalized", PQN),
    ("referenceValueNormalized", PRN),
)
_ALWAYS_OBJECTS: Final = (P, PSV, PQV, PRV)
_AS_THE_VALUE: Final = (WDT, PS, PQ, PR)
_NORMALIZED_OBJECTS: Final = (PSN, PQN, PRN)

_OBJECT_DATATYPES: Final = frozenset(
    {
        "commonsMedia",
        "geo-shape",
        "tabular-data",
        "url",
        "wikibase-item",
        "wikibase-property",
        "wikibase-lexeme",
        "wikibase-form",
        "wikibase-sense",
        "entity-schema",
    }
)
_NORMALIZED_KINDS: Final = {"quantity": "DatatypeProperty", "external-id": "ObjectProperty"}
"""Datatypes with normalised values, and what kind of property the direct one is."""


def property_triples(identifier: str, subject: str, datatype: str) -> list[str]:
    """The triples about a property's datatype, predicates and no-value class.

    Args:
        identifier: such as ``P31``.
        subject: the property's IRI in angle brackets.
        datatype: as entity JSON names it, such as ``wikibase-item``.
    """
    roles: tuple[tuple[str, str], ...] = _ROLES
    kind = "ObjectProperty" if datatype in _OBJECT_DATATYPES else "DatatypeProperty"
    kinds = dict.fromkeys(_ALWAYS_OBJECTS, "ObjectProperty")
    kinds |= dict.fromkeys(_AS_THE_VALUE, kind)
    if datatype in _NORMALIZED_KINDS:
        roles += _NORMALIZED_ROLES
        kinds |= dict.fromkeys(_NORMALIZED_OBJECTS, "ObjectProperty")
        kinds[WDTN] = _NORMALIZED_KINDS[datatype]
    novalue = f"<{WDNO}{identifier}>"
    restriction = "_:" + md5(f"complement {identifier}".encode(), usedforsecurity=False).hexdigest()
    return [
        f"{subject} <{WIKIBASE}propertyType> <{datatype_iri(datatype)}> .\n",
        *(f"{subject} <{WIKIBASE}{role}> <{base}{identifier}> .\n" for role, base in roles),
        *(f"<{base}{identifier}> {TYPE} <{OWL}{name}> .\n" for base, name in kinds.items()),
        f"{novalue} {TYPE} <{OWL}Class> .\n",
        f"{novalue} <{OWL}complementOf> {restriction} .\n",
        f"{restriction} {TYPE} <{OWL}Restriction> .\n",
        f"{restriction} <{OWL}onProperty> <{WDT}{identifier}> .\n",
        f"{restriction} <{OWL}someValuesFrom> <{OWL}Thing> .\n",
    ]
