"""Stop reasons as exceptions: whoever notices that a run is over raises one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traces.records import StopReason


class RunStopped(Exception):
    """The run is over.

    Args:
        reason: one of the stop reasons of ``traces.records``.
        detail: one line on what exactly happened.
    """

    def __init__(self, reason: StopReason, detail: str | None = None) -> None:
        super().__init__(reason, detail)
        self.reason: StopReason = reason
        self.detail = detail
