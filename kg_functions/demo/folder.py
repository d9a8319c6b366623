"""Where the demo graph lies: in the user's cache, made there when it is first asked for."""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import platformdirs

from kg_functions.demo.tables import TABLES, json_lines, read_tables
from kg_functions.errors import GraphSetupError
from kg_functions.manifest import FORMAT_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg_functions.build.progress import BuildProgress

SNAPSHOT: Final = "demo"

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_MAKERS: Final = ("*.py", "build/*.py", "demo/*.py")
"""The code that decides what a folder made from the tables holds."""
_SIZES_NAME: Final = "demo-files.json"
"""The size of every file of the folder when it was made; a folder that differs is damaged."""
_LOGS: Final = ("LOG", "LOCK")


def demo_graph_folder(
    cache: Path | None = None, progress: Callable[[BuildProgress], None] | None = None
) -> Path:
    """The folder of the demo graph, which is built where it is not there yet or is damaged.

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
    if _is_whole(folder):
        return folder
    try:
        home.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".demo-graph-", dir=home))
    except OSError:
        return _temporary(progress)
    try:
        return _put_in_place(_build(work, progress), folder, work)
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
    (made / _SIZES_NAME).write_text(json.dumps(_sizes(made), indent=1) + "\n", encoding="utf-8")
    return made


def _put_in_place(made: Path, folder: Path, work: Path) -> Path:
    try:
        if folder.exists() and not _is_whole(folder):
            folder.rename(work / "damaged")
        made.rename(folder)
    except OSError as error:
        # A folder with files in it cannot be replaced: another process was faster.
        if not _is_whole(folder):
            reason = error.strerror or error
            raise GraphSetupError(
                f"The demo graph {folder} is damaged and cannot be replaced ({reason}): delete it."
            ) from error
    return folder


def _is_whole(folder: Path) -> bool:
    """Whether every file of a demo graph is there in its full size."""
    try:
        sizes = json.loads((folder / _SIZES_NAME).read_text(encoding="utf-8"))
        return bool(sizes == _sizes(folder))
    except (OSError, ValueError):
        return False


def _sizes(folder: Path) -> dict[str, int]:
    """The files that hold a graph; what RocksDB writes about its own doings is none of them."""
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != _SIZES_NAME and not path.name.startswith(_LOGS)
    }


def _temporary(progress: Callable[[BuildProgress], None] | None) -> Path:
    work = Path(tempfile.mkdtemp(prefix="wikidata-rlm-demo-"))
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    return _build(work, progress)
