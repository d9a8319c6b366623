"""What the tests of confinement share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from kernel.confinement import bwrap

SCRIPT = Path(__file__).with_name("as_nobody.py")


def need_bwrap() -> None:
    """Skip where bubblewrap cannot confine; under CI=true that is a failure."""
    reason = bwrap.unavailable()
    if reason and os.environ.get("CI") == "true":
        pytest.fail(f"bubblewrap cannot be used: {reason}")
    if reason:
        pytest.skip(f"needs bubblewrap: {reason}")


def as_nobody(*command: str) -> list[str]:
    """A command that runs Python as an unprivileged user; skips where we are one already."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("needs root, to become an unprivileged user; every other test runs as one")
    return [sys.executable, str(SCRIPT), *command]
