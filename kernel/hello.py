"""What a kernel is told at its start: the functions to offer and the limit of its output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernel.interpreter import HostFunction


def hello(host: Mapping[str, HostFunction], output_limit: int) -> dict[str, Any]:
    """Complete the host's own ``hello``.

    Args:
        host: the host functions. ``hello``, where it is there, answers ``{"functions": [{"name",
            "signature", "docstring", "parameters": [{"name", "default"?}]}], "methods": [...]}``;
            without ``methods`` every name in ``host`` counts, and what is not among them is not
            offered to the model.
        output_limit: visible characters of a cell.
    """
    told = host["hello"]({}) if "hello" in host else {}
    return {
        "functions": told.get("functions", []),
        "methods": told.get("methods", sorted(host)),
        "output_limit": output_limit,
    }
