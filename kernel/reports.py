"""What a kernel may report of a cell: checked, since a model's code can send reports itself."""

from __future__ import annotations

from typing import Any, Final

_KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "cell": int,
    "output": str,
    "omitted": int,
    "spooled": int,
    "error": (str, type(None)),
    "interrupted": bool,
    "names": list,
    "moved": list,
    "dropped": int,
}


def check_report(report: dict[str, Any]) -> None:
    """Refuse what is no report of a cell.

    Raises:
        ValueError: says what is wrong with it.
    """
    for name, kind in _KINDS.items():
        if not isinstance(report.get(name), kind):
            raise ValueError(f"a report with {name} {report.get(name)!r:.80}")
    if not all(isinstance(name, str) for name in report["names"]):
        raise ValueError("a report whose names are no texts")
    for pair in report["moved"]:
        if not isinstance(pair, list) or [type(name) for name in pair] != [str, str]:
            raise ValueError("a report whose moved names are no pairs of texts")
