"""Keeps keys out of messages."""

from __future__ import annotations

import os
import re

_SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
# Providers repeat a refused key, often with stars in the middle.
_KEY_SHAPES = re.compile(
    r"(?i:bearer\s+)\S+|\b(?:sk|pk|rk|gsk|xai|hf|key)[-_][\w*.…-]{6,}|\bAIza[\w*-]{8,}"
)
_SHORTEST_SECRET = 8
_REPLACEMENT = "[key]"


def without_keys(text: str) -> str:
    """Replace every secret of the environment, and whatever looks like a key."""
    values = {
        value
        for name, value in os.environ.items()
        if len(value) >= _SHORTEST_SECRET and _SECRET_NAMES.search(name)
    }
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, _REPLACEMENT)
    return _KEY_SHAPES.sub(_REPLACEMENT, text)
