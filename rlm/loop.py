"""The REPL harness's loop, whole: ask the model, run its block, show the output, until it ends."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from kernel.interpreter import CellResult, KernelError
from kg_functions.errors import BackendDown
from model_client.errors import ContextOverflow, ModelError, ModelRefused
from model_client.types import Message, add_costs
from questions.instructions import instruction_hash
from rlm import notices
from rlm.host import Host
from rlm.prompt import opening_messages
from rlm.reply import parse_reply
from rlm.stops import RunStopped
from traces.events import (
    CellFinished,
    CellStarted,
    GraphCalled,
    ModelReplied,
    RunEnded,
    RunStarted,
    TurnEnded,
)
from traces.records import GraphRecord, ModelRecord, TraceHeader
from traces.version import code_version

if TYPE_CHECKING:
    from kernel.interpreter import Interpreter, InterpreterFactory
    from kg_functions.session import GraphSession
    from model_client.types import ModelClient, ModelReply
    from questions.question import PublicQuestion
    from traces.recorder import Recorder
    from traces.records import Limits, StopReason, Trace

INTERFACE: Final = "rlm"
USELESS_REPLIES: Final = 3
"""So many replies in a row without a block to execute end the run."""


def solve(
    question: PublicQuestion,
    graph: GraphSession,
    model: ModelClient,
    limits: Limits,
    recorder: Recorder,
    *,
    interpreter_factory: InterpreterFactory,
    graph_source: str = "",
) -> Trace:
    """Let a model play one question through the REPL harness.

    Args:
        question: what the model is asked; its gold answer is not part of it.
        graph: the run's graph session, with its guard.
        model: plays the turns and answers the helper calls.
        limits: what the run may spend.
        recorder: where the run's events go.
        interpreter_factory: makes the interpreter that executes the model's code.
        graph_source: how the user named the graph, for the trace.

    Returns:
        The run's trace; whatever happens, it is complete up to the event that ended the run.
    """
    run = _Run(question, graph, model, limits, recorder, interpreter_factory, graph_source)
    return run.play()


class _Run:
    """The state of one run: the conversation, the clock, the spending."""

    def __init__(
        self,
        question: PublicQuestion,
        graph: GraphSession,
        model: ModelClient,
        limits: Limits,
        recorder: Recorder,
        interpreter_factory: InterpreterFactory,
        graph_source: str,
    ) -> None:
        self._question = question
        self._graph = graph
        self._model = model
        self._limits = limits
        self._recorder = recorder
        self._source = graph_source
        self._host = Host(question, graph, model, limits.sub_calls, recorder.record)
        self._interpreter = interpreter_factory(
            self._host.functions(),
            folder=recorder.outputs,
            output_limit=limits.output_characters,
            cell_seconds=limits.cell_seconds,
        )
        self._messages: list[Message] = list(opening_messages(question, limits))
        self._began = time.monotonic()
        self._useless: list[str] = []
        self._cost: float | None = 0.0

    def play(self) -> Trace:
        """Play turns until something stops the run, and close everything that was opened."""
        self._start()
        reason: StopReason
        detail: str | None
        try:
            self._interpreter.start()
            for turn in range(1, self._limits.turns + 1):
                self._check_limits()
                self._play_turn(turn)
            reason, detail = "turn_limit", f"{self._limits.turns} turns were played"
        except RunStopped as stop:
            reason, detail = stop.reason, stop.detail
        except KernelError as error:
            reason, detail = "harness_error", str(error)
        except KeyboardInterrupt:
            reason, detail = "interrupted", "stopped by the user"
        except Exception as error:
            self._finish("harness_error", f"{type(error).__name__}: {error}")
            raise
        return self._finish(reason, detail)

    def _finish(self, reason: StopReason, detail: str | None) -> Trace:
        """Stop what is still under way, and write down how the run ended."""
        self._host.cancel()
        _close(self._interpreter)
        self._record_calls()
        if self._host.answer is not None:
            # An accepted answer stands, whatever happened to the rest of its turn.
            reason, detail = "answered", None
        self._recorder.record(
            RunEnded(stop_reason=reason, detail=detail, seconds=time.monotonic() - self._began)
        )
        return self._recorder.finish()

    def _start(self) -> None:
        header = TraceHeader(
            run=self._recorder.folder.name,
            question=self._question,
            interface=INTERFACE,
            model=ModelRecord(
                name=self._model.name,
                settings=dict(self._model.settings),
                replays_reasoning=self._model.replays_reasoning,
            ),
            graph=GraphRecord(
                kind=self._graph.graph.kind,
                snapshot=self._graph.graph.snapshot,
                source=self._source,
            ),
            limits=self._limits,
            confinement=self._interpreter.confinement,
            instruction=instruction_hash(self._question.instruction),
            code_version=code_version(),
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            prompt=tuple(self._messages),
        )
        self._recorder.record(RunStarted(header=header))

    def _play_turn(self, turn: int) -> None:
        self._host.turn = turn
        reply = self._ask()
        self._recorder.record(ModelReplied(turn=turn, reply=reply))
        self._cost = add_costs(self._cost, reply.cost)
        self._messages.append(
            Message(role="assistant", content=reply.text, reasoning=reply.reasoning)
        )
        shown = self._act_on(turn, reply)
        self._recorder.record(TurnEnded(turn=turn, shown=shown))
        if self._host.answer is not None:
            raise RunStopped("answered")
        if isinstance(self._graph.backend_error, BackendDown):
            raise RunStopped("graph_error", str(self._graph.backend_error))
        self._check_useless()
        self._messages.append(Message(role="user", content=shown))

    def _ask(self) -> ModelReply:
        try:
            return self._model.complete(self._messages)
        except ContextOverflow as error:
            raise RunStopped("context_overflow", str(error)) from error
        except ModelRefused as error:
            raise RunStopped("refused", str(error)) from error
        except ModelError as error:
            raise RunStopped("model_error", str(error)) from error

    def _act_on(self, turn: int, reply: ModelReply) -> str:
        """Execute the reply's block, if it has one; gives what the model is told."""
        parsed = parse_reply(reply.text)
        cut = reply.finish_reason == "length"
        if parsed.code is None or (cut and not parsed.closed):
            empty = not reply.text.strip()
            self._useless.append("empty_reply" if empty else "no_code")
            if cut:
                return notices.CUT_REPLY
            return notices.EMPTY_REPLY if empty else notices.NO_CODE
        self._useless.clear()
        result = self._execute(turn, parsed.code)
        return notices.shown_after_cell(
            result, turn=turn, turns=self._limits.turns, more_blocks=parsed.more
        )

    def _execute(self, turn: int, code: str) -> CellResult:
        self._recorder.record(CellStarted(turn=turn, code=code))
        result = self._interpreter.run(code)
        if result.status in {"interrupted", "restarted"}:
            self._host.cancel()
        self._record_calls()
        file = result.full_output
        self._recorder.record(
            CellFinished(
                turn=turn,
                status=result.status,
                output=result.output,
                omitted=result.omitted,
                output_file=str(file.relative_to(self._recorder.folder)) if file else None,
                error=result.error,
                seconds=result.seconds,
            )
        )
        return result

    def _record_calls(self) -> None:
        calls = self._graph.drain()
        if calls:
            self._recorder.record(GraphCalled(turn=self._host.turn, calls=tuple(calls)))

    def _check_limits(self) -> None:
        """Stop before a turn that the limits no longer allow."""
        if self._limits.seconds is not None:
            spent = time.monotonic() - self._began
            if spent >= self._limits.seconds:
                raise RunStopped("time_limit", f"{spent:.0f} of {self._limits.seconds:g} seconds")
        if self._limits.cost is not None:
            cost = add_costs(self._cost, self._host.sub_call_cost)
            if cost is None:
                raise RunStopped("cost_limit", "no price is known for this model: cost unknown")
            if cost >= self._limits.cost:
                raise RunStopped("cost_limit", f"${cost:.4f} of ${self._limits.cost:g}")

    def _check_useless(self) -> None:
        """Stop after too many replies in a row that held nothing to execute."""
        if len(self._useless) >= USELESS_REPLIES:
            empty = all(kind == "empty_reply" for kind in self._useless)
            raise RunStopped(
                "empty_reply" if empty else "no_code",
                f"{USELESS_REPLIES} replies in a row held no Python block",
            )


def _close(interpreter: Interpreter) -> None:
    """Close the interpreter; a failure here must not hide why the run ended."""
    try:
        interpreter.close()
    except KernelError:
        return
