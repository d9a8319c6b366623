"""Wall time and peak memory of a whole graph build against the store's bulk load alone.

Run as ``python -m benchmarks.graph_build [FILE]``; the slice of Wikidata is the default. Both parts
run in processes of their own, one after the other, on the same machine and the same data: the bulk
load reads the triples that the build loads, from an N-Triples file.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kg_functions.build.compression import ByteSource
from kg_functions.build.pipeline import build_graph
from kg_functions.build.reading import read_chunks
from kg_functions.build.workers import converted
from kg_functions.manifest import load_manifest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).resolve().parents[1]
SLICE: Final = ROOT.parent / "shared" / "data" / "wikidata" / "slice.jsonl.zst"
_SECONDS_BETWEEN: Final = 0.2


@dataclass(frozen=True)
class Measured:
    """What running something took.

    Attributes:
        seconds: wall time.
        cpu_seconds: of all its processes together.
        peak_bytes: the most memory that its processes held at one time (proportional set size).
        halfway_bytes: the most up to half of the time; flat memory is not much below the peak.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    halfway_bytes: int


def measure(target: Callable[..., None], *args: Any) -> Measured:
    """Run a function in a new process and watch that process and its children."""
    process = multiprocessing.get_context("spawn").Process(target=target, args=args)
    started = time.monotonic()
    process.start()
    assert process.pid is not None
    samples: list[tuple[float, int]] = []
    cpu = 0.0
    while process.is_alive():
        family = _family(process.pid)
        samples.append((time.monotonic() - started, sum(map(_memory, family))))
        cpu = max(cpu, sum(map(_cpu_seconds, family)))
        process.join(_SECONDS_BETWEEN)
    seconds = time.monotonic() - started
    if process.exitcode != 0:
        raise SystemExit(f"{target.__name__} failed with exit code {process.exitcode}")
    half = [memory for at, memory in samples if at <= seconds / 2]
    return Measured(seconds, cpu, max(memory for _, memory in samples), max(half))


def _family(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found.extend(map(int, task.read_text().split()))
            except OSError:
                continue
    return found


def _memory(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # it has ended
    return 0


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    ticks = sum(map(int, fields[11:15]))  # its own and its ended children's, user and system
    return ticks / 100


def build(source: Path, folder: Path, jobs: int) -> None:
    """The whole build."""
    build_graph([source], folder, jobs=jobs)


def bulk_load(triples: Path, folder: Path) -> None:
    """The store's bulk load alone."""
    import pyoxigraph

    store = pyoxigraph.Store(str(folder))
    store.bulk_load(path=str(triples), format=pyoxigraph.RdfFormat.N_TRIPLES, lenient=True)
    store.flush()


def write_triples(source: Path, out: Path, jobs: int) -> int:
    """Write the triples that a build would load; returns how many lines."""
    lines = 0
    with ByteSource(source) as data, out.open("wb") as file:
        chunks = read_chunks(data)
        for part in converted(chunks, out.parent, jobs, []):
            file.write(part.triples)
            lines += part.triples.count(b"\n")
    return lines


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=SLICE, help="entity JSON")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=Path, help="where to write (a few GB)")
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="graph-build-", dir=options.work))
    try:
        triples = work / "triples.nt"
        print(f"converting {options.file} ...", flush=True)
        lines = write_triples(options.file, triples, options.jobs)
        print(f"loading {lines:,} triples ...", flush=True)
        alone = measure(bulk_load, triples, work / "store")
        triples.unlink()
        shutil.rmtree(work / "store")
        print(f"building with {options.jobs} jobs ...\n", flush=True)
        whole = measure(build, options.file, work / "graph", options.jobs)
        counts = load_manifest(work / "graph").counts
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{counts.items:,} items, {counts.statements:,} statements, {counts.triples:,} triples")
    print(f"{'':16}{'seconds':>10}{'CPU s':>10}{'peak MiB':>10}{'halfway':>10}")
    for name, measured in (("bulk load alone", alone), ("whole build", whole)):
        print(
            f"{name:16}{measured.seconds:10.1f}{measured.cpu_seconds:10.1f}"
            f"{measured.peak_bytes / 2**20:10.0f}{measured.halfway_bytes / 2**20:10.0f}"
        )
    times, work_done = whole.seconds / alone.seconds, whole.cpu_seconds / alone.cpu_seconds
    print(f"{'ratio':16}{times:10.2f}{work_done:10.2f}")


if __name__ == "__main__":
    main()
