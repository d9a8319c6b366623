"""Building a graph folder: store, adjacency, label index and manifest, all or nothing."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from kg_functions.adjacency_build import build_adjacency
from kg_functions.build.compression import ByteSource, check_readable, printable
from kg_functions.build.loading import StoreLoader
from kg_functions.build.naming import build_labels
from kg_functions.build.problems import SkippedCounts
from kg_functions.build.progress import ProgressReporter
from kg_functions.build.reading import read_chunks
from kg_functions.build.staging import Stage, deferred_chunks, merged_datatypes
from kg_functions.build.workers import converted
from kg_functions.errors import GraphSetupError
from kg_functions.manifest import (
    ADJACENCY_NAME,
    LABELS_NAME,
    STORE_NAME,
    Counts,
    Manifest,
    Source,
    is_graph_folder,
    save_manifest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kg_functions.adjacency_build import AdjacencyCounts
    from kg_functions.build.chunks import Chunk
    from kg_functions.build.naming import NameCounts
    from kg_functions.build.problems import Problem
    from kg_functions.build.progress import BuildProgress
    from kg_functions.build.staging import Converted, Staged

PACKAGE = "wikidata-rlm"
_SHOWN_OF_NAME = 32


def build_graph(
    inputs: Sequence[Path],
    out: Path,
    *,
    jobs: int = 1,
    snapshot: str | None = None,
    overwrite: bool = False,
    progress: Callable[[BuildProgress], None] | None = None,
    report: Callable[[str], None] | None = None,
) -> Manifest:
    """Build a graph folder from Wikidata entity JSON or RDF.

    Everything is made in a temporary folder beside ``out``, which takes its place at the end; an
    error or an interruption leaves nothing there. Of an entity with several documents all
    statements are taken, but only the names of the first document are indexed; each further
    document is reported and counted as a "repeated entity".

    Args:
        inputs: files; plain, .gz, .bz2 or .zst.
        out: the new graph folder.
        jobs: processes that convert; 1 converts in this process. With more, a program that is
            itself a script must call this under ``if __name__ == "__main__":``.
        snapshot: a short name of the data; by default that of the first file and its date.
        overwrite: whether ``out`` may be a graph folder already, which is then replaced.
        progress: called a few times a second.
        report: called with one line for each thing that is left out.

    Returns:
        The manifest of the new folder.

    Raises:
        GraphSetupError: one line that says what is wrong with an input or with ``out``.
    """
    if not inputs:
        raise GraphSetupError("Name at least one input file.")
    if jobs < 1:
        raise GraphSetupError(f"--jobs must be at least 1, not {jobs}.")
    for path in inputs:
        check_readable(path)
    work = _work_folder(out, overwrite)
    try:
        result = work / "graph"
        result.mkdir()
        build = _Build(work, result, ProgressReporter(progress), report)
        manifest = build.run(inputs, jobs, snapshot)
        save_manifest(manifest, result)
        _check_free(out, overwrite)
        _put_in_place(result, out, work)
    except OSError as error:
        reason = error.strerror or error
        raise GraphSetupError(f"{out} cannot be written: {reason}.") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return manifest


class _Build:
    """The steps of one build and what they hand to each other."""

    def __init__(
        self,
        work: Path,
        result: Path,
        progress: ProgressReporter,
        report: Callable[[str], None] | None,
    ) -> None:
        self._work = work
        self._result = result
        self._progress = progress
        self._report = report
        self._staged: list[Staged] = []
        self._sources: list[Source] = []
        self._skipped = SkippedCounts()
        self._bytes_read = 0

    def run(self, inputs: Sequence[Path], jobs: int, snapshot: str | None) -> Manifest:
        """Make every part, in the order in which they need each other."""
        # The store goes on sorting after the last triple; links and names need not wait for it.
        with StoreLoader(self._result / STORE_NAME) as loader:
            self._load(loader, inputs, jobs)
            if not self._progress.entities:
                raise GraphSetupError(self._nothing_found(inputs))
            loader.end_input()
            links = self._link()
            names = self._index(loader)
            triples = self._count(loader)
        dates = [staged.modified for staged in self._staged if staged.modified]
        latest = max(dates, default=None)
        return Manifest(
            code_version=_code_version(),
            snapshot=snapshot or _snapshot_name(inputs[0], latest),
            snapshot_date=latest,
            built_at=datetime.now(UTC).replace(microsecond=0),
            counts=Counts(
                items=names.items,
                properties=names.properties,
                lexemes=names.lexemes,
                redirects=sum(staged.redirects for staged in self._staged),
                statements=sum(staged.statements for staged in self._staged),
                links=links.links,
                labels=names.labels,
                triples=triples,
            ),
            parts=("store", "labels", "adjacency"),
            sources=tuple(self._sources),
            skipped=self._skipped.by_reason(),
        )

    def _load(self, loader: StoreLoader, inputs: Sequence[Path], jobs: int) -> None:
        """Convert every input and hand the triples to the store while they come."""
        total = sum(path.stat().st_size for path in inputs if path.is_file())
        self._progress.begin("read", total)
        for part in self._converted(inputs, jobs):
            self._progress.update(self._bytes_read, total)
            loader.write(part.triples)
            self._progress.entities += part.entities
            for problem in part.problems:
                self._add_problem(problem)
        self._progress.update(total, total)

    def _converted(self, inputs: Sequence[Path], jobs: int) -> Iterator[Converted]:
        yield from converted(self._chunks(inputs), self._work, jobs, self._staged)
        stage = Stage(self._work, "deferred", merged_datatypes(self._staged))
        try:
            for chunk in deferred_chunks([staged.deferred for staged in self._staged]):
                yield stage.convert(chunk)
            self._staged.append(stage.finish())
        finally:
            stage.close()

    def _chunks(self, inputs: Sequence[Path]) -> Iterator[Chunk]:
        """The chunks of every input; with several jobs this runs in threads other than ours."""
        before = 0
        for place, path in enumerate(inputs):
            with ByteSource(path, place) as source:
                for chunk in read_chunks(source):
                    self._bytes_read = before + source.done
                    yield chunk
                self._sources.append(source.source())
                before += source.done

    def _link(self) -> AdjacencyCounts:
        self._progress.begin("links")
        files = [staged.links for staged in self._staged]
        return build_adjacency(files, self._result / ADJACENCY_NAME, progress=self._progress.update)

    def _index(self, loader: StoreLoader) -> NameCounts:
        self._progress.begin("labels", self._progress.entities)
        return build_labels(
            [staged.names for staged in self._staged],
            loader.finish,
            self._result / ADJACENCY_NAME,
            self._result / LABELS_NAME,
            self._progress.update,
            [source.name for source in self._sources],
            self._add_problem,
        )

    def _count(self, loader: StoreLoader) -> int:
        self._progress.begin("store")
        store = loader.finish()
        triples = len(store)
        store.flush()
        return triples

    def _add_problem(self, problem: Problem) -> None:
        self._skipped.add(problem)
        self._progress.skipped = self._skipped.total
        if self._report is not None:
            self._report(str(problem))

    def _nothing_found(self, inputs: Sequence[Path]) -> str:
        names = ", ".join(path.name for path in inputs)
        first = next((skipped.examples[0] for skipped in self._skipped.by_reason().values()), None)
        reason = f" (line {first.line:,}: {first.detail})" if first is not None else ""
        return f"No entity was found in {names}{reason}."


def _work_folder(out: Path, overwrite: bool) -> Path:
    """A new folder beside ``out``, where that name may be taken."""
    try:
        _check_free(out, overwrite)
        out.parent.mkdir(parents=True, exist_ok=True)
        # The name is only for people who look; a long one would be too long with what is added.
        return Path(tempfile.mkdtemp(prefix=f".{out.name[:_SHOWN_OF_NAME]}-", dir=out.parent))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise GraphSetupError(f"{printable(out)} cannot be made: {reason or error}.") from error


def _check_free(out: Path, overwrite: bool) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise GraphSetupError(f"{out} is a file: name a folder that does not exist yet.")
    if not any(out.iterdir()):
        return
    if not is_graph_folder(out):
        raise GraphSetupError(f"{out} is not empty and not a graph folder: choose another name.")
    if not overwrite:
        raise GraphSetupError(f"{out} is a graph folder already: add --overwrite to replace it.")


def _put_in_place(result: Path, out: Path, work: Path) -> None:
    """Give a finished graph its final name; what had that name before is removed afterwards."""
    replaced = work / "replaced"
    try:
        if out.exists():
            out.rename(replaced)
        result.rename(out)
    except BaseException:
        if replaced.exists() and not out.exists():
            replaced.rename(out)
        raise


def _snapshot_name(first: Path, date: str | None) -> str:
    stem = first.name.split(".")[0]
    return f"{stem}-{date[:10]}" if date else stem


def _code_version() -> str:
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return "unknown"
