"""Where the demo graph lies: in the user's cache, made there when it is first asked for."""

from __future__ import annotations

import atexit
import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import platformdirs

from kg_functions.demo.tables import TABLES, json_lines, read_tables
from kg_functions.manifest import FORMAT_VERSION, is_graph_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg_functions.build.progress import BuildProgress

SNAPSHOT: Final = "demo"

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_MAKERS: Final = ("demo/*.py", "build/*.py", "adjacency*.py", "label_index*.py")
"""The code that decides what a folder made from the tables holds."""


def demo_graph_folder(
    cache: Path | None = None, progress: Callable[[BuildProgress], None] | None = None
) -> Path:
    """The folder of the demo graph, which is built where it is not there yet.

    Several processes may ask at once: each builds beside the cache's folder and the first one to
    finish puts its work in place. Where the cache cannot be written, the graph lies in a temporary
    folder that this process removes when it ends.

    Args:
        cache: where built graphs are kept; by default the user's cache folder.
        progress: called a few times a second while the graph is built.

    Raises:
        GraphSetupError: where neither the cache nor a temporary folder can be written.
    """
    home = cache if cache is not None else platformdirs.user_cache_path("wikidata-rlm")
    folder = home / f"demo-graph-{fingerprint()}"
    if is_graph_folder(folder):
        return folder
    try:
        home.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".demo-graph-", dir=home))
    except OSError:
        return _temporary(progress)
    try:
        return _put_in_place(_build(work, progress), folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def fingerprint() -> str:
    """What tells one demo graph from another: the tables, the code, the format of the folder."""
    digest = hashlib.sha256(f"format {FORMAT_VERSION}\n".encode())
    tables = sorted(TABLES.rglob("*.tsv"))
    code = sorted(path for pattern in _MAKERS for path in _PACKAGE.glob(pattern))
    for path in (*tables, *code):
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _build(work: Path, progress: Callable[[BuildProgress], None] | None) -> Path:
    # Only needed at first use, and slow to import.
    from kg_functions.build.pipeline import build_graph

    documents = work / "demo.jsonl"
    with documents.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json_lines(read_tables()))
    made = work / "graph"
    build_graph([documents], made, jobs=1, snapshot=SNAPSHOT, progress=progress)
    return made


def _put_in_place(made: Path, folder: Path) -> Path:
    try:
        made.rename(folder)
    except OSError:
        # A folder with files in it cannot be replaced: another process was faster.
        if not is_graph_folder(folder):
            raise
    return folder


def _temporary(progress: Callable[[BuildProgress], None] | None) -> Path:
    work = Path(tempfile.mkdtemp(prefix="wikidata-rlm-demo-"))
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    return _build(work, progress)
