"""What the kernel may ask of the harness: graph calls, helper calls, and handing in the answer.

All policy lives here, in the harness process: the guard, the budgets and the answer format. The
functions that a model sees in the kernel only carry requests.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any, Final

from kernel.interpreter import HostError
from kg_functions.errors import BackendError, GraphError
from kg_functions.registry import describe_functions
from model_client.helpers import run_subcall
from model_client.types import add_costs
from questions.answers import AnswerFormatError, read_answer
from rlm.fan_out import StoppedError, fan_out
from traces.events import AnswerAccepted, SubCalled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kernel.interpreter import HostFunction
    from kg_functions.session import GraphSession
    from model_client.types import ModelClient, SubCall
    from questions.answers import Answer
    from questions.question import PublicQuestion
    from traces.events import Event

SUB_CALL_WORKERS: Final = 8
"""How many items of one ``llm_map`` are in flight at once."""

GRAPH_MAP_WORKERS: Final = 8

MAX_EVIDENCE: Final = 200_000
"""Characters of one text that a helper may be given; the trace keeps every one of them."""

_ADDRESS: Final = re.compile(r"https?://[^\s,;]+")


class Host:
    """Answers the kernel's requests for one run. Methods are called from several threads.

    Args:
        question: for the answer format.
        session: the run's graph session.
        model: answers helper calls.
        sub_call_limit: how many helper calls the run may make; 0 leaves the helpers out.
        record: where events go.
    """

    def __init__(
        self,
        question: PublicQuestion,
        session: GraphSession,
        model: ModelClient,
        sub_call_limit: int,
        record: Callable[[Event], None],
    ) -> None:
        self.turn = 0
        """The turn that is being played; set by the loop."""
        self.answer: Answer | None = None
        self.sub_call_cost: float | None = 0.0
        """US dollars spent on helper calls; None once a call had no known price."""
        self._question = question
        self._session = session
        self._model = model
        self._limit = sub_call_limit
        self._used = 0
        self._record = record
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def cancel(self) -> None:
        """Start nothing more of what is queued: the cell that asked for it is no more."""
        with self._lock:
            self._stop.set()
            self._stop = threading.Event()

    def functions(self) -> Mapping[str, HostFunction]:
        """The requests that the kernel may make, by method name."""
        host: dict[str, HostFunction] = {
            "hello": lambda _: {"functions": describe_functions()},
            "graph": self._graph,
            "graph_map": self._graph_map,
            "final": self._final,
        }
        if self._limit:
            host["llm_query"] = self._llm_query
            host["llm_map"] = self._llm_map
        return host

    def _graph(self, request: dict[str, Any]) -> Any:
        try:
            return self._session.call(request["function"], *request["args"], **request["kwargs"])
        except GraphError as error:
            raise HostError(_kind(error), str(error)) from None

    def _graph_map(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Concurrent calls of one function; a call that fails has its error in its place."""

        def one(call: dict[str, Any]) -> dict[str, Any]:
            try:
                return {"result": self._graph({"function": request["function"], **call})}
            except HostError as error:
                return {"error": {"kind": error.kind, "message": error.message}}

        return self._fan_out(one, request["calls"], GRAPH_MAP_WORKERS)

    def _fan_out(self, function: Callable[[Any], Any], items: list[Any], workers: int) -> list[Any]:
        try:
            return fan_out(function, items, workers, self._stop)
        except StoppedError:
            raise HostError("HarnessFault", "the block was stopped") from None

    def _llm_query(self, request: dict[str, Any]) -> str:
        text, instruction = _texts(request["text"], request["instruction"])
        turn = self._reserve(1, "llm_query")
        call = self._run(text, instruction, turn)
        if call.reply is None:
            raise HostError("LLMCallError", _reason(call))
        return call.reply

    def _llm_map(self, request: dict[str, Any]) -> list[dict[str, str]]:
        """One helper call an item, in order; refused as a whole where too few calls are left."""
        items = request["items"]
        if not isinstance(items, list):
            raise HostError("LLMCallError", "llm_map needs a list of texts.")
        pairs = [_texts(item, request["instruction"]) for item in items]
        turn = self._reserve(len(pairs), f"llm_map of {len(pairs)} items")
        calls = self._fan_out(
            lambda pair: self._run(pair[0], pair[1], turn), pairs, SUB_CALL_WORKERS
        )
        return [
            {"error": _reason(call)} if call.reply is None else {"reply": call.reply}
            for call in calls
        ]

    def _run(self, text: str, instruction: str, turn: int) -> SubCall:
        call = run_subcall(self._model, text, instruction)
        with self._lock:
            self.sub_call_cost = add_costs(self.sub_call_cost, call.cost)
        self._record(SubCalled(turn=turn, call=call))
        return call

    def _reserve(self, count: int, what: str) -> int:
        """Take helper calls from the budget before any is made, all or none; gives the turn."""
        with self._lock:
            left = self._limit - self._used
            if count > left:
                raise HostError(
                    "LLMCallError",
                    f"{what} needs {count} of the {self._limit} helper calls that a run may make; "
                    f"{left} are left. Nothing was spent. Select less evidence, or read it in "
                    "code.",
                )
            self._used += count
            return self.turn

    def _final(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = read_answer(request["value"], self._question.answer_format)
        except AnswerFormatError as error:
            raise HostError("AnswerRefused", str(error)) from None
        with self._lock:
            first = self.answer is None
            if first:
                self.answer = answer
        if first:
            self._record(AnswerAccepted(turn=self.turn, answer=answer))
        return {"accepted": True}


def _kind(error: GraphError) -> str:
    """The exception's class in the kernel: the model's own faults by name, the graph's as one."""
    return "GraphUnavailable" if isinstance(error, BackendError) else type(error).__name__


def _texts(text: Any, instruction: Any) -> tuple[str, str]:
    if not isinstance(text, str) or not isinstance(instruction, str):
        raise HostError(
            "LLMCallError",
            "The evidence and the instruction must be strings: use json.dumps(...) or str(...).",
        )
    if len(text) > MAX_EVIDENCE:
        raise HostError(
            "LLMCallError",
            f"The text has {len(text):,} characters, a helper may be given {MAX_EVIDENCE:,}: "
            "select what matters in code first.",
        )
    return text, instruction


def _reason(call: SubCall) -> str:
    """Why a helper call failed, without addresses: they are no business of the model's code."""
    return _ADDRESS.sub("(address)", call.error or "the helper gave no answer")
