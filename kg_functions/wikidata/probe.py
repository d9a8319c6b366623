"""Whether an endpoint holds what the graph functions read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kg_functions.errors import GraphSetupError
from kg_functions.wikidata.queries import Query

if TYPE_CHECKING:
    from kg_functions.engines.protocol import SparqlEngine

STATEMENT_NODES: Final = Query("ASK { ?statement wikibase:rank ?rank }", order="")


def check_model(engine: SparqlEngine) -> None:
    """Let an endpoint through that has ranked statements.

    Raises:
        GraphSetupError: it has none.
        BackendError: it cannot be reached or does not answer.
    """
    if not engine.ask(STATEMENT_NODES.fill([])):
        raise GraphSetupError(
            f"{engine.address} answers, but has no Wikidata statements (wikibase:rank): it must "
            "hold Wikidata's full RDF model, not truthy triples alone."
        )
