"""The console that every command prints to."""

from __future__ import annotations

import os
import sys

from rich.console import Console


class Terminal(Console):
    """A rich console that goes silent when its reader has gone, and lets the work go on."""

    def on_broken_pipe(self) -> None:
        """Print nothing more."""
        self.quiet = True
        let_stdout_go()


def let_stdout_go() -> None:
    """Send what is still to be written nowhere, or Python complains of the pipe at its exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
