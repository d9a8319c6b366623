"""Which ids the graph holds, and what merged items became."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kg_functions.errors import CallError, NotInGraph
from kg_functions.identifiers import check_entity
from kg_functions.lru import Lru
from kg_functions.rdf import entity_id
from kg_functions.wikidata import queries
from kg_functions.wikidata.queries import Query

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kg_functions.engines.protocol import SparqlEngine

_CAPACITY: Final = 200_000
_LONGEST_CHAIN: Final = 8
"""How often a merged item may have been merged again before the chain counts as a circle."""

ENTITIES: Final = Query(
    # Query services leave out the types of items; each item still has its count of sitelinks.
    """
SELECT DISTINCT ?asked ?target WHERE {
  VALUES ?asked { $terms }
  { ?asked owl:sameAs ?target }
  UNION { ?asked a wikibase:Item }
  UNION { ?asked a wikibase:Property }
  UNION { ?asked wikibase:sitelinks ?sitelinks }
  UNION { ?asked wikibase:propertyType ?datatype }
}
""",
    order="?asked ?target",
)

USED_PROPERTY: Final = Query("ASK { ?entity $terms ?statement }", order="")


class Entities:
    """Tells ids that the graph holds from those it lacks, and follows redirects.

    Args:
        engine: what to ask.
    """

    def __init__(self, engine: SparqlEngine) -> None:
        self._engine = engine
        # What an id is: None where the graph lacks it, its target where it was merged, else itself.
        self._known: Lru[str, str | None] = Lru(_CAPACITY)
        self._used: Lru[str, bool] = Lru(_CAPACITY)

    def resolve(self, ids: Iterable[object]) -> dict[str, str | CallError]:
        """Each id asked with the id that answers for it, or with the error it met.

        Args:
            ids: item and property ids; one of the wrong form has ``InvalidIdentifier`` as value.
        """
        asked_for = [str(identifier) for identifier in ids]
        found: dict[str, str | CallError] = {}
        wanted: list[str] = []
        for identifier in asked_for:
            try:
                wanted.append(check_entity(identifier))
            except CallError as error:
                found[identifier] = error
        current = {identifier: identifier for identifier in wanted}
        for _ in range(_LONGEST_CHAIN):
            steps = self._look_up(set(current.values()))
            moved = {asked: steps[here] for asked, here in current.items()}
            for asked, target in moved.items():
                if target is None:
                    found[asked] = _missing(asked, current[asked])
            rest = {asked: target for asked, target in moved.items() if target is not None}
            if all(current[asked] == target for asked, target in rest.items()):
                found.update(rest)
                break
            current = rest
        else:
            found.update({asked: _circle(asked) for asked in current})
        return {asked: found[asked] for asked in asked_for}

    def has(self, ids: Iterable[object]) -> dict[str, bool | CallError]:
        """Whether the graph holds each id, itself or what it was merged into."""
        return {
            asked: False if isinstance(target, NotInGraph) else _true_or_error(target)
            for asked, target in self.resolve(ids).items()
        }

    def check_used(self, property_id: str) -> None:
        """Let a property through that is described in the graph or used in a statement.

        Raises:
            NotInGraph: saying how to find a property.
        """
        if not isinstance(self.resolve([property_id])[property_id], NotInGraph):
            return
        used = self._used.get(property_id)
        if used is None:
            term = queries.predicate("p", property_id)
            used = self._engine.ask(USED_PROPERTY.fill([term]))
            self._used.put(property_id, used)
        if not used:
            raise NotInGraph(
                f"This graph has no property {property_id}: find the right one with "
                "search_property('its name'), or leave `property` out to see what there is."
            )

    def _look_up(self, ids: Iterable[str]) -> dict[str, str | None]:
        """One step for each id: itself, its target, or None."""
        wanted = list(ids)
        known = self._known.get_many(wanted)
        missing = sorted(set(wanted) - set(known))
        if missing:
            fresh = self._ask(missing)
            self._known.put_many(fresh)
            known.update(fresh)
        return known

    def _ask(self, ids: Sequence[str]) -> dict[str, str | None]:
        answers: dict[str, str | None] = dict.fromkeys(ids)
        terms = [queries.entity(identifier) for identifier in ids]
        for row in queries.fetch(self._engine, ENTITIES, terms):
            asked = entity_id(row["asked"].value)
            if asked is None:
                continue
            target = entity_id(row["target"].value) if "target" in row else None
            if target is not None:
                answers[asked] = target
            elif answers.get(asked) is None:
                answers[asked] = asked
        return answers


def _missing(asked: str, last: str) -> NotInGraph:
    if asked != last:
        return NotInGraph(f"{asked} was merged into {last}, which this graph does not hold.")
    finder = "search_property" if asked.startswith("P") else "search_entity"
    return NotInGraph(
        f"{asked} is not in this graph: find what you mean with {finder}('its name')."
    )


def _circle(asked: str) -> NotInGraph:
    return NotInGraph(f"{asked} was merged into itself over other items: it leads nowhere.")


def _true_or_error(target: str | CallError) -> bool | CallError:
    return target if isinstance(target, CallError) else True
