"""Links between items, counted and paged: what is asked, and the answers of an adjacency.

A link counts for the id that its statement names. Where that id was merged into another item, the
link is still one to the merged id: neither the other item's counts nor its pages have it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

from kg_functions.errors import InvalidArgument
from kg_functions.identifiers import is_item, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg_functions.adjacency import Adjacency
    from kg_functions.wikidata.later import LaterAdjacency

Direction = Literal["out", "in"]
Which = Literal["out", "in", "both"]
_WAYS: Final[tuple[Which, ...]] = ("both", "out", "in")
Counts = dict[str, tuple[int, int]]
"""Outgoing and incoming links by property, in the order of property numbers."""


class Link(NamedTuple):
    """One link of an entity; the direction is ``out`` or ``in``."""

    direction: str
    property: str
    other: str


class Page(NamedTuple):
    """Some of an entity's links, and how many there are."""

    total: int
    links: list[Link]


def check_direction(direction: str) -> Which:
    """Return a direction argument.

    Raises:
        InvalidArgument: listing those there are.
    """
    for one in _WAYS:
        if direction == one:
            return one
    raise InvalidArgument(f"direction must be one of {', '.join(_WAYS)}, not {direction!r}.")


class Links(Protocol):
    """Counts and pages of the truthy links between items."""

    def degrees(self, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """How many links go out of and into each entity."""
        ...

    def counts(self, ids: Sequence[str], property_id: str | None) -> dict[str, Counts]:
        """The same by property."""
        ...

    def pages(
        self,
        ids: Sequence[str],
        direction: Which,
        property_id: str | None,
        limit: int,
        offset: int,
    ) -> dict[str, Page]:
        """Links in order: outgoing first, then by property number, then by entity number."""
        ...


class AdjacencyLinks:
    """Links from the graph folder's adjacency; the time does not grow with an entity's links."""

    def __init__(self, adjacency: Adjacency | LaterAdjacency) -> None:
        self._adjacency = adjacency

    def degrees(self, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """See ``Links``."""
        return {
            identifier: self._adjacency.degree(number(identifier))
            if is_item(identifier)
            else (0, 0)
            for identifier in ids
        }

    def counts(self, ids: Sequence[str], property_id: str | None) -> dict[str, Counts]:
        """See ``Links``."""
        wanted = number(property_id) if property_id is not None else None
        found: dict[str, Counts] = {}
        for identifier in ids:
            counts = (
                self._adjacency.counts(number(identifier), wanted) if is_item(identifier) else {}
            )
            found[identifier] = {f"P{one}": counts[one] for one in sorted(counts)}
        return found

    def pages(
        self,
        ids: Sequence[str],
        direction: Which,
        property_id: str | None,
        limit: int,
        offset: int,
    ) -> dict[str, Page]:
        """See ``Links``."""
        wanted = number(property_id) if property_id is not None else None
        found = {}
        for identifier in ids:
            if not is_item(identifier):
                found[identifier] = Page(0, [])
                continue
            total, links = self._adjacency.page(
                number(identifier),
                direction=direction,
                property=wanted,
                limit=limit,
                offset=offset,
            )
            found[identifier] = Page(total, [Link(way, f"P{p}", f"Q{q}") for way, p, q in links])
        return found
