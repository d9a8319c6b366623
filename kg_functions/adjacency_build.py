"""Writes the adjacency of a graph folder: collects links, sorts them, lays out the arrays."""

from __future__ import annotations

import json
import shutil
import tempfile
from array import array
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kg_functions.adjacency import (
    ENTITY,
    LAYOUT,
    MAX_ENTITY,
    MAX_LINKS,
    MAX_PROPERTY,
    META_FILE,
    OFFSET,
    PROPERTY,
    map_array,
)
from kg_functions.errors import GraphSetupError
from kg_functions.link_runs import BYTES_A_LINK, LinkRuns, Links

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from kg_functions.adjacency import Direction

_BUFFERED_NUMBERS: Final = 3 << 16
_LINK_BYTES: Final = 3 * array("I").itemsize


class LinkWriter:
    """Collects the links that one process finds, in a file for ``build_adjacency``.

    Args:
        path: the file, written anew.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._buffer = array("I")

    def add(self, subject: int, property: int, object: int) -> None:
        """Take one link: 42, 31, 5 for Q42 P31 Q5. The same link may come more than once.

        Raises:
            GraphSetupError: a number that the adjacency cannot hold.
        """
        if not (
            0 <= subject <= MAX_ENTITY
            and 0 <= object <= MAX_ENTITY
            and 0 <= property <= MAX_PROPERTY
        ):
            raise GraphSetupError(
                f"The link Q{subject} P{property} Q{object} does not fit: the adjacency holds "
                f"items up to Q{MAX_ENTITY} and properties up to P{MAX_PROPERTY}."
            )
        self._buffer.extend((subject, property, object))
        if len(self._buffer) >= _BUFFERED_NUMBERS:
            self._flush()

    def close(self) -> None:
        """Write what is left; a second call does nothing."""
        if not self._file.closed:
            self._flush()
            self._file.close()

    def _flush(self) -> None:
        self._buffer.tofile(self._file)
        del self._buffer[:]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@dataclass(frozen=True)
class AdjacencyCounts:
    """What was built: the number of distinct links and of entities that have one."""

    links: int
    entities: int


def build_adjacency(
    link_files: Sequence[Path],
    out: Path,
    *,
    memory_bytes: int = 1 << 30,
    progress: Callable[[int, int], None] | None = None,
) -> AdjacencyCounts:
    """Sort the links of all files, without duplicates, into the arrays of an adjacency.

    Args:
        link_files: what ``LinkWriter`` wrote; they are left as they are.
        out: the new folder; it appears when it is whole, and not at all after an error.
        memory_bytes: what sorting may use; less memory means more and shorter runs on disk, where
            the runs take 12 bytes a link.
        progress: called with (links handled, links to handle); each link is handled three times.

    Raises:
        GraphSetupError: ``out`` is there already or cannot be written, a link file is cut short,
            or there are more links than fit.
    """
    if out.exists():
        raise GraphSetupError(f"{out} is there already; remove it or choose another folder.")
    sizes = {path: path.stat().st_size for path in link_files}
    for path, size in sizes.items():
        if size % _LINK_BYTES:
            raise GraphSetupError(f"The link file {path} is cut short; build the graph again.")
    steps = _Steps(3 * sum(sizes.values()) // _LINK_BYTES, progress)
    out.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        result = work / "result"
        result.mkdir()
        # Two sets of runs are open at a time: one is read while the other is filled.
        at_once = max(1, memory_bytes // (2 * BYTES_A_LINK))
        counts = _build(link_files, work, result, at_once, steps)
        meta = {"layout": LAYOUT, "entities": counts.entities, "links": counts.links}
        (result / META_FILE).write_text(json.dumps(meta))
        result.rename(out)
    except OSError as error:
        raise GraphSetupError(f"The adjacency {out} was not written: {error}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return counts


class _Steps:
    """Counts links as they are handled."""

    def __init__(self, total: int, progress: Callable[[int, int], None] | None) -> None:
        self._done, self._total = 0, total
        self._progress = progress or (lambda done, total: None)

    def add(self, links: int) -> None:
        self._done += links
        self._progress(self._done, self._total)


def _build(
    link_files: Sequence[Path], work: Path, result: Path, at_once: int, steps: _Steps
) -> AdjacencyCounts:
    """Write all arrays into ``result``; ``at_once`` is how many links a set of runs may hold."""
    with (
        LinkRuns(work / "by-subject", at_once) as by_subject,
        LinkRuns(work / "by-object", at_once) as by_object,
        _DirectionWriter(result, "out", work) as out,
        _DirectionWriter(result, "in", work) as back,
    ):
        for links in _read(link_files, at_once):
            by_subject.add(links)
            steps.add(len(links))
        for links in by_subject.merged():
            out.add(links)
            by_object.add(links.turned())
            steps.add(len(links))
        for links in by_object.merged():
            back.add(links)
            steps.add(len(links))
    if out.links > MAX_LINKS:
        raise GraphSetupError(f"{out.links} links do not fit: the adjacency holds {MAX_LINKS}.")
    return AdjacencyCounts(out.links, _write_entities(result, (out, back), at_once))


def _read(link_files: Sequence[Path], at_once: int) -> Iterator[Links]:
    for path in link_files:
        with path.open("rb") as file:
            while len(numbers := np.fromfile(file, np.uint32, 3 * at_once)):
                subjects, properties, objects = numbers.reshape(-1, 3).T
                yield Links.of(subjects, properties, objects)


class _DirectionWriter:
    """Writes sorted links as one direction's arrays; whose they are is kept aside.

    Attributes:
        direction: ``out`` or ``in``.
        links: how many were written.
        entities: a file with each entity that has such links, ascending.
        ends: a file with the place where each one's links end.
    """

    def __init__(self, result: Path, direction: Direction, work: Path) -> None:
        self.direction = direction
        self.links = 0
        self.entities = work / f"{direction}.entities"
        self.ends = work / f"{direction}.ends"
        self._properties = (result / f"{direction}.properties").open("wb")
        self._neighbours = (result / f"{direction}.neighbours").open("wb")
        self._entities = self.entities.open("wb")
        self._ends = self.ends.open("wb")
        self._last: int | None = None

    def add(self, links: Links) -> None:
        """Write a block that comes after all before; its first entity may be the last one's."""
        links.property.astype(PROPERTY).tofile(self._properties)
        links.neighbour.astype(ENTITY).tofile(self._neighbours)
        entity = links.entity
        first = np.flatnonzero(entity[1:] != entity[:-1]) + 1
        if self._last is not None and self._last != entity[0]:
            self._end(np.array([self._last]), np.array([self.links]))
        self._end(entity[first - 1], first + self.links)
        self._last = int(entity[-1])
        self.links += len(links)

    def _end(self, entities: NDArray[Any], ends: NDArray[Any]) -> None:
        entities.astype(ENTITY).tofile(self._entities)
        ends.astype(OFFSET).tofile(self._ends)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._last is not None:
            self._end(np.array([self._last]), np.array([self.links]))
        for file in (self._properties, self._neighbours, self._entities, self._ends):
            file.close()


def _write_entities(result: Path, directions: Sequence[_DirectionWriter], at_once: int) -> int:
    """Write the entities of both directions and where the links of each begin; count them."""
    ids = [_numbers(direction.entities) for direction in directions]
    ends = [_numbers(direction.ends) for direction in directions]
    count = 0
    with ExitStack() as stack:
        entities = stack.enter_context((result / "entities").open("wb"))
        offsets = [
            stack.enter_context((result / f"{direction.direction}.offsets").open("wb"))
            for direction in directions
        ]
        for file in offsets:
            np.zeros(1, OFFSET).tofile(file)
        for block in _united(ids, at_once):
            block.tofile(entities)
            count += len(block)
            for file, own_ids, own_ends in zip(offsets, ids, ends, strict=True):
                before = own_ids.searchsorted(block, "right")
                starts = np.zeros(len(block), OFFSET)
                starts[before > 0] = own_ends[before[before > 0] - 1]
                starts.tofile(file)
    return count


def _united(arrays: Sequence[NDArray[np.uint32]], at_once: int) -> Iterator[NDArray[np.uint32]]:
    """The distinct numbers of several ascending arrays, ascending, in blocks."""
    rest = [numbers for numbers in arrays if len(numbers)]
    while rest:
        stop = min(numbers[:at_once][-1] for numbers in rest)
        ends = [int(numbers.searchsorted(stop, "right")) for numbers in rest]
        yield np.unique(
            np.concatenate([numbers[:end] for numbers, end in zip(rest, ends, strict=True)])
        )
        rest = [n[end:] for n, end in zip(rest, ends, strict=True) if end < len(n)]


def _numbers(path: Path) -> NDArray[np.uint32]:
    return map_array(path, ENTITY, path.stat().st_size // ENTITY.itemsize)
