"""Sorting on disk gives the same arrays as sorting in memory, and failure leaves nothing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kg_functions import link_runs
from kg_functions.adjacency import MAX_ENTITY, MAX_PROPERTY, Adjacency
from kg_functions.adjacency_build import AdjacencyCounts, LinkWriter, build_adjacency
from kg_functions.errors import GraphSetupError
from kg_functions.link_runs import LinkRuns, Links

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Link = tuple[int, int, int]


def random_links(count: int, seed: int = 7) -> list[Link]:
    """Links with a hub, with duplicates, and with ids over the whole range."""
    rng = random.Random(seed)
    ids = [rng.randrange(MAX_ENTITY) for _ in range(count // 5)]
    links = [
        (
            rng.choice(ids),
            rng.choice((17, 31, 31, 31, 361, MAX_PROPERTY)),
            5 if rng.random() < 0.3 else rng.choice(ids),
        )
        for _ in range(count)
    ]
    return links + rng.choices(links, k=count // 4)


def write(path: Path, links: Iterable[Link]) -> Path:
    with LinkWriter(path) as writer:
        for link in links:
            writer.add(*link)
    return path


def arrays(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def runs_read(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every sorted run that a merge reads from disk."""
    opened: list[object] = []

    class CountedRun(link_runs._Run):
        def fill(self) -> bool:
            opened.append(self)
            return super().fill()

    monkeypatch.setattr(link_runs, "_Run", CountedRun)
    return opened


def test_sorting_on_disk_equals_sorting_in_memory(tmp_path: Path, runs_read: list[object]) -> None:
    links = random_links(4000)
    files = [write(tmp_path / str(part), links[part::3]) for part in range(3)]
    whole = build_adjacency(files, tmp_path / "whole")
    assert len(set(map(id, runs_read))) == 2, "one run each way: sorted in memory"
    runs_read.clear()

    on_disk = build_adjacency(files, tmp_path / "on-disk", memory_bytes=25_600)
    assert len(set(map(id, runs_read))) > 40
    assert on_disk == whole
    assert arrays(tmp_path / "on-disk") == arrays(tmp_path / "whole")

    distinct = sorted(set(links))
    assert whole == AdjacencyCounts(
        len(distinct), len({s for s, _, _ in distinct} | {o for _, _, o in distinct})
    )
    properties, neighbours = (
        np.fromfile(tmp_path / "whole" / f"out.{name}", kind)
        for name, kind in (("properties", "<u2"), ("neighbours", "<u4"))
    )
    assert list(zip(properties.tolist(), neighbours.tolist(), strict=True)) == [
        (p, o) for _, p, o in distinct
    ]


def test_the_comparison_notices_duplicates_that_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "links", random_links(3000))
    whole = build_adjacency([file], tmp_path / "whole")

    def with_duplicates(links: Links) -> Links:
        order = np.lexsort((links.neighbour, links.key))
        return Links(links.key[order], links.neighbour[order])

    monkeypatch.setattr(Links, "sorted", with_duplicates)
    assert build_adjacency([file], tmp_path / "twice") != whole


def merged(path: Path, links: list[Link], at_once: int) -> list[Links]:
    """The blocks that a merge of runs of ``at_once`` links gives."""
    subjects, properties, objects = np.array(links, np.uint32).T
    everything = Links.of(subjects, properties, objects)
    with LinkRuns(path, at_once) as runs:
        for begin in range(0, len(links), at_once):
            runs.add(everything.part(begin, begin + at_once))
        return list(runs.merged())


def numbers(blocks: list[Links]) -> list[Link]:
    return [
        link
        for block in blocks
        for link in zip(
            block.entity.tolist(), block.property.tolist(), block.neighbour.tolist(), strict=True
        )
    ]


def test_merged_runs_are_in_order_within_the_memory_given(tmp_path: Path) -> None:
    links = random_links(2000)
    blocks = merged(tmp_path / "runs", links, 200)
    assert numbers(blocks) == sorted(set(links))
    assert max(map(len, blocks)) <= 200


def test_a_merge_that_reads_too_far_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = random_links(2000)
    monkeypatch.setattr(Links, "until", lambda links, last: len(links))
    assert numbers(merged(tmp_path / "runs", links, 200)) != sorted(set(links))


def test_no_links_at_all(tmp_path: Path) -> None:
    counts = build_adjacency([write(tmp_path / "links", [])], tmp_path / "adjacency")
    assert counts == AdjacencyCounts(0, 0)
    adjacency = Adjacency.open(tmp_path / "adjacency")
    assert adjacency.degree(42) == (0, 0)
    assert build_adjacency([], tmp_path / "of-no-files") == counts


def test_many_links_go_through_the_writers_buffer(tmp_path: Path) -> None:
    links = [(n, 31, n + 1) for n in range(70_000)]
    counts = build_adjacency([write(tmp_path / "links", links)], tmp_path / "adjacency")
    assert counts == AdjacencyCounts(70_000, 70_001)
    assert Adjacency.open(tmp_path / "adjacency").degree(69_999) == (1, 1)


@pytest.mark.parametrize(
    "link", [(MAX_ENTITY + 1, 1, 1), (1, MAX_PROPERTY + 1, 1), (1, 1, -1), (1, -1, 1)]
)
def test_a_number_that_does_not_fit_is_refused(tmp_path: Path, link: Link) -> None:
    with LinkWriter(tmp_path / "links") as writer:
        with pytest.raises(GraphSetupError, match=r"does not fit: .* up to Q4294967295"):
            writer.add(*link)
        writer.add(1, 31, 5)
    assert build_adjacency([tmp_path / "links"], tmp_path / "out").links == 1


def test_more_links_than_fit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "links", [(1, 31, 5), (2, 31, 5)])
    monkeypatch.setattr("kg_functions.adjacency_build.MAX_LINKS", 1)
    with pytest.raises(GraphSetupError, match="2 links do not fit"):
        build_adjacency([file], tmp_path / "adjacency")
    assert [left.name for left in tmp_path.iterdir()] == ["links"]


def test_a_cut_link_file_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "links", [(1, 31, 5)])
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(GraphSetupError, match="cut short"):
        build_adjacency([file], tmp_path / "adjacency")
    assert [left.name for left in tmp_path.iterdir()] == ["links"]


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "adjacency").mkdir()
    with pytest.raises(GraphSetupError, match="there already"):
        build_adjacency([write(tmp_path / "links", [])], tmp_path / "adjacency")


@pytest.mark.parametrize("stop_at", [1, 2, 3])
def test_an_interrupted_build_leaves_nothing(tmp_path: Path, stop_at: int) -> None:
    file = write(tmp_path / "links", [(1, 31, 5), (2, 31, 5)])
    calls = []

    def interrupt(done: int, total: int) -> None:
        calls.append((done, total))
        if len(calls) == stop_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_adjacency([file], tmp_path / "adjacency", progress=interrupt)
    assert [left.name for left in tmp_path.iterdir()] == ["links"]


def test_progress_counts_every_link_three_times(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    file = write(tmp_path / "links", [(1, 31, 5), (2, 31, 5)])
    build_adjacency([file], tmp_path / "out", progress=lambda *call: calls.append(call))
    assert calls == [(2, 6), (4, 6), (6, 6)]
