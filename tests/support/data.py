"""Where the real development data lies, and what a test does without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_CANDIDATES = (ROOT.parent / "shared" / "data",)


def shared_data(*parts: str) -> Path:
    """The path of one development data file.

    Skips the test where the file is missing; under CI=true a missing file is a failure.
    """
    for folder in _CANDIDATES:
        path = folder.joinpath(*parts)
        if path.exists():
            return path
    name = "/".join(parts)
    if os.environ.get("CI") == "true":
        pytest.fail(f"development data is missing: shared/data/{name}")
    pytest.skip(f"needs shared/data/{name}")
