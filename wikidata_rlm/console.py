"""The console that every command prints to."""

from __future__ import annotations

import os
import sys

from rich.console import Console


class Terminal(Console):
    """A rich console that goes silent when its reader has gone, and lets the work go on."""

    def on_broken_pipe(self) -> None:
        """Print nothing more; Python must not complain about the closed pipe at its exit."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
