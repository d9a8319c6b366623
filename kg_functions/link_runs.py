"""Sorts more links than memory holds: sorted runs in one file, then merged block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import BufferedRandom
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

_RECORD: Final = np.dtype([("key", "<u8"), ("neighbour", "<u4")])
_PROPERTY_BITS: Final = 16

BYTES_A_LINK: Final = 64
"""What a link takes in memory while it is sorted: record, key, place, and a copy of each."""


@dataclass(frozen=True)
class Links:
    """Links as two arrays of one length.

    Attributes:
        key: entity and property in one number, so that sorting by it sorts by both.
        neighbour: the entity at the other end.
    """

    key: NDArray[np.uint64]
    neighbour: NDArray[np.uint32]

    @classmethod
    def of(
        cls, entity: NDArray[Any], property: NDArray[Any], neighbour: NDArray[np.uint32]
    ) -> Links:
        """Put the three numbers of each link together."""
        key = (entity.astype(np.uint64) << np.uint64(_PROPERTY_BITS)) | property
        return cls(key, neighbour)

    def __len__(self) -> int:
        return len(self.key)

    @property
    def entity(self) -> NDArray[np.uint32]:
        """The entity whose links these are."""
        return (self.key >> np.uint64(_PROPERTY_BITS)).astype(np.uint32)

    @property
    def property(self) -> NDArray[np.uint16]:
        """The property of each link."""
        return self.key.astype(np.uint16)

    def turned(self) -> Links:
        """The same links seen from the other end."""
        return Links.of(self.neighbour, self.property, self.entity)

    def part(self, begin: int, end: int | None = None) -> Links:
        """The links from one place to another."""
        return Links(self.key[begin:end], self.neighbour[begin:end])

    def sorted(self) -> Links:
        """The distinct links by entity, property and neighbour."""
        order = np.lexsort((self.neighbour, self.key))
        key, neighbour = self.key[order], self.neighbour[order]
        new = np.ones(len(key), bool)
        new[1:] = (key[1:] != key[:-1]) | (neighbour[1:] != neighbour[:-1])
        return Links(key[new], neighbour[new])

    def until(self, last: tuple[int, int]) -> int:
        """How many of these sorted links are not after the link ``last`` (key, neighbour)."""
        key, neighbour = np.uint64(last[0]), np.uint32(last[1])
        begin, end = self.key.searchsorted(key, "left"), self.key.searchsorted(key, "right")
        return int(begin + self.neighbour[begin:end].searchsorted(neighbour, "right"))


def joined(parts: Sequence[Links]) -> Links:
    """All links of several parts, one part after the other."""
    return Links(
        np.concatenate([part.key for part in parts]),
        np.concatenate([part.neighbour for part in parts]),
    )


class LinkRuns:
    """A set of links on disk that is filled first and then read once in order.

    Args:
        path: a file for the runs, 12 bytes a link.
        at_once: how many links may be in memory.
    """

    def __init__(self, path: Path, at_once: int) -> None:
        self._file = path.open("w+b")
        self._at_once = at_once
        self._waiting: list[Links] = []
        self._waiting_links = 0
        self._ends = [0]

    def add(self, links: Links) -> None:
        """Take links, at most ``at_once``, in any order."""
        if self._waiting_links + len(links) > self._at_once:
            self._write_run()
        self._waiting.append(links)
        self._waiting_links += len(links)

    def merged(self) -> Iterator[Links]:
        """Every distinct link once, in order of entity, property and neighbour, in blocks."""
        self._write_run()
        block = max(1, self._at_once // max(1, len(self._ends) - 1))
        runs = [
            _Run(self._file, begin, end, block)
            for begin, end in zip(self._ends, self._ends[1:], strict=False)
        ]
        while runs:
            # What comes after a block's last link is not in memory yet: stop at the first of them.
            stop = min(run.last for run in runs)
            yield joined([run.take(stop) for run in runs]).sorted()
            runs = [run for run in runs if run.fill()]

    def _write_run(self) -> None:
        if not self._waiting_links:
            return
        links = joined(self._waiting).sorted()
        self._waiting.clear()
        self._waiting_links = 0
        records = np.empty(len(links), _RECORD)
        records["key"], records["neighbour"] = links.key, links.neighbour
        records.tofile(self._file)
        self._ends.append(self._ends[-1] + len(links))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


class _Run:
    """One sorted run, of which a block is in memory."""

    def __init__(self, file: BufferedRandom, begin: int, end: int, block: int) -> None:
        self._file, self._next, self._end, self._block = file, begin, end, block
        self._links = Links(np.empty(0, np.uint64), np.empty(0, np.uint32))
        self.fill()

    @property
    def last(self) -> tuple[int, int]:
        """The last link in memory, as (key, neighbour)."""
        return int(self._links.key[-1]), int(self._links.neighbour[-1])

    def take(self, stop: tuple[int, int]) -> Links:
        """Take out what is in memory up to the link ``stop``."""
        end = self._links.until(stop)
        taken, self._links = self._links.part(0, end), self._links.part(end)
        return taken

    def fill(self) -> bool:
        """Read the next block if none is left in memory; False at the end of the run."""
        if not len(self._links) and self._next < self._end:
            count = min(self._block, self._end - self._next)
            self._file.seek(self._next * _RECORD.itemsize)
            records = np.fromfile(self._file, _RECORD, count)
            self._links = Links(records["key"].copy(), records["neighbour"].copy())
            self._next += count
        return len(self._links) > 0
