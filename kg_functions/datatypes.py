"""Wikidata's datatypes: as its JSON names them, and as its RDF does."""

from __future__ import annotations

import re
from typing import Final

from kg_functions.rdf import WIKIBASE

ITEM_TYPE: Final = "wikibase-item"
URL_TYPE: Final = "url"

_LOCAL_NAMES: Final = {
    ITEM_TYPE: "WikibaseItem",
    "wikibase-property": "WikibaseProperty",
    "wikibase-lexeme": "WikibaseLexeme",
    "wikibase-form": "WikibaseForm",
    "wikibase-sense": "WikibaseSense",
    "entity-schema": "WikibaseEntitySchema",
    "string": "String",
    "external-id": "ExternalId",
    URL_TYPE: "Url",
    "commonsMedia": "CommonsMedia",
    "localMedia": "LocalMedia",
    "geo-shape": "GeoShape",
    "tabular-data": "TabularData",
    "math": "Math",
    "musical-notation": "MusicalNotation",
    "monolingualtext": "Monolingualtext",
    "time": "Time",
    "quantity": "Quantity",
    "globe-coordinate": "GlobeCoordinate",
}
"""The local name in RDF by the name in JSON."""

_NAMES: Final = {
    **{WIKIBASE + local: name for name, local in _LOCAL_NAMES.items()},
    WIKIBASE + "Globecoordinate": "globe-coordinate",
}
_NOT_A_WORD: Final = re.compile(r"[^0-9A-Za-z_]+")


def datatype_iri(name: str) -> str:
    """The IRI of a datatype: ``wikibase-item`` gives ``wikibase:WikibaseItem``.

    One that is not known gets the name that Wikibase would make of it.
    """
    local = _LOCAL_NAMES.get(name)
    if local is None:
        words = (word[:1].upper() + word[1:] for word in name.replace("-", " ").split(" "))
        local = _NOT_A_WORD.sub("", "".join(words))
    return WIKIBASE + local


def datatype_name(iri: str) -> str:
    """The datatype with an IRI, as JSON names it; one that is not known by its local name."""
    return _NAMES.get(iri, iri.removeprefix(WIKIBASE))
