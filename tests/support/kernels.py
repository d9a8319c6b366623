"""A real kernel with its host, as several test files drive it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from kernel.interpreter import CellResult
from kernel.ipython_kernel import IPythonInterpreter
from kernel.launcher import Launcher
from tests.support.kernel_host import Host

SECONDS = 1.0
"""Time limit of a cell, unless a test says otherwise."""

HANG = 30.0
"""What a loaded machine may add before a test calls it a hang."""


class Kernel:
    """An interpreter and its host.

    Args:
        folder: where the whole outputs go.
        seconds: the time limit of a cell.
        launcher: starts the kernel; by default without confinement.
        output_limit: visible characters of a cell.
    """

    def __init__(
        self,
        folder: Path,
        seconds: float = SECONDS,
        launcher: Launcher | None = None,
        output_limit: int = 2_000,
    ) -> None:
        self.host = Host()
        self.interpreter = IPythonInterpreter(
            self.host.functions(),
            folder=folder,
            output_limit=output_limit,
            cell_seconds=seconds,
            launcher=launcher,
        )

    def run(self, code: str) -> CellResult:
        """Run a block."""
        return self.interpreter.run(code)

    def shown(self, code: str) -> str:
        """What a block shows, which must end well."""
        result = self.run(code)
        assert result.status == "ok", result
        return result.output.rstrip("\n")


def wait_for(condition: Callable[[], bool], seconds: float = HANG) -> bool:
    """Whether a condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()
