"""Loads LiteLLM at first use: without network, key files, telemetry or chatter."""

from __future__ import annotations

import functools
import logging
import os
import threading
from typing import Any

_loading = threading.Lock()
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")


def load_litellm() -> Any:
    """The ``litellm`` module. The first call takes some seconds; threads may call at once."""
    with _loading:
        return _load()


@functools.cache
def _load() -> Any:
    # Prices come from the list inside the package: a list fetched at import would need the
    # network and would make a run's cost depend on the minute it started.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    # In its default mode LiteLLM reads keys from a .env file near the program.
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    for name in _LOGGERS:
        # Above every level: what failed is told by this package's own errors, without keys.
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    return litellm
