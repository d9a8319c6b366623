"""The three ways to the same real data: folder, endpoint with labels, endpoint alone."""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from kg_functions.adjacency import Adjacency
from kg_functions.errors import CallError
from kg_functions.opening import open_graph
from tests.support.sparql_servers import oxigraph_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kg_functions.graph import Graph

pytestmark = pytest.mark.slow

HUB = "Q30"
FUNCTIONS: dict[str, dict[str, Any]] = {
    "claims": {"limit": 40},
    "references": {"limit": 40},
    "describe": {},
    "labels": {},
    "label": {"language": "ru"},
    "descriptions": {},
    "edges": {"limit": 50, "offset": 20},
    "count_edges": {},
    "degree": {},
    "name": {},
    "has": {},
}


@pytest.fixture(scope="module")
def graphs(slice_graph: Path) -> Iterator[list[Graph]]:
    with oxigraph_server(slice_graph / "store") as url:
        opened = [open_graph(slice_graph), open_graph(url, labels=slice_graph), open_graph(url)]
        yield opened
        for graph in opened:
            graph.close()


@pytest.fixture(scope="module")
def sample(slice_graph: Path) -> list[str]:
    """Items from all over the slice, its largest hub, some properties, and one that is missing."""
    items = Adjacency.open(slice_graph / "adjacency").ids
    some = [f"Q{number}" for number in items[:: len(items) // 50].tolist()]
    return [HUB, *some, "P31", "P569", "Q4294967295"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_ways_agree(graphs: list[Graph], sample: list[str], name: str) -> None:
    answers = [
        {
            one: str(answer) if isinstance(answer, CallError) else answer
            for one, answer in getattr(graph, name)(sample, **FUNCTIONS[name]).items()
        }
        for graph in graphs
    ]
    assert list(answers[0]) == list(dict.fromkeys(sample))
    assert answers[1] == answers[0]
    assert answers[2] == answers[0]


def test_every_link_of_the_hub(graphs: list[Graph]) -> None:
    """Read to the end in pages from the adjacency, and by SPARQL, without gaps or doubles."""
    parts: list[list[tuple[str, ...]]] = []
    for graph, size in ((graphs[0], 5_000), (graphs[2], 9_000)):
        links: list[tuple[str, ...]] = []
        offset: int | None = 0
        while offset is not None:
            page = graph.edges([HUB], limit=size, offset=offset)[HUB]
            links += [(e["direction"], e["property"], e["entity"]) for e in page["edges"]]
            offset = page["next_offset"]
        assert len(set(links)) == len(links) == page["total"] > 20_000
        parts.append(links)
    assert parts[0] == parts[1]


def test_a_hub_costs_no_more_than_a_leaf(graphs: list[Graph]) -> None:
    """B55: on a folder the time of a page does not grow with the links there are."""
    folder = graphs[0]
    leaf = "Q42"
    links = [folder.degree([one])[one]["in"] for one in (HUB, leaf)]
    assert links[0] > 100 * links[1]
    calls: list[Callable[[str], object]] = [
        lambda one: folder.edges([one], limit=10),
        lambda one: folder.edges([one], limit=10, offset=sum(links) // 3),
        lambda one: folder.count_edges([one], property="P27"),
        lambda one: folder.degree([one]),
    ]
    for call in calls:
        hub, small = (_median_ms(partial(call, one)) for one in (HUB, leaf))
        assert hub < 10 * small + 5, f"{hub:.2f} ms against {small:.2f} ms"


def _median_ms(call: Callable[[], object]) -> float:
    taken = []
    for _ in range(25):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken[5:]) * 1000
