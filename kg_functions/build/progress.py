"""How far a build is, for whoever shows it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Phase = Literal["read", "links", "labels", "store"]
PHASES: Final[tuple[Phase, ...]] = ("read", "links", "labels", "store")
"""Reading and loading; sorting links; indexing names; finishing the store. In this order."""

_SECONDS_BETWEEN: Final = 0.2


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """One report.

    Attributes:
        phase: what is being done.
        done: how much of it, in the unit of the phase: bytes of input, links, entities.
        total: how much there is of it; 0 where that is unknown.
        entities: documents converted so far.
        skipped: problems so far.
        seconds: since the phase began.
    """

    phase: Phase
    done: int
    total: int
    entities: int
    skipped: int
    seconds: float

    @property
    def rate(self) -> float:
        """Units of the phase a second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0


class ProgressReporter:
    """Calls back a few times a second at most, and at every change of phase.

    Args:
        callback: takes the reports; None for nobody.
    """

    def __init__(self, callback: Callable[[BuildProgress], None] | None) -> None:
        self._callback = callback
        self._phase: Phase = "read"
        self._started = time.monotonic()
        self._last = 0.0
        self.entities = 0
        self.skipped = 0

    def begin(self, phase: Phase, total: int = 0) -> None:
        """Start a phase."""
        self._phase = phase
        self._started = time.monotonic()
        self._report(0, total)

    def update(self, done: int, total: int) -> None:
        """Say how far the phase is; most calls are swallowed."""
        if done >= total > 0 or time.monotonic() - self._last >= _SECONDS_BETWEEN:
            self._report(done, total)

    def _report(self, done: int, total: int) -> None:
        self._last = time.monotonic()
        if self._callback is not None:
            seconds = self._last - self._started
            self._callback(
                BuildProgress(self._phase, done, total, self.entities, self.skipped, seconds)
            )
