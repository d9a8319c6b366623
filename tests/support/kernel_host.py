"""A small harness for tests of the interpreters: host functions that record what they are asked."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from kernel.interpreter import HostError

if TYPE_CHECKING:
    from kernel.interpreter import HostFunction

CLAIMS = {
    "name": "claims",
    "signature": "claims(entity, property=None, limit=200)",
    "docstring": "Statements of an entity.\n\nArgs:\n    entity: an id.",
    "parameters": [
        {"name": "entity"},
        {"name": "property", "default": None},
        {"name": "limit", "default": 200},
    ],
}
SLOW = {"name": "slow", "signature": "slow()", "docstring": "Takes its time.", "parameters": []}


class Host:
    """Records calls; ``claims`` echoes its arguments, ``slow`` answers after ``slow_seconds``."""

    def __init__(self) -> None:
        self.slow_seconds = 0.5
        self.counts: Counter[str] = Counter()
        self.finals: list[Any] = []
        self._lock = threading.Lock()

    def functions(self) -> dict[str, HostFunction]:
        """The host functions, ``graph_map`` aside."""
        return {
            "hello": lambda params: {
                "functions": [CLAIMS, SLOW],
                "methods": ["graph", "llm_query", "llm_map", "final"],
            },
            "graph": self.graph,
            "llm_query": self.llm_query,
            "llm_map": self.llm_map,
            "final": self.final,
        }

    def graph(self, params: dict[str, Any]) -> Any:
        """Answer a graph call; ids that begin with ``X`` fail."""
        args = params["args"]
        with self._lock:
            self.counts[params["function"]] += 1
        if params["function"] == "slow":
            time.sleep(self.slow_seconds)
            return "SLOW"
        if args and isinstance(args[0], str) and args[0].startswith("X"):
            raise HostError("NotInGraph", f"there is no {args[0]}: search for it")
        if args and args[0] == "crash":
            raise KeyError("secret detail of the harness")
        return {"id": args[0] if args else None, "args": args, "kwargs": params["kwargs"]}

    def llm_query(self, params: dict[str, Any]) -> Any:
        """Reply with the reversed text, or fail where it is ``bad``."""
        if params["text"] == "bad":
            raise HostError("LLMCallError", "the helper did not answer")
        return params["text"][::-1]

    def llm_map(self, params: dict[str, Any]) -> Any:
        """One reply an item."""
        return [
            {"error": "rate limited"} if text == "bad" else {"reply": text.upper()}
            for text in params["items"]
        ]

    def final(self, params: dict[str, Any]) -> Any:
        """Accept everything but the text ``wrong``."""
        if params["value"] == "wrong":
            raise HostError("AnswerRefused", "the answer must be a year")
        self.finals.append(params["value"])
        return {"accepted": True}
