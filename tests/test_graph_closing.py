"""A graph that is closed, and one whose parts are damaged while it is in use."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path
from typing import Any

import pytest

from kg_functions.errors import BackendDown
from kg_functions.label_index import LabelIndex
from kg_functions.opening import open_graph
from kg_functions.registry import FUNCTIONS
from kg_functions.wikidata.later import LaterLabelIndex
from tests.support import graphs as world


def call(graph: Any, name: str) -> Any:
    """One of the functions, with what a used graph can answer from what it remembers."""
    return getattr(graph, name)(["Q5"] if FUNCTIONS[name].takes_ids else "human")


def test_every_function_says_that_the_graph_is_closed(world_folder: Path) -> None:
    graph = open_graph(world_folder)
    for name in FUNCTIONS:
        call(graph, name)
    graph.close()
    graph.close()
    for name in FUNCTIONS:
        with pytest.raises(BackendDown, match="closed"):
            call(graph, name)
    with pytest.raises(BackendDown, match="closed"):
        graph.claims(["Q5"], world.MISSING_PROPERTY)


def test_closing_releases_the_indexes(copy: Path) -> None:
    graph = open_graph(copy)
    graph.search_entity("human")
    graph.degree(["Q5"])
    assert mapped(copy)
    graph.close()
    gc.collect()
    assert mapped(copy) == []


def mapped(folder: Path) -> list[str]:
    """The files below a folder that this process has mapped into memory."""
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return sorted(line.split()[-1] for line in lines if f"{folder}/" in line)


def test_a_closed_label_index(world_folder: Path) -> None:
    index = LabelIndex.open(world_folder / "labels")
    index.close()
    index.close()
    with pytest.raises(BackendDown, match="closed"):
        index.search("human", kind="item", limit=1, offset=0)


@pytest.fixture
def copy(world_folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(world_folder, tmp_path / "graph")
    return tmp_path / "graph"


@pytest.mark.parametrize("damage", ["gone", "cut"])
def test_parts_that_are_damaged_after_opening(copy: Path, damage: str) -> None:
    graph = open_graph(copy)
    for part in ("labels", "adjacency"):
        if damage == "gone":
            shutil.rmtree(copy / part)
        else:
            for file in (file for file in (copy / part).rglob("*") if file.is_file()):
                file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(BackendDown, match="build the graph again"):
        graph.search_entity("human")
    with pytest.raises(BackendDown, match="build the graph again"):
        graph.degree(["Q5"])
    graph.close()


def test_what_tantivy_finds_wrong_is_the_graphs_failure(
    world_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = LaterLabelIndex(world_folder / "labels")

    def fail(*arguments: Any, **options: Any) -> Any:
        raise ValueError("An IO error occurred")

    monkeypatch.setattr(LabelIndex, "search", fail)
    with pytest.raises(BackendDown, match="An IO error occurred"):
        index.search("human")
