"""Opening graphs by name: one clear line for whatever is wrong."""

from __future__ import annotations

import json
import shutil
import threading
from typing import TYPE_CHECKING

import pytest

from kg_functions.errors import GraphSetupError
from kg_functions.opening import open_graph
from tests.support import graphs as world
from tests.support.sparql_servers import NO, Scripted, ScriptedEndpoint, free_port

if TYPE_CHECKING:
    from pathlib import Path


def refusal(spec: object, **arguments: object) -> str:
    """The one line with which a graph is refused."""
    with pytest.raises(GraphSetupError) as caught:
        open_graph(spec, **arguments)  # type: ignore[arg-type]
    line = str(caught.value)
    assert "\n" not in line
    return line


def test_a_folder(world_folder: Path) -> None:
    graph = open_graph(str(world_folder))
    manifest = json.loads((world_folder / "manifest.json").read_text())
    assert graph.kind == "wikidata"
    assert graph.snapshot == manifest["snapshot"]
    assert graph.name(["Q5"]) == {"Q5": "human"}
    graph.close()
    graph.close()


def test_folders_that_are_no_graphs(world_folder: Path, tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "missing")
    assert "manifest.json" in refusal(tmp_path)
    for part in ("store", "labels", "adjacency"):
        broken = tmp_path / f"no {part}"
        shutil.copytree(world_folder, broken)
        shutil.rmtree(broken / part)
        assert part in refusal(broken)
    newer = tmp_path / "newer"
    shutil.copytree(world_folder, newer)
    manifest = json.loads((newer / "manifest.json").read_text())
    (newer / "manifest.json").write_text(json.dumps({**manifest, "format_version": 99}))
    assert "newer" in refusal(newer)


def test_a_folder_without_label_index_and_adjacency(world_folder: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    shutil.copytree(world_folder, plain)
    for part in ("labels", "adjacency"):
        shutil.rmtree(plain / part)
    manifest = json.loads((plain / "manifest.json").read_text())
    (plain / "manifest.json").write_text(json.dumps({**manifest, "parts": ["store"]}))
    said: list[str] = []
    graph = open_graph(plain, notice=said.append)
    assert graph.degree([world.HUB])[world.HUB]["out"] == 2
    assert graph.search_entity("London")["total"] == 1
    assert len(said) == 1
    graph.close()


def test_endpoints_that_do_not_serve(world_folder: Path) -> None:
    nobody = f"http://127.0.0.1:{free_port()}/query"
    assert nobody in refusal(nobody)
    assert "cannot be reached" in refusal(nobody, transport="sparqlwrapper")
    assert "expected http://" in refusal("http://")
    assert "transport" in refusal(nobody, transport="carrier pigeon")
    with ScriptedEndpoint([Scripted(body=NO)]) as endpoint:
        assert "wikibase:rank" in refusal(endpoint.url)
    with ScriptedEndpoint([Scripted(404, b"<html>nothing here</html>")]) as endpoint:
        assert "404" in refusal(endpoint.url)
    with ScriptedEndpoint([Scripted(200, b"<html>a page</html>")]) as endpoint:
        assert "SPARQL JSON" in refusal(endpoint.url)


def test_labels_go_with_an_endpoint(world_folder: Path, tmp_path: Path) -> None:
    assert "--labels" in refusal(world_folder, labels=world_folder)
    # Ranked statements; counts on pages, none on items.
    with ScriptedEndpoint([Scripted(), Scripted(body=NO)]) as endpoint:
        assert "manifest.json" in refusal(endpoint.url, labels=tmp_path)
        graph = open_graph(endpoint.url, labels=world_folder)
        assert graph.snapshot == endpoint.url
        graph.close()


def test_stark_is_not_there_yet() -> None:
    assert "not available" in refusal("stark:somewhere/mag")


def test_threads_may_share_a_graph(world_folder: Path) -> None:
    graph = open_graph(world_folder)
    expected = graph.claims([world.KINDS, world.RANKS])
    answers: list[object] = []

    def ask() -> None:
        for _ in range(5):
            answers.append(graph.claims([world.KINDS, world.RANKS]))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 30
    graph.close()
