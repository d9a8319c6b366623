"""What an endpoint holds: Wikidata's model at all, and as which of the two forms of its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from kg_functions.errors import GraphSetupError
from kg_functions.wikidata.queries import Query

if TYPE_CHECKING:
    from kg_functions.engines.protocol import SparqlEngine

Form = Literal["raw", "munged"]
"""``raw`` as in Wikidata's dumps, ``munged`` as Wikidata's query service loads them.

Raw data has an item's counts on its data page, unknown values as blank nodes and each label three
times, as ``rdfs:label``, ``skos:prefLabel`` and ``schema:name``. Munged data has the counts on the
item itself, unknown values as ``.well-known/genid`` IRIs and ``rdfs:label`` alone.
"""

STATEMENT_NODES: Final = Query("ASK { ?statement wikibase:rank ?rank }", order="")
PREFERRED_LABELS: Final = Query("ASK { ?entity skos:prefLabel ?label }", order="")
# An endpoint that has none among its first thousands would read on to the last of millions.
_COUNTED: Final = """
ASK {
  { SELECT ?counted WHERE { ?counted wikibase:sitelinks ?sitelinks } LIMIT 10000 }
  FILTER(STRSTARTS(STR(?counted), "BEGINNING"))
}
"""
COUNTED_PAGES: Final = Query(
    _COUNTED.replace("BEGINNING", "https://www.wikidata.org/wiki/Special:EntityData/"), order=""
)
COUNTED_ITEMS: Final = Query(
    _COUNTED.replace("BEGINNING", "http://www.wikidata.org/entity/Q"), order=""
)


def check_model(engine: SparqlEngine) -> Form | None:
    """Let an endpoint through that has ranked statements in one form of data.

    Returns:
        The form, or None where nothing tells: no labels but ``rdfs:label``, no sitelinks.

    Raises:
        GraphSetupError: it has no ranked statements, or both forms.
        BackendError: it cannot be reached or does not answer.
    """
    if not engine.ask(STATEMENT_NODES.fill([])):
        raise GraphSetupError(
            f"{engine.address} answers, but has no Wikidata statements (wikibase:rank): it must "
            "hold Wikidata's full RDF model, not truthy triples alone."
        )
    munged = engine.ask(COUNTED_ITEMS.fill([]))
    raw = engine.ask(COUNTED_PAGES.fill([])) or engine.ask(PREFERRED_LABELS.fill([]))
    if raw and munged:
        raise GraphSetupError(
            f"{engine.address} mixes data of Wikidata's dumps with data of its query service "
            "(some sitelinks are counted on data pages, some on items): load one of the two alone."
        )
    return "raw" if raw else "munged" if munged else None


def capabilities(address: str, form: Form | None, *, labels: bool, adjacency: bool) -> str:
    """One line for the user: where the endpoint is, what it holds and how it will be read."""
    data = {
        "raw": "raw data, as in Wikidata's dumps",
        "munged": "munged data, as in Wikidata's query service",
        None: "Wikidata statements (raw or munged: no sitelinks tell)",
    }[form]
    names = (
        "names from the label index"
        if labels
        else "exact names only (--labels GRAPH_FOLDER gives a label index)"
    )
    links = "links from the adjacency" if adjacency else "links by SPARQL"
    return f"{address}: {data}; {names}; {links}."
