"""The guard: a run may use an identifier only once it has seen it.

Seen means: it stands in the question's text, or an earlier graph call of the same run returned it,
anywhere in the result and whether or not anything was printed. The answers of helper models are no
source, and neither is arithmetic on strings.
"""

from __future__ import annotations

import threading
from typing import Any, Final

from kg_functions.errors import UnseenIdentifier
from kg_functions.identifiers import find_identifiers, is_item, is_property

_ID_KEYS: Final = frozenset({"id", "entity", "property", "unit", "globe"})


def identifiers_in(result: Any) -> set[str]:
    """Every item and property id that a function's result names as an identifier.

    Texts do not count: a description that happens to hold ``Q42`` teaches no identifier.
    """
    found: set[str] = set()
    _collect(result, found)
    return found


def _collect(value: Any, found: set[str]) -> None:
    if isinstance(value, list):
        for entry in value:
            _collect(entry, found)
    elif isinstance(value, dict):
        for key, entry in value.items():
            if isinstance(entry, str):
                if key in _ID_KEYS and (is_item(entry) or is_property(entry)):
                    found.add(entry)
            elif isinstance(entry, (dict, list)):
                if key == "by_property":
                    found.update(entry)
                _collect(entry, found)


class Guard:
    """What one run has seen; safe to use from several threads.

    Args:
        question: the question's text, whose identifiers are known from the start.
        enabled: with False every identifier is let through (notebooks, the shell).
    """

    def __init__(self, question: str = "", *, enabled: bool = True) -> None:
        self.enabled = enabled
        self._seen = find_identifiers(question)
        self._lock = threading.Lock()

    def learn(self, result: Any) -> None:
        """Remember every identifier that a result names."""
        if self.enabled:
            found = identifiers_in(result)
            with self._lock:
                self._seen |= found

    def check(self, identifier: str) -> None:
        """Let a seen identifier through.

        Raises:
            UnseenIdentifier: with a message that says how to come by the identifier.
        """
        if not self.enabled or identifier in self._seen:
            return
        finder = "search_property" if identifier.startswith("P") else "search_entity"
        raise UnseenIdentifier(
            f"{identifier} has not been seen in this run: it stands neither in the question nor "
            "in a result of an earlier graph call. It may exist, but identifiers recalled or "
            f"made up are often wrong: find it with {finder}('its name'), or in the results of "
            "claims, edges or count_edges, and then use it."
        )

    @property
    def seen(self) -> frozenset[str]:
        """The identifiers seen so far."""
        with self._lock:
            return frozenset(self._seen)
