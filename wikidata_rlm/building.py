"""``graph build`` with its progress shown: phase, share done, rate, time left."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from kg_functions.build.pipeline import build_graph
from kg_functions.build.progress import PHASES
from wikidata_rlm.console import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from kg_functions.build.progress import BuildProgress, Phase

SHOWN_PROBLEMS: Final = 20
"""So many lines that were left out are shown; the manifest has the counts of all."""

_TITLES: Final[dict[Phase, str]] = {
    "read": "reading and loading",
    "links": "sorting links",
    "labels": "indexing names",
    "store": "settling the store",
}


def build_with_progress(
    inputs: list[Path],
    out: Path,
    *,
    jobs: int,
    snapshot: str | None,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Build a graph folder and say what came of it.

    Args:
        inputs: the input files.
        out: the new graph folder.
        jobs: worker processes; 0 for one a core.
        snapshot: a name for the data.
        overwrite: whether an existing graph folder may be replaced.
        quiet: show no progress.

    Raises:
        GraphSetupError: one line that says what is wrong.
    """
    console = Terminal(stderr=True, quiet=quiet)
    with _Display(console) as display:
        manifest = build_graph(
            inputs,
            out,
            jobs=jobs or os.cpu_count() or 1,
            snapshot=snapshot,
            overwrite=overwrite,
            progress=display.update,
            report=display.problem,
        )
    counts = manifest.counts
    Terminal(quiet=quiet).print(
        f"{out}: {counts.items:,} items, {counts.properties:,} properties, "
        f"{counts.statements:,} statements, {counts.links:,} links, {counts.triples:,} triples",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


class _Display:
    """A progress bar a phase, and the lines that were left out above them."""

    def __init__(self, console: Terminal) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn("{task.description:<20}"),
            BarColumn(),
            TextColumn("{task.fields[state]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._tasks: dict[str, TaskID] = {}
        self._problems = 0

    def __enter__(self) -> _Display:
        self._progress.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._progress.stop()

    def update(self, state: BuildProgress) -> None:
        """Show how far the build is."""
        if state.phase not in self._tasks:
            for phase in PHASES[: PHASES.index(state.phase)]:
                if phase in self._tasks:
                    self._progress.update(self._tasks[phase], completed=1, total=1)
            self._tasks[state.phase] = self._progress.add_task(_TITLES[state.phase], state="")
        self._progress.update(
            self._tasks[state.phase],
            completed=state.done,
            total=state.total or None,
            state=_rate(state),
        )

    def problem(self, line: str) -> None:
        """Show one thing that is left out, as long as there are not too many."""
        self._problems += 1
        if self._problems <= SHOWN_PROBLEMS:
            self._console.print(line, style="yellow", highlight=False, markup=False)
        elif self._problems == SHOWN_PROBLEMS + 1:
            self._console.print("further problems are counted in the manifest", style="yellow")


def _rate(state: BuildProgress) -> str:
    if state.phase == "read":
        return f"{state.entities:,} entities, {state.rate / 1e6:.1f} MB/s"
    return f"{state.rate:,.0f}/s" if state.phase != "store" else ""
