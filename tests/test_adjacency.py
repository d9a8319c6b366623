"""The adjacency answers what a plain list of links says, without reading a hub whole."""

from __future__ import annotations

import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_functions.adjacency import MAX_ENTITY, MAX_PROPERTY, META_FILE, Adjacency
from kg_functions.adjacency_build import LinkWriter, build_adjacency
from kg_functions.errors import GraphSetupError, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterable

Link = tuple[int, int, int]

_entities = st.sampled_from([0, 1, 2, 5, 42, 65_536, MAX_ENTITY - 1, MAX_ENTITY])
_properties = st.sampled_from([1, 2, 31, 256, MAX_PROPERTY])
_links = st.lists(st.tuples(_entities, _properties, _entities), max_size=60)


def build(folder: Path, links: Iterable[Link], memory_bytes: int = 1 << 20) -> Adjacency:
    with LinkWriter(folder / "links") as writer:
        for link in links:
            writer.add(*link)
    build_adjacency([folder / "links"], folder / "adjacency", memory_bytes=memory_bytes)
    return Adjacency.open(folder / "adjacency")


def edges_of(links: set[Link], entity: int) -> list[tuple[str, int, int]]:
    """All links of an entity as a page shows them."""
    out = [("out", p, o) for s, p, o in links if s == entity]
    back = [("in", p, s) for s, p, o in links if o == entity]
    return sorted(out) + sorted(back)


@settings(max_examples=80, deadline=None)
@given(_links, st.sampled_from([1, 1000, 1 << 20]))
def test_every_answer_is_that_of_the_plain_links(links: list[Link], memory_bytes: int) -> None:
    distinct = set(links)
    with TemporaryDirectory() as folder:
        adjacency = build(Path(folder), links, memory_bytes)
        assert adjacency.links == len(distinct)
        known = {s for s, _, _ in distinct} | {o for _, _, o in distinct}
        assert adjacency.entities == len(known)
        assert adjacency.ids.tolist() == sorted(known)
        for entity in (*known, 3, MAX_ENTITY + 1, -1):
            compare_entity(adjacency, distinct, entity, entity in known)
        for property in (1, 31, 77, MAX_PROPERTY, MAX_PROPERTY + 1):
            compare_sets(adjacency, distinct, [*sorted(known)[::2], 3, 3], property)


def compare_entity(adjacency: Adjacency, links: set[Link], entity: int, known: bool) -> None:
    edges = edges_of(links, entity)
    assert adjacency.has(entity) is known
    assert adjacency.degree(entity) == (
        sum(d == "out" for d, _, _ in edges),
        sum(d == "in" for d, _, _ in edges),
    )
    counts = {
        p: (
            sum((d, q) == ("out", p) for d, q, _ in edges),
            sum((d, q) == ("in", p) for d, q, _ in edges),
        )
        for p in sorted({p for _, p, _ in edges})
    }
    assert list(adjacency.counts(entity).items()) == list(counts.items())
    for property in (*counts, 77, MAX_PROPERTY + 1):
        one = {property: counts[property]} if property in counts else {}
        assert adjacency.counts(entity, property) == one
    for direction in ("both", "out", "in"):
        for property in (None, *counts, 77):
            wanted = [
                edge
                for edge in edges
                if direction in ("both", edge[0]) and property in (None, edge[1])
            ]
            paged: list[tuple[str, int, int]] = []
            while True:
                total, rows = adjacency.page(
                    entity, direction=direction, property=property, limit=3, offset=len(paged)
                )
                assert total == len(wanted)
                if not rows:
                    break
                paged += rows
            assert paged == wanted
            if direction != "both" and property is not None:
                neighbours = adjacency.neighbours(entity, property, direction)
                assert neighbours.tolist() == [n for _, _, n in wanted]


def compare_sets(
    adjacency: Adjacency, links: set[Link], entities: list[int], property: int
) -> None:
    objects = {o for s, p, o in links if s in entities and p == property}
    assert adjacency.objects_of(entities, property).tolist() == sorted(objects)
    subjects = {s for s, p, o in links if o in entities and p == property}
    assert adjacency.subjects_of(np.array(entities), property).tolist() == sorted(subjects)


class CountingArray:
    """An array that counts how many of its elements were looked at."""

    def __init__(self, array: Any, reads: list[int]) -> None:
        self._array, self._reads = array, reads
        self.dtype = array.dtype

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, place: Any) -> Any:
        part = self._array[place]
        if isinstance(place, slice):
            return CountingArray(part, self._reads)
        self._reads.append(np.size(part))
        return part

    def searchsorted(self, value: Any, side: str = "left") -> Any:
        assert np.asarray(value).dtype == self.dtype, "numpy would convert the whole array"
        self._reads.append(math.ceil(math.log2(len(self) + 1)) + 1)
        return self._array.searchsorted(value, side)

    def tolist(self) -> list[int]:
        self._reads.append(len(self))
        return list(self._array.tolist())


def test_no_call_reads_a_hub_whole(tmp_path: Path) -> None:
    """B55: counts cost a search a property, a page costs the page."""
    hub, properties, each = 5, 8, 4000
    adjacency = build(
        tmp_path, ((1000 + n, 1 + n % properties, hub) for n in range(properties * each))
    )
    reads: list[int] = []
    for side in (adjacency._out, adjacency._in):
        for name in ("offsets", "properties", "neighbours"):
            setattr(side, name, CountingArray(getattr(side, name), reads))

    def cost(call: Any) -> int:
        reads.clear()
        call()
        return sum(reads)

    search = math.ceil(math.log2(properties * each)) + 2
    assert adjacency.degree(hub) == (0, properties * each)
    assert 0 < cost(lambda: adjacency.degree(hub)) <= 4
    assert 0 < cost(lambda: adjacency.counts(hub)) <= properties * search + 8
    assert 0 < cost(lambda: adjacency.counts(hub, 3)) <= 2 * search + 8
    for property in (None, 3):
        page = {"direction": "both", "property": property, "limit": 10, "offset": each // 2}
        assert adjacency.page(hub, **page)[1]
        assert 0 < cost(lambda page=page: adjacency.page(hub, **page)) <= 20 + 2 * search + 8


def test_neighbours_are_a_read_only_view(tmp_path: Path) -> None:
    adjacency = build(tmp_path, [(1, 31, 5), (1, 31, 7)])
    neighbours = adjacency.neighbours(1, 31, "out")
    assert type(neighbours) is np.ndarray
    assert neighbours.dtype == np.uint32
    assert np.shares_memory(neighbours, adjacency._out.neighbours)
    with pytest.raises(ValueError, match="read-only"):
        neighbours[0] = 9


@pytest.mark.parametrize("links", [[], [(1, 31, 5)]])
def test_set_algebra_over_nothing(tmp_path: Path, links: list[Link]) -> None:
    adjacency = build(tmp_path, links)
    assert adjacency.objects_of([], 31).tolist() == []
    assert adjacency.objects_of([77, -1, MAX_ENTITY + 1], 31).tolist() == []


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    adjacency = build(tmp_path, [(1, 31, 5)])
    page = {"direction": "both", "property": None, "limit": 1, "offset": 0}
    for wrong in ({"direction": "up"}, {"limit": -1}, {"offset": -1}):
        with pytest.raises(InvalidArgument):
            adjacency.page(1, **{**page, **wrong})


def _remove_meta(folder: Path) -> None:
    (folder / META_FILE).unlink()


def _other_layout(folder: Path) -> None:
    meta = json.loads((folder / META_FILE).read_text())
    (folder / META_FILE).write_text(json.dumps({**meta, "layout": 999}))


def _cut_meta(folder: Path) -> None:
    (folder / META_FILE).write_text('{"layout"')


def _meta_of_something_else(folder: Path) -> None:
    (folder / META_FILE).write_text("[1]")


def _cut_array(folder: Path) -> None:
    data = (folder / "in.neighbours").read_bytes()
    (folder / "in.neighbours").write_bytes(data[:-2])


def _wrong_offsets(folder: Path) -> None:
    size = (folder / "out.offsets").stat().st_size
    (folder / "out.offsets").write_bytes(b"\xff" * size)


def _remove_array(folder: Path) -> None:
    (folder / "entities").unlink()


@pytest.mark.parametrize(
    "damage",
    [
        _remove_meta,
        _other_layout,
        _cut_meta,
        _meta_of_something_else,
        _cut_array,
        _wrong_offsets,
        _remove_array,
    ],
)
def test_a_damaged_folder_is_one_clear_line(tmp_path: Path, damage: Any) -> None:
    build(tmp_path, [(1, 31, 5), (5, 31, 7)])
    damage(tmp_path / "adjacency")
    with pytest.raises(GraphSetupError) as caught:
        Adjacency.open(tmp_path / "adjacency")
    message = str(caught.value)
    assert "\n" not in message
    assert str(tmp_path / "adjacency") in message
    assert "build the graph again" in message
