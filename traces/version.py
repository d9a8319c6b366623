"""Which code made a trace: the package's version and, in a checkout, its git commit."""

from __future__ import annotations

import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


@cache
def code_version() -> str:
    """For example ``0.1.0`` or ``0.1.0+git.1a2b3c4d5e6f``."""
    try:
        release = version("wikidata-rlm")
    except PackageNotFoundError:
        release = "0"
    commit = _git_commit()
    return f"{release}+git.{commit}" if commit else release


def _git_commit() -> str | None:
    root = Path(__file__).resolve().parents[1]
    if not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(
            [
                "git",
                "-C",
                str(root),
                "describe",
                "--always",
                "--dirty",
                "--abbrev=12",
                "--exclude=*",
            ],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
