"""The links between items, both ways, as memory-mapped arrays sorted by property and neighbour.

Layout of the folder (little-endian raw arrays beside ``adjacency.json``): ``entities`` holds every
item that has a link, ascending; for each direction ``offsets`` says where an entity's links begin
and end in ``properties`` and ``neighbours``. Numbers are those of the identifiers: items and links
fit 32 bits, properties 16 (Wikidata has 14,000); a larger one is refused when the arrays are built.
A link takes 12 bytes in all, an item 12.

A link leads to the id that its statement names, also where that id was merged into another item.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from kg_functions.errors import GraphSetupError, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

Direction = Literal["out", "in"]
DIRECTIONS: Final[tuple[Direction, ...]] = ("out", "in")
META_FILE: Final = "adjacency.json"
LAYOUT: Final = 1

ENTITY: Final = np.dtype("<u4")
PROPERTY: Final = np.dtype("<u2")
OFFSET: Final = np.dtype("<u4")
MAX_ENTITY: Final = int(np.iinfo(ENTITY).max)
MAX_PROPERTY: Final = int(np.iinfo(PROPERTY).max)
MAX_LINKS: Final = int(np.iinfo(OFFSET).max)


def array_lengths(entities: int, links: int) -> dict[str, tuple[np.dtype[Any], int]]:
    """Type and length of every array of the folder, by file name."""
    arrays: dict[str, tuple[np.dtype[Any], int]] = {"entities": (ENTITY, entities)}
    for direction in DIRECTIONS:
        arrays[f"{direction}.offsets"] = (OFFSET, entities + 1)
        arrays[f"{direction}.properties"] = (PROPERTY, links)
        arrays[f"{direction}.neighbours"] = (ENTITY, links)
    return arrays


class _Links:
    """The links of one direction."""

    def __init__(self, arrays: dict[str, NDArray[Any]], direction: Direction) -> None:
        self.offsets: NDArray[np.uint32] = arrays[f"{direction}.offsets"]
        self.properties: NDArray[np.uint16] = arrays[f"{direction}.properties"]
        self.neighbours: NDArray[np.uint32] = arrays[f"{direction}.neighbours"]

    def span(self, row: int | None, property: int | None) -> tuple[int, int]:
        """Where the links of an entity (through one property) begin and end."""
        if row is None:
            return 0, 0
        begin, end = int(self.offsets[row]), int(self.offsets[row + 1])
        if property is None or begin == end:
            return begin, end
        if not 0 <= property <= MAX_PROPERTY:
            return begin, begin
        here = self.properties[begin:end]
        # A plain int would make numpy convert the whole slice first.
        wanted = self.properties.dtype.type(property)
        first, last = here.searchsorted(wanted, "left"), here.searchsorted(wanted, "right")
        return begin + int(first), begin + int(last)

    def counts(self, row: int | None) -> Iterator[tuple[int, int]]:
        """Each property of an entity with its number of links; one binary search a property."""
        begin, end = self.span(row, None)
        while begin < end:
            wanted = self.properties[begin]
            length = int(self.properties[begin:end].searchsorted(wanted, "right"))
            yield int(wanted), length
            begin += length

    def union(self, rows: NDArray[np.intp], property: int) -> NDArray[np.uint32]:
        """The distinct neighbours of many entities through one property, ascending."""
        begins = self.offsets[rows].astype(np.int64)
        ends = self.offsets[rows + 1].astype(np.int64)
        first = self._bisect(begins, ends, property)
        last = self._bisect(first, ends, property + 1)
        lengths = last - first
        jumps = np.repeat(first - np.cumsum(lengths) + lengths, lengths)
        return np.unique(self.neighbours[jumps + np.arange(len(jumps))])

    def _bisect(
        self, low: NDArray[np.int64], high: NDArray[np.int64], property: int
    ) -> NDArray[np.int64]:
        """In each span the first place whose property is not below ``property``."""
        low, high = low.copy(), high.copy()
        searching = np.flatnonzero(low < high)
        while len(searching):
            middle = (low[searching] + high[searching]) // 2
            below = self.properties[middle] < property
            low[searching[below]] = middle[below] + 1
            high[searching[~below]] = middle[~below]
            searching = searching[low[searching] < high[searching]]
        return low


class Adjacency:
    """The links of a graph, open for reading; use from several threads and processes is safe.

    Entities and properties are numbers: 42 for Q42, 31 for P31. An entity without links has
    degree 0 and empty pages. The cost of a call does not grow with the links an entity has.

    Attributes:
        links: number of links.
        entities: number of entities that have a link.
        ids: those entities, ascending.
    """

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.ids: NDArray[np.uint32] = arrays["entities"]
        self.entities = len(self.ids)
        self._out, self._in = (_Links(arrays, direction) for direction in DIRECTIONS)
        self.links = len(self._out.neighbours)

    @classmethod
    def open(cls, folder: Path) -> Adjacency:
        """Map the arrays that ``build_adjacency`` wrote into ``folder``.

        Raises:
            GraphSetupError: there are none, they are damaged, or their layout is another one.
        """
        try:
            meta = json.loads((folder / META_FILE).read_text())
            if meta["layout"] != LAYOUT:
                raise ValueError(f"its layout is {meta['layout']}, this program reads {LAYOUT}")
            lengths = array_lengths(meta["entities"], meta["links"])
            arrays = {name: map_array(folder / name, *form) for name, form in lengths.items()}
            for direction in DIRECTIONS:
                if int(arrays[f"{direction}.offsets"][-1]) != meta["links"]:
                    raise ValueError(f"{direction}.offsets does not fit the number of links")
        except (OSError, ValueError, KeyError, TypeError) as error:
            reason = " ".join(str(error).split())
            raise GraphSetupError(
                f"The adjacency {folder} cannot be read ({reason}); build the graph again."
            ) from error
        return cls(arrays)

    def has(self, entity: int) -> bool:
        """Whether an entity has a link in either direction."""
        return self._row(entity) is not None

    def degree(self, entity: int) -> tuple[int, int]:
        """The number of links that leave an entity and of those that lead to it."""
        row = self._row(entity)
        (begin, end), (begin_in, end_in) = self._out.span(row, None), self._in.span(row, None)
        return end - begin, end_in - begin_in

    def counts(self, entity: int, property: int | None = None) -> dict[int, tuple[int, int]]:
        """Links by property as (out, in), in order of property; with ``property`` only that one.

        A property without links is left out.
        """
        row = self._row(entity)
        if property is not None:
            spans = (links.span(row, property) for links in (self._out, self._in))
            out, back = (end - begin for begin, end in spans)
            return {property: (out, back)} if out or back else {}
        out_counts, in_counts = dict(self._out.counts(row)), dict(self._in.counts(row))
        return {
            number: (out_counts.get(number, 0), in_counts.get(number, 0))
            for number in sorted(out_counts.keys() | in_counts.keys())
        }

    def page(
        self,
        entity: int,
        *,
        direction: Literal["out", "in", "both"],
        property: int | None,
        limit: int,
        offset: int,
    ) -> tuple[int, list[tuple[str, int, int]]]:
        """One page of an entity's links.

        Args:
            entity: whose links.
            direction: ``out``, ``in`` or ``both``.
            property: only links through this property; None for all.
            limit: links on the page, at least 0.
            offset: links before the page, at least 0.

        Returns:
            The number of links in all, and the page as (direction, property, neighbour): outgoing
            links first, then by property, then by neighbour.

        Raises:
            InvalidArgument: another direction, or a negative number.
        """
        if direction not in ("out", "in", "both"):
            raise InvalidArgument(f"direction is {direction!r}: use 'out', 'in' or 'both'.")
        if limit < 0 or offset < 0:
            raise InvalidArgument("limit and offset must be 0 or more.")
        row = self._row(entity)
        total = 0
        rows: list[tuple[str, int, int]] = []
        for name in DIRECTIONS if direction == "both" else (direction,):
            links = self._side(name)
            begin, end = links.span(row, property)
            first = begin + max(0, offset - total)
            last = min(end, first + limit - len(rows))
            properties = links.properties[first:last].tolist()
            neighbours = links.neighbours[first:last].tolist()
            rows += [(name, *pair) for pair in zip(properties, neighbours, strict=True)]
            total += end - begin
        return total, rows

    def neighbours(self, entity: int, property: int, direction: Direction) -> NDArray[np.uint32]:
        """An entity's neighbours through one property, ascending: a read-only view, no copy."""
        links = self._side(direction)
        begin, end = links.span(self._row(entity), property)
        return links.neighbours[begin:end]

    def objects_of(self, subjects: ArrayLike, property: int) -> NDArray[np.uint32]:
        """The distinct objects that any of ``subjects`` points to through a property, ascending."""
        return self._union("out", subjects, property)

    def subjects_of(self, objects: ArrayLike, property: int) -> NDArray[np.uint32]:
        """The distinct subjects that point to any of ``objects`` through a property, ascending."""
        return self._union("in", objects, property)

    def _union(
        self, direction: Direction, entities: ArrayLike, property: int
    ) -> NDArray[np.uint32]:
        wanted = np.asarray(entities)
        if wanted.size == 0 or not self.entities:
            return np.empty(0, ENTITY)
        known = wanted[(wanted >= 0) & (wanted <= MAX_ENTITY)].astype(ENTITY)
        rows = self.ids.searchsorted(known)
        rows = np.minimum(rows, self.entities - 1)
        return self._side(direction).union(rows[self.ids[rows] == known], property)

    def _side(self, direction: Direction) -> _Links:
        return self._out if direction == "out" else self._in

    def _row(self, entity: int) -> int | None:
        """The place of an entity in ``ids``, or None."""
        if not 0 <= entity <= MAX_ENTITY:
            return None
        row = int(self.ids.searchsorted(self.ids.dtype.type(entity)))
        return row if row < self.entities and int(self.ids[row]) == entity else None


def map_array(path: Path, dtype: np.dtype[Any], length: int) -> NDArray[Any]:
    """Map a raw array for reading; ValueError where the file has another size."""
    size = path.stat().st_size
    if size != length * dtype.itemsize:
        raise ValueError(f"{path.name} has {size} bytes instead of {length * dtype.itemsize}")
    if not length:
        return np.empty(0, dtype)
    # A plain view: slices of np.memmap objects are three times slower.
    return np.memmap(path, dtype, mode="r").view(np.ndarray)
