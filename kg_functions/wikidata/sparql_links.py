"""Links between items by SPARQL, for endpoints without an adjacency.

As in an adjacency, a link counts for the id that its statement names: one to a merged id is a link
to that id, not to the item that it was merged into.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from kg_functions.datatypes import ITEM_TYPE
from kg_functions.identifiers import is_item, is_property, number
from kg_functions.rdf import WDT, entity_id
from kg_functions.wikidata import queries
from kg_functions.wikidata.links import Counts, Direction, Link, Page, Which
from kg_functions.wikidata.queries import Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg_functions.engines.protocol import SparqlEngine
    from kg_functions.wikidata.values import Datatypes

SORTED_HERE: Final = 5_000
"""How many links of one property and direction are fetched whole and sorted here."""

_OUTGOING: Final = """
SELECT ?entity ?direct (COUNT(?other) AS ?links) WHERE {
  VALUES $option { $terms }
  ?entity ?direct ?other .
  FILTER(STRSTARTS(STR(?direct), "http://www.wikidata.org/prop/direct/P"))
  FILTER(STRSTARTS(STR(?other), "http://www.wikidata.org/entity/Q"))
}
GROUP BY ?entity ?direct
"""
OUTGOING_COUNTS: Final = Query(_OUTGOING, order="?entity ?direct")
INCOMING_COUNTS: Final = Query(
    _OUTGOING.replace("?entity ?direct ?other", "?other ?direct ?entity"),
    order="?entity ?direct",
)
OUTGOING: Final = Query(
    """
SELECT ?entity ?direct ?other WHERE {
  VALUES (?entity ?direct) { $terms }
  ?entity ?direct ?other .
  FILTER(STRSTARTS(STR(?other), "http://www.wikidata.org/entity/Q"))
}
""",
    order="?entity ?direct ?other",
)
INCOMING: Final = Query(
    OUTGOING.text.replace("?entity ?direct ?other .", "?other ?direct ?entity ."),
    order=OUTGOING.order,
)
# One property of one hub: the engine sorts by number (shorter ids first, then by digits) and
# gives the one page that is wanted.
OUTGOING_PAGE: Final = Query(
    """
SELECT ?other WHERE {
  VALUES (?entity ?direct) { $terms }
  ?entity ?direct ?other .
  FILTER(STRSTARTS(STR(?other), "http://www.wikidata.org/entity/Q"))
  BIND(STR(?other) AS ?text)
  BIND(STRLEN(?text) AS ?length)
}
ORDER BY ?length ?text
$option
""",
    order="",
)
INCOMING_PAGE: Final = Query(
    OUTGOING_PAGE.text.replace("?entity ?direct ?other .", "?other ?direct ?entity ."), order=""
)


class SparqlLinks:
    """Links by SPARQL, for endpoints without an adjacency.

    Args:
        engine: what to ask.
        datatypes: the datatypes of properties: a URL may look like an item and is none.
    """

    def __init__(self, engine: SparqlEngine, datatypes: Datatypes) -> None:
        self._engine = engine
        self._datatypes = datatypes

    def degrees(self, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """See ``Links``."""
        return {
            identifier: (
                sum(out for out, _ in counts.values()),
                sum(into for _, into in counts.values()),
            )
            for identifier, counts in self.counts(ids, None).items()
        }

    def counts(self, ids: Sequence[str], property_id: str | None) -> dict[str, Counts]:
        """See ``Links``."""
        terms = [queries.entity(identifier) for identifier in ids if is_item(identifier)]
        option = "?entity"
        if property_id is not None:
            direct = queries.predicate("wdt", property_id)
            terms, option = [f"({term} {direct})" for term in terms], "(?entity ?direct)"
        found: dict[str, dict[str, list[int]]] = {
            identifier: defaultdict(lambda: [0, 0]) for identifier in ids
        }
        for place, query in enumerate((OUTGOING_COUNTS, INCOMING_COUNTS)):
            for row in queries.fetch(self._engine, query, terms, option):
                owner = entity_id(row["entity"].value)
                link = row["direct"].value.removeprefix(WDT)
                if owner in found and is_property(link):
                    found[owner][link][place] = int(row["links"].value)
        types = self._datatypes.get({link for counts in found.values() for link in counts})
        return {
            owner: {
                link: (counts[link][0], counts[link][1])
                for link in sorted(counts, key=number)
                if types[link] in (ITEM_TYPE, None)
            }
            for owner, counts in found.items()
        }

    def pages(
        self,
        ids: Sequence[str],
        direction: Which,
        property_id: str | None,
        limit: int,
        offset: int,
    ) -> dict[str, Page]:
        """See ``Links``."""
        totals = {}
        plans: dict[str, list[_Slice]] = {}
        for identifier, counts in self.counts(ids, property_id).items():
            totals[identifier], plans[identifier] = _plan(
                identifier, counts, direction, limit, offset
            )
        whole = self._whole(
            [part for plan in plans.values() for part in plan if part.size <= SORTED_HERE]
        )
        found = {}
        for identifier, plan in plans.items():
            links = []
            for part in plan:
                known = whole.get(part)
                others = self._part(part) if known is None else known[part.start : part.stop]
                links += [Link(part.direction, part.property, other) for other in others]
            found[identifier] = Page(totals[identifier], links)
        return found

    def _whole(self, parts: Sequence[_Slice]) -> dict[_Slice, list[str]]:
        """All neighbours of small parts, sorted by number."""
        found: dict[_Slice, set[str]] = {part: set() for part in parts}
        for query, way in ((OUTGOING, "out"), (INCOMING, "in")):
            wanted = {_pair(part): part for part in parts if part.direction == way}
            for row in queries.fetch(self._engine, query, wanted):
                pair = f"(<{row['entity'].value}> <{row['direct'].value}>)"
                other = entity_id(row["other"].value)
                if other is not None and is_item(other):
                    found[wanted[pair]].add(other)
        return {part: sorted(others, key=number) for part, others in found.items()}

    def _part(self, part: _Slice) -> list[str]:
        """One page of a large part, sorted by the engine."""
        query = OUTGOING_PAGE if part.direction == "out" else INCOMING_PAGE
        option = f"LIMIT {part.stop - part.start} OFFSET {part.start}"
        rows = self._engine.select(query.fill([_pair(part)], option))
        others = [entity_id(row["other"].value) for row in rows]
        return sorted((other for other in others if other is not None), key=number)


class _Slice(NamedTuple):
    """A stretch of one entity's links of one property and direction."""

    entity: str
    direction: Direction
    property: str
    size: int
    start: int
    stop: int


def _plan(
    identifier: str, counts: Counts, direction: Which, limit: int, offset: int
) -> tuple[int, list[_Slice]]:
    """The total, and the slices that make up the page, in order."""
    parts: list[tuple[Direction, str, int]] = []
    if direction != "in":
        parts += [("out", link, out) for link, (out, _) in counts.items() if out]
    if direction != "out":
        parts += [("in", link, into) for link, (_, into) in counts.items() if into]
    slices = []
    begin = 0
    for way, link, size in parts:
        start, stop = max(offset - begin, 0), min(offset + limit - begin, size)
        if start < stop:
            slices.append(_Slice(identifier, way, link, size, start, stop))
        begin += size
    return begin, slices


def _pair(part: _Slice) -> str:
    return f"({queries.entity(part.entity)} {queries.predicate('wdt', part.property)})"
