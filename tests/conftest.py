"""Graph folders that several test files share, each built once."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import pytest

from tests.support.data import ROOT, shared_data
from tests.support.graphs import build_world
from tests.support.model_servers import local_model_server

__all__ = ["local_model_server"]


@pytest.fixture(scope="session")
def world_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The graph folder of the made-up world in tests/support/graphs.py."""
    return build_world(tmp_path_factory.mktemp("world")).folder


@pytest.fixture(scope="session")
def slice_graph() -> Path:
    """The graph folder of the development slice, built at first use and kept between runs."""
    from kg_functions.build.pipeline import build_graph
    from kg_functions.manifest import FORMAT_VERSION, is_graph_folder

    source = shared_data("wikidata", "slice.jsonl.zst")
    stat = source.stat()
    identity = f"{source.name} {stat.st_size} {stat.st_mtime_ns} {FORMAT_VERSION} {_builder_hash()}"
    key = hashlib.sha256(identity.encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / "wikidata-rlm-tests" / f"slice-{key}"
    if not is_graph_folder(folder):
        build_graph([source], folder, jobs=2)
    return folder


def _builder_hash() -> str:
    """A hash of the code that decides what a graph folder holds."""
    package = ROOT / "kg_functions"
    files = [*package.glob("*.py"), *(package / "build").rglob("*.py")]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
