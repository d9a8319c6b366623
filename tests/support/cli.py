"""Runs the command line as a person does: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.data import ROOT

HANG_SECONDS = 240
"""Far above what any command takes here; a bound on hangs, not on speed."""

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")


def run_cli(
    *arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``wikidata-rlm`` with these arguments; no key is in its environment unless given."""
    clean = {key: value for key, value in os.environ.items() if key not in KEYS}
    return subprocess.run(
        [sys.executable, "-m", "wikidata_rlm.main", *arguments],
        cwd=cwd,
        env={**clean, "PYTHONPATH": str(ROOT), **(env or {})},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that a refused command prints; fails where it was not refused like that."""
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("wikidata-rlm: ")
    return lines[0]
