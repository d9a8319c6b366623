"""What a build leaves out: each problem with its place, and their count by reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kg_functions.manifest import Skipped, SkippedExample

_EXAMPLES: Final = 5
_LONGEST_DETAIL: Final = 200


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was left out of the graph.

    Attributes:
        reason: the kind of problem, by which problems are counted.
        source: the file's name.
        line: counted from 1; 0 where triples of a Turtle file have no line of their own.
        entity: the entity concerned, where one is known.
        detail: what exactly was wrong, on one line.
    """

    reason: str
    source: str
    line: int
    entity: str | None
    detail: str

    def __str__(self) -> str:
        where = f"{self.source} line {self.line:,}" if self.line else self.source
        subject = f"{self.entity}: " if self.entity else ""
        return f"{where}: skipped: {subject}{self.reason}: {shortened(self.detail)}"


class SkippedCounts:
    """Counts problems by reason and keeps the first few of each."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._examples: dict[str, list[SkippedExample]] = {}

    def add(self, problem: Problem) -> None:
        """Count one problem."""
        self._counts[problem.reason] = self._counts.get(problem.reason, 0) + 1
        examples = self._examples.setdefault(problem.reason, [])
        if len(examples) < _EXAMPLES:
            examples.append(
                SkippedExample(
                    source=problem.source,
                    line=problem.line,
                    entity=problem.entity,
                    detail=shortened(problem.detail),
                )
            )

    @property
    def total(self) -> int:
        """How many problems were counted."""
        return sum(self._counts.values())

    def by_reason(self) -> dict[str, Skipped]:
        """The counts as the manifest states them."""
        return {
            reason: Skipped(count=count, examples=tuple(self._examples[reason]))
            for reason, count in sorted(self._counts.items())
        }


def shortened(text: str) -> str:
    """``text`` on one line and not too long for a report."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_DETAIL else line[: _LONGEST_DETAIL - 1] + "…"
