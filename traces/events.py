"""What happens in a run, one event a line of ``events.jsonl``, and the fold that makes a trace.

Faces watch a run through the same events that are stored, so nothing can be shown live that is not
in the trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from kg_functions.session import GraphCall
from model_client.types import ModelReply, SubCall, WholeText
from questions.answers import Answer
from traces.records import StopReason, Trace, TraceHeader, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class RunStarted(_Event):
    """The run begins."""

    event: Literal["run_started"] = "run_started"
    header: TraceHeader


class ModelReplied(_Event):
    """The model answered; this opens a turn."""

    event: Literal["model_replied"] = "model_replied"
    turn: int
    reply: ModelReply


class CellStarted(_Event):
    """A block is about to be executed."""

    event: Literal["cell_started"] = "cell_started"
    turn: int
    code: WholeText


class SubCalled(_Event):
    """A helper call ended."""

    event: Literal["sub_called"] = "sub_called"
    turn: int
    call: SubCall


class GraphCalled(_Event):
    """Graph calls were made; one event carries many."""

    event: Literal["graph_called"] = "graph_called"
    turn: int
    calls: tuple[GraphCall, ...]


class CellFinished(_Event):
    """The block ended, one way or another."""

    event: Literal["cell_finished"] = "cell_finished"
    turn: int
    status: str
    output: WholeText
    omitted: int = 0
    output_file: str | None = None
    error: WholeText | None = None
    seconds: float = 0.0


class AnswerAccepted(_Event):
    """The first value handed to FINAL that fits the answer format."""

    event: Literal["answer_accepted"] = "answer_accepted"
    turn: int
    answer: Answer


class TurnEnded(_Event):
    """What the model was told after its turn."""

    event: Literal["turn_ended"] = "turn_ended"
    turn: int
    shown: WholeText


class RunEnded(_Event):
    """The run is over."""

    event: Literal["run_ended"] = "run_ended"
    stop_reason: StopReason
    detail: WholeText | None = None
    seconds: float


Event = Annotated[
    RunStarted
    | ModelReplied
    | CellStarted
    | SubCalled
    | GraphCalled
    | CellFinished
    | AnswerAccepted
    | TurnEnded
    | RunEnded,
    Field(discriminator="event"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
"""Reads any event from JSON."""


def fold(events: Iterable[Event]) -> Trace:
    """The trace that a run's events tell, also of a run that was cut short.

    Raises:
        ValueError: where the first event does not start a run.
    """
    header: TraceHeader | None = None
    turns: dict[int, Turn] = {}
    answer: Answer | None = None
    ended: RunEnded | None = None
    for event in events:
        if isinstance(event, RunStarted):
            header = event.header
        elif isinstance(event, AnswerAccepted):
            answer = answer or event.answer
        elif isinstance(event, RunEnded):
            ended = event
        elif isinstance(event, ModelReplied):
            turns[event.turn] = _open_turn(event)
        elif event.turn in turns:
            turns[event.turn] = _extend(turns[event.turn], event)
    if header is None:
        raise ValueError("the events do not start a run")
    return Trace(
        header=header,
        turns=tuple(turns.values()),
        answer=answer,
        stop_reason=ended.stop_reason if ended else None,
        stop_detail=ended.detail if ended else None,
        seconds=ended.seconds if ended else 0.0,
    )


def _open_turn(event: ModelReplied) -> Turn:
    reply = event.reply
    return Turn(
        number=event.turn,
        reply=reply.text,
        reasoning=reply.reasoning,
        finish_reason=reply.finish_reason,
        usage=reply.usage,
        cost=reply.cost,
        model_seconds=reply.seconds,
    )


def _extend(
    turn: Turn, event: CellStarted | SubCalled | GraphCalled | CellFinished | TurnEnded
) -> Turn:
    """The turn with what one more event adds to it."""
    match event:
        case CellStarted():
            update: dict[str, object] = {"code": event.code}
        case SubCalled():
            update = {"sub_calls": (*turn.sub_calls, event.call)}
        case GraphCalled():
            update = {"graph_calls": (*turn.graph_calls, *event.calls)}
        case TurnEnded():
            update = {"shown": event.shown}
        case CellFinished():
            update = {
                "status": event.status,
                "output": event.output,
                "omitted": event.omitted,
                "output_file": event.output_file,
                "error": event.error,
                "cell_seconds": event.seconds,
            }
    return turn.model_copy(update=update)
