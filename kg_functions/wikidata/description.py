"""What an entity is: its types, names, descriptions and Wikipedia pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kg_functions.identifiers import number
from kg_functions.rdf import entity_id
from kg_functions.wikidata import queries, texts
from kg_functions.wikidata.queries import Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg_functions.engines.protocol import SparqlEngine
    from kg_functions.wikidata.texts import Names

TYPES: Final = Query(
    """
SELECT DISTINCT ?entity ?type WHERE {
  VALUES ?entity { $terms }
  ?entity wdt:P31 ?type .
}
""",
    order="?entity ?type",
)


def describe(engine: SparqlEngine, names: Names, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The answers of the function ``describe`` by id, for ids that the graph holds."""
    found = texts.texts(engine, ids, (texts.LABEL, texts.DESCRIPTION, texts.ALIAS))
    types = _types(engine, ids)
    labels = names.get(kind for kinds in types.values() for kind in kinds)
    titles = texts.sitelinks(engine, ids)
    return {
        one: {
            "id": one,
            "types": [{"id": kind, "label": labels[kind]} for kind in types[one]],
            "labels": texts.labels_by_language(found[one][texts.LABEL]),
            "descriptions": texts.descriptions_by_language(found[one][texts.DESCRIPTION]),
            "aliases": texts.aliases_by_language(found[one][texts.ALIAS]),
            "sitelinks": titles[one],
        }
        for one in ids
    }


def _types(engine: SparqlEngine, ids: Sequence[str]) -> dict[str, list[str]]:
    """The truthy values of "instance of" by id, in the order of their numbers."""
    found: dict[str, list[str]] = {one: [] for one in ids}
    terms = [queries.entity(one) for one in ids]
    for row in queries.fetch(engine, TYPES, terms):
        owner, kind = entity_id(row["entity"].value), entity_id(row["type"].value)
        if owner in found and kind is not None:
            found[owner].append(kind)
    return {one: sorted(kinds, key=number) for one, kinds in found.items()}
