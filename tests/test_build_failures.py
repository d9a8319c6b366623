"""Builds that fail or are interrupted: one clear line, and nothing half-made left behind."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kg_functions.build import pipeline
from kg_functions.build.loading import StoreLoader
from kg_functions.build.pipeline import build_graph
from kg_functions.errors import GraphSetupError
from kg_functions.manifest import load_manifest
from tests.support.build_documents import DOCUMENTS, entity, leftovers, write
from tests.support.data import ROOT

if TYPE_CHECKING:
    from kg_functions.build.progress import BuildProgress


def cut_gzip(folder: Path) -> Path:
    path = folder / "cut.jsonl.gz"
    path.write_bytes(gzip.compress(write(folder / "a.jsonl").read_bytes())[:-20])
    return path


def open_array(folder: Path) -> Path:
    path = folder / "open.json"
    path.write_text("[\n" + ",\n".join(json.dumps(document) for document in DOCUMENTS))
    return path


def nothing(folder: Path) -> Path:
    path = folder / "nothing.jsonl"
    path.write_text("{}\n[]\n")
    return path


@pytest.mark.parametrize(
    ("make", "message", "jobs"),
    [
        (cut_gzip, r"cut\.jsonl\.gz ends early", 1),
        (cut_gzip, r"cut\.jsonl\.gz ends early", 2),
        (open_array, r"open\.json ends early: the array is not closed", 1),
        (nothing, r"No entity was found in nothing\.jsonl \(line 1: it has no id\)", 1),
        (lambda folder: folder / "missing.json", r"missing\.json cannot be read", 1),
    ],
)
def test_failed_build_leaves_nothing(make: Any, message: str, jobs: int, tmp_path: Path) -> None:
    path = make(tmp_path)
    with pytest.raises(GraphSetupError, match=message) as caught:
        build_graph([path], tmp_path / "graph", jobs=jobs)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "graph").exists()
    assert leftovers(tmp_path) == []
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("phase", "jobs"), [("read", 2), ("read", 1), ("links", 1), ("labels", 1), ("store", 1)]
)
def test_interrupted_build_leaves_nothing(phase: str, jobs: int, tmp_path: Path) -> None:
    def interrupt(progress: BuildProgress) -> None:
        if progress.phase == phase:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_graph(
            [write(tmp_path / "a.jsonl")], tmp_path / "graph", jobs=jobs, progress=interrupt
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl"]
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_in_a_terminal(jobs: int, tmp_path: Path) -> None:
    """A real SIGINT to the whole process group, in the midst of reading."""
    path = tmp_path / "endless.json"
    os.mkfifo(path)
    program = [sys.executable, "-m", "tests.support.build"]
    command = [*program, str(path), str(tmp_path / "graph"), str(jobs)]
    process = subprocess.Popen(
        command, cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    with path.open("w") as pipe:
        for number in range(1, 3000):
            pipe.write(json.dumps(entity(f"Q{number}", "x" * 1000)) + "\n")
        pipe.flush()
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert errors.strip().splitlines()[-1:] == ["KeyboardInterrupt"], errors
    assert errors.count("Traceback") == 1, errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["endless.json"]


def test_target_that_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl")
    (tmp_path / "empty").mkdir()
    build_graph([path], tmp_path / "empty")
    with pytest.raises(GraphSetupError, match="is a graph folder already"):
        build_graph([path], tmp_path / "empty")
    other = write(tmp_path / "b.jsonl", DOCUMENTS[:3])
    manifest = build_graph([other], tmp_path / "empty", overwrite=True)
    assert load_manifest(tmp_path / "empty").counts == manifest.counts
    assert manifest.counts.items == 1
    with pytest.raises(GraphSetupError, match=r"b\.jsonl is a file"):
        build_graph([path], other, overwrite=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("Dear Sir")
    with pytest.raises(GraphSetupError, match="not empty and not a graph folder"):
        build_graph([path], tmp_path / "full", overwrite=True)
    assert (tmp_path / "full" / "letter.txt").read_text() == "Dear Sir"
    assert leftovers(tmp_path) == []


def test_graph_that_cannot_be_replaced_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old graph keeps its place until the new one is whole."""
    path = write(tmp_path / "a.jsonl")
    before = build_graph([path], tmp_path / "graph")
    monkeypatch.setattr(pipeline, "build_labels", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build_graph([path], tmp_path / "graph", overwrite=True)
    assert load_manifest(tmp_path / "graph") == before


@pytest.mark.parametrize("moment", ["before", "after"])
def test_ctrl_c_while_an_old_graph_is_replaced(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the two renames, on either side of the second one."""
    path = write(tmp_path / "a.jsonl")
    before = build_graph([path], tmp_path / "graph", snapshot="old")
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if self.name != "graph" or target != tmp_path / "graph":
            return real(self, target)
        if moment == "after":
            real(self, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(KeyboardInterrupt):
        build_graph([path], tmp_path / "graph", overwrite=True, snapshot="new")
    monkeypatch.undo()
    kept = load_manifest(tmp_path / "graph")
    assert kept.snapshot == ("old" if moment == "before" else "new")
    assert kept.counts == before.counts
    assert leftovers(tmp_path) == []


def test_ctrl_c_does_not_wait_for_the_store(tmp_path: Path) -> None:
    """A store that has all its triples sorts them on its own; the folder goes, so it ends."""
    line = b"<http://x/%d> <http://x/p> <http://x/%d> .\n"
    triples = b"".join(line % (n * 7919 % 1_000_003, n) for n in range(400_000))

    def load(*, whole: bool) -> float:
        folder = tmp_path / f"whole {whole}"
        with suppress(KeyboardInterrupt), StoreLoader(folder) as loader:
            loader.write(triples)
            loader.end_input()
            begun = time.monotonic()
            if not whole:
                raise KeyboardInterrupt
        assert folder.exists() is whole
        return time.monotonic() - begun

    assert load(whole=False) < load(whole=True) / 2


def test_every_input_is_looked_at_first(tmp_path: Path) -> None:
    good = write(tmp_path / "a.jsonl")
    (tmp_path / "folder").mkdir()
    for bad in ("missing.jsonl", "folder", "nul\0.jsonl"):
        read: list[BuildProgress] = []
        with pytest.raises(GraphSetupError, match="cannot be read") as caught:
            build_graph([good, tmp_path / bad], tmp_path / "graph", progress=read.append)
        assert str(caught.value).isprintable()
        assert read == []


@pytest.mark.parametrize("name", ["x" * 300, "nul\0", "y" * 250])
def test_names_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl")
    if len(name) == 250:
        build_graph([path], tmp_path / name)
        assert load_manifest(tmp_path / name).counts.items == 4
        return
    with pytest.raises(GraphSetupError, match="cannot be made") as caught:
        build_graph([path], tmp_path / name)
    assert str(caught.value).isprintable()


def test_any_name_of_an_input(tmp_path: Path) -> None:
    """A tab, a byte that is no UTF-8: names are told apart from what lies in the files."""
    names = ["tab\there.jsonl", os.fsdecode(b"byte\xff.jsonl")]
    documents = [
        [*DOCUMENTS[:2], DOCUMENTS[5]],
        [entity("Q8", "Eight", {"mainsnak": {"property": "P1"}})],
    ]
    paths = [write(tmp_path / name, one) for name, one in zip(names, documents, strict=True)]
    manifest = build_graph(paths, tmp_path / "graph")
    assert (manifest.counts.items, manifest.counts.properties) == (2, 2)
    assert [source.name for source in manifest.sources] == [names[0], "byte\ufffd.jsonl"]
    assert manifest.skipped["unreadable statement"].examples[0].source == "byte\ufffd.jsonl"
    assert load_manifest(tmp_path / "graph") == manifest
