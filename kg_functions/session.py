"""One run's view of a graph: guard, cache, counts, call log and budget.

Every interface calls the graph through a session and through nothing else, so that what a run may
use, what it used and how often it repeated itself are the same wherever a model sits.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from kg_functions.errors import BackendError, BudgetExceeded, CallError, GraphError
from kg_functions.graph import error_value
from kg_functions.guard import Guard
from kg_functions.registry import GraphFunction, function
from kg_functions.results import ResultStore, encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kg_functions.graph import Graph


@dataclass(frozen=True, slots=True)
class GraphCall:
    """One graph call of a run; a list of ids is as many calls.

    Attributes:
        function: the function's name.
        arguments: every argument by name, defaults included, with a single id.
        result: the content hash of the result, or None where there was an error.
        error: ``"UnseenIdentifier: ..."``, or None.
        seconds: time the graph took; a batch's time is shared out evenly.
        cached: whether this run had the answer already.
        repeat: whether this run had asked the same function with the same arguments before.
    """

    function: str
    arguments: dict[str, Any]
    result: str | None
    error: str | None
    seconds: float
    cached: bool
    repeat: bool


class GraphSession:
    """Answers graph calls for one run. Safe to use from several threads.

    Args:
        graph: the graph.
        guard: what the run may use; by default everything is let through.
        results: where results are kept whole.
        call_budget: how many graph calls the run may make, or None for any number.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        guard: Guard | None = None,
        results: ResultStore | None = None,
        call_budget: int | None = None,
    ) -> None:
        self.graph = graph
        self.guard = guard or Guard(enabled=False)
        self.results = results or ResultStore()
        self.call_budget = call_budget
        self.backend_error: BackendError | None = None
        """The last failure of the graph itself, None once a later call was answered."""
        self._cache: dict[bytes, tuple[bytes, str]] = {}
        self._asked: set[bytes] = set()
        self._log: list[GraphCall] = []
        self._calls = 0
        self._repeats = 0
        self._lock = threading.Lock()

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call one graph function as a model would.

        Args:
            name: the function's name.
            args: positional arguments.
            kwargs: keyword arguments.

        Returns:
            The function's result; for a list of ids a dict keyed by id, where an id that failed
            has ``{"error": ...}``.

        Raises:
            CallError: the call was wrong; the message tells the model what to do.
            BackendError: the graph failed.
        """
        declared = function(name)
        arguments = declared.bind(args, kwargs)
        subject = declared.parameters[0].name
        many = declared.takes_ids and isinstance(arguments[subject], list)
        subjects = list(dict.fromkeys(arguments[subject])) if many else [arguments[subject]]
        self._reserve(len(subjects))
        answers = self._answer(declared, subjects, arguments)
        if many:
            return {
                key: error_value(value) if isinstance(value, CallError) else value
                for key, value in answers.items()
            }
        value = answers[subjects[0]]
        if isinstance(value, CallError):
            raise value
        return value

    def drain(self) -> list[GraphCall]:
        """The calls logged since the last drain, in order."""
        with self._lock:
            calls, self._log = self._log, []
        return calls

    @property
    def calls(self) -> int:
        """How many graph calls the run has made."""
        return self._calls

    @property
    def repeats(self) -> int:
        """How many of them repeated an earlier one."""
        return self._repeats

    def _reserve(self, count: int) -> None:
        """Take ``count`` calls from the budget, all or none."""
        with self._lock:
            if self.call_budget is not None and self._calls + count > self.call_budget:
                left = self.call_budget - self._calls
                raise BudgetExceeded(
                    f"This run may make {self.call_budget} graph calls; {left} are left and "
                    f"this needs {count}. Work with what you have, then answer."
                )
            self._calls += count

    def _answer(
        self, declared: GraphFunction, subjects: Sequence[Any], arguments: dict[str, Any]
    ) -> dict[Any, Any]:
        """Answers or ``CallError`` by subject: from the cache, the guard, or one graph batch."""
        subject = declared.parameters[0].name
        rest = {key: value for key, value in arguments.items() if key != subject}
        answers: dict[Any, Any] = {}
        missing: list[Any] = []
        keys = {one: _key(declared.name, one, rest) for one in subjects}
        with self._lock:
            cached = {one: self._cache.get(keys[one]) for one in subjects}
        for one in subjects:
            hit = cached[one]
            if hit is not None:
                # Decoded anew: a caller may change what it was given.
                answers[one] = orjson.loads(hit[0])
                self._record(declared, subject, one, rest, keys[one], hit[1], None, 0.0, True)
                continue
            try:
                self._check(declared, one, rest)
            except CallError as refusal:
                answers[one] = refusal
                self._record(declared, subject, one, rest, keys[one], None, refusal, 0.0, False)
            else:
                missing.append(one)
        if missing:
            for one, value, seconds in self._ask(declared, missing, rest, subject, keys):
                answers[one] = value
                error = value if isinstance(value, CallError) else None
                stored = None if error else self._keep(keys[one], value)
                self._record(declared, subject, one, rest, keys[one], stored, error, seconds, False)
        return {one: answers[one] for one in subjects}

    def _ask(
        self,
        declared: GraphFunction,
        missing: Sequence[Any],
        rest: Mapping[str, Any],
        subject: str,
        keys: Mapping[Any, bytes],
    ) -> Iterator[tuple[Any, Any, float]]:
        """Ask the graph once for all the missing subjects."""
        method = getattr(self.graph, declared.name)
        began = time.perf_counter()
        try:
            if declared.takes_ids:
                batch = method(list(missing), **rest)
            else:
                batch = {missing[0]: method(missing[0], **rest)}
        except GraphError as error:
            share = (time.perf_counter() - began) / len(missing)
            if isinstance(error, BackendError):
                self.backend_error = error
            for one in missing:
                self._record(declared, subject, one, rest, keys[one], None, error, share, False)
            raise
        self.backend_error = None
        share = (time.perf_counter() - began) / len(missing)
        for one in missing:
            yield one, batch[one], share

    def _check(self, declared: GraphFunction, one: Any, rest: Mapping[str, Any]) -> None:
        """Syntax and guard, for the subject and for a ``property`` argument."""
        if declared.takes_ids:
            self.guard.check(self.graph.check_id(one))
        wanted = rest.get("property")
        if wanted is not None:
            self.guard.check(self.graph.check_property(wanted))

    def _keep(self, key: bytes, value: Any) -> str:
        self.guard.learn(value)
        encoded = encode(value)
        stored = self.results.put(encoded)
        with self._lock:
            self._cache[key] = (encoded, stored)
        return stored

    def _record(
        self,
        declared: GraphFunction,
        subject: str,
        one: Any,
        rest: Mapping[str, Any],
        key: bytes,
        stored: str | None,
        error: GraphError | None,
        seconds: float,
        cached: bool,
    ) -> None:
        message = f"{type(error).__name__}: {error}" if error else None
        with self._lock:
            repeat = key in self._asked
            self._asked.add(key)
            self._repeats += repeat
            self._log.append(
                GraphCall(
                    declared.name,
                    {subject: one, **rest},
                    stored,
                    message,
                    seconds,
                    cached,
                    repeat,
                )
            )


def _key(name: str, one: Any, rest: Mapping[str, Any]) -> bytes:
    """Equal for calls that mean the same."""
    return orjson.dumps([name, one, rest], default=repr)
