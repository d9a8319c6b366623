"""The demo graph as a folder: built once, by whoever comes first, whole or not at all."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kg_functions.build import pipeline
from kg_functions.demo import demo_graph_folder
from kg_functions.demo import folder as demo_folder
from kg_functions.demo.tables import read_tables
from kg_functions.graph import Graph
from kg_functions.languages import MUL
from kg_functions.manifest import load_manifest
from kg_functions.opening import open_graph
from tests.support.data import ROOT
from tests.support.demo_tables import statements

HANG_SECONDS = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    begun = time.monotonic()
    made = demo_graph_folder(tmp_path_factory.mktemp("cache"))
    assert time.monotonic() - begun < HANG_SECONDS
    return made


@pytest.fixture(scope="module")
def graph(folder: Path) -> Iterator[Graph]:
    opened = open_graph(folder)
    yield opened
    opened.close()


def test_the_folder_holds_what_the_tables_say(folder: Path) -> None:
    entities = {entity["id"]: entity for entity in read_tables()}
    manifest = load_manifest(folder)
    items = sum(entity["type"] == "item" for entity in entities.values())
    assert manifest.counts.items == items
    assert manifest.counts.properties == len(entities) - items
    assert manifest.counts.redirects == 1
    assert manifest.counts.statements == sum(len(statements(one)) for one in entities.values())
    assert manifest.skipped == {}
    assert manifest.snapshot == "demo"


def test_the_traps_through_the_functions(graph: Graph) -> None:
    def one(item: str, property: str, rank: str = "best") -> list[dict[str, Any]]:
        found = graph.claims([item], property, rank)[item]
        return list(found["statements"])

    assert [statement["value"] for statement in one("Q83428", "P25")] == [{"type": "unknown"}]
    assert [statement["value"] for statement in one("Q9312", "P26")] == [{"type": "none"}]
    assert [statement["value"]["amount"] for statement in one("Q584", "P2043")] == ["1233"]
    assert [statement["value"]["amount"] for statement in one("Q584", "P2043", "deprecated")] == [
        "1320"
    ]
    assert one("Q1720", "P138") == []
    assert one("Q3138", "P571")[0]["value"]["year"] == -16
    assert one("Q8963", "P569")[0]["value"]["time"] == "+1572-01-06"
    assert one("Q193369", "P571")[0]["value"]["text"] == "9th century"
    assert graph.claims(["Q9000000001"], "P569")["Q9000000001"]["id"] == "Q937"
    assert graph.labels(["Q61761"])["Q61761"] == {MUL: "Pascual Jordan"}
    assert graph.label(["Q9215"], "zh")["Q9215"] == "西格蒙德·弗洛伊德"
    assert graph.name(["Q83062"])["Q83062"] is None
    degree = graph.degree(["Q183", "Q1720", "Q1670"])
    assert degree["Q183"]["in"] > 200
    named = graph.search_entity("Salzburg")
    assert {match["id"] for match in named["matches"][:2]} == {"Q34713", "Q43325"}
    assert graph.search_entity("Wien")["matches"][0]["id"] == "Q1741"


def test_a_second_call_builds_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "build_graph", pytest.fail)
    assert demo_graph_folder(folder.parent) == folder


def test_a_failed_build_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "build_graph", interrupted)
    with pytest.raises(KeyboardInterrupt):
        demo_graph_folder(tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_two_processes_may_build_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from kg_functions.demo import demo_graph_folder;"
        "print(demo_graph_folder(Path(sys.argv[1])))"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = {process.communicate(timeout=HANG_SECONDS)[0].strip() for process in both}
    assert [process.returncode for process in both] == [0, 0]
    (made,) = tmp_path.iterdir()
    assert said == {str(made)}
    assert load_manifest(made).counts.redirects == 1


def test_an_unwritable_cache_gives_a_temporary_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    seen: list[object] = []
    made = demo_graph_folder(tmp_path / "file" / "cache", progress=seen.append)
    assert load_manifest(made).counts.redirects == 1
    assert tmp_path not in made.parents
    assert seen


@pytest.mark.parametrize(
    "damage", ["manifest.json", "store/CURRENT", "adjacency/entities", "labels"]
)
def test_a_damaged_folder_is_built_again(folder: Path, tmp_path: Path, damage: str) -> None:
    broken = tmp_path / folder.name
    shutil.copytree(folder, broken)
    if (broken / damage).is_dir():
        shutil.rmtree(broken / damage)
    else:
        (broken / damage).write_bytes((broken / damage).read_bytes()[:-1])
    assert demo_graph_folder(tmp_path) == broken
    graph = open_graph(broken)
    assert graph.search_entity("Wien")["matches"][0]["id"] == "Q1741"
    assert graph.degree(["Q183"])["Q183"]["in"] > 200
    graph.close()
    assert list(tmp_path.iterdir()) == [broken]
    # Reading leaves a folder whole.
    assert demo_graph_folder(tmp_path, progress=_not_again) == broken


def _not_again(progress: object) -> None:
    pytest.fail("a whole folder was built again")


@pytest.mark.parametrize(
    "module", ["text_matching", "languages", "rdf", "link_runs", "build/staging", "demo/values"]
)
def test_other_code_makes_another_folder(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "kg_functions", tmp_path / "kg_functions")
    monkeypatch.setattr(demo_folder, "_PACKAGE", tmp_path / "kg_functions")
    monkeypatch.setattr(demo_folder, "TABLES", tmp_path / "kg_functions" / "demo" / "tables")
    before = demo_folder.fingerprint()
    assert demo_folder.fingerprint() == before
    with (tmp_path / "kg_functions" / f"{module}.py").open("a") as file:
        file.write("# another rule\n")
    assert demo_folder.fingerprint() != before
