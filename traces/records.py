"""The record of one run.

A trace is the fold of its events (``traces.events``): whatever is stored in ``trace.json`` can be
made again from ``events.jsonl``. Totals are computed, never stored beside what they sum up.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from kg_functions.session import GraphCall
from model_client.types import Message, SubCall, Usage, add_costs
from questions.answers import Answer
from questions.question import PublicQuestion
from questions.scoring import Score

SCHEMA_VERSION: Final = 1
"""Raised when a reader of an older version would misread a newer trace."""

StopReason = Literal[
    "answered",
    "turn_limit",
    "cost_limit",
    "time_limit",
    "no_code",
    "empty_reply",
    "refused",
    "context_overflow",
    "model_error",
    "graph_error",
    "harness_error",
    "interrupted",
]
"""Why a run ended; one list for every interface."""

INFRASTRUCTURE: Final[frozenset[str]] = frozenset(
    {"model_error", "graph_error", "harness_error", "interrupted"}
)
"""Stop reasons that say nothing about the model: such a run is owed again."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class Limits(_Record):
    """What a run may spend. None means no limit. The defaults are those of section 4.1."""

    turns: int = Field(default=100, ge=1)
    """Model replies in the main conversation."""
    sub_calls: int = Field(default=80, ge=0)
    """Helper calls; each item of ``llm_map`` is one."""
    output_characters: int = Field(default=10_000, ge=200)
    """Characters of one cell's output that the model is shown."""
    cost: float | None = Field(default=None, ge=0)
    """US dollars, sub-calls included."""
    seconds: float | None = Field(default=None, gt=0)
    """Wall time of the run; looked at between turns."""
    graph_calls: int | None = Field(default=None, ge=0)
    """Graph calls; measured but not capped in the main evaluation."""
    cell_seconds: float = Field(default=120.0, gt=0)
    """Wall time of one executed block."""


class GraphRecord(_Record):
    """Which graph a run explored."""

    kind: str
    """``wikidata`` or ``stark``."""
    snapshot: str
    """The snapshot's id, or the endpoint's address."""
    source: str
    """How the graph was named on the command line."""


class ModelRecord(_Record):
    """Which model played, and with what settings."""

    name: str
    settings: dict[str, Any] = Field(default_factory=dict)
    replays_reasoning: bool = False
    """Whether earlier reasoning was sent back with the conversation."""


class TraceHeader(_Record):
    """What is known of a run before its first turn."""

    schema_version: int = SCHEMA_VERSION
    run: str
    """A name for the run, unique within its folder of runs."""
    question: PublicQuestion
    interface: str
    """``rlm``, ``agent`` or ``dkgi/VARIANT``."""
    model: ModelRecord
    graph: GraphRecord
    limits: Limits
    confinement: str
    """How model-written code was kept apart: ``bwrap``, ``landlock`` or ``none``."""
    instruction: str
    """Hash of the instruction text that all interfaces share."""
    code_version: str
    started_at: str
    """ISO 8601, UTC."""
    prompt: tuple[Message, ...]
    """The conversation before the first reply."""


class Turn(_Record):
    """One reply of the model and what came of it."""

    number: int
    """Counted from 1."""
    reply: str
    """The reply without reasoning."""
    reasoning: str | None = None
    finish_reason: str | None = None
    code: str | None = None
    """The block that was executed, or None where there was none."""
    status: str | None = None
    """How the cell ended: ``ok``, ``error``, ``interrupted``, ``restarted``; None without code."""
    error: str | None = None
    """The exception that the cell raised."""
    output: str = ""
    """The cell's visible output."""
    omitted: int = 0
    """Characters of the whole output that were not shown."""
    output_file: str | None = None
    """The whole output, relative to the run folder."""
    shown: str = ""
    """The message that the model was given after this turn."""
    graph_calls: tuple[GraphCall, ...] = ()
    sub_calls: tuple[SubCall, ...] = ()
    usage: Usage = Field(default_factory=Usage)
    """Tokens of the reply; those of sub-calls stand with the sub-calls."""
    cost: float | None = None
    """US dollars for the reply, None where no price is known."""
    model_seconds: float = 0.0
    cell_seconds: float = 0.0


class Totals(_Record):
    """What a run spent."""

    turns: int
    graph_calls: int
    repeats: int
    """Graph calls that repeated an earlier one."""
    sub_calls: int
    usage: Usage
    """Tokens of the main conversation."""
    sub_usage: Usage
    """Tokens of the sub-calls."""
    cost: float | None
    """US dollars, sub-calls included; None where any part has no known price."""


class Judgement(_Record):
    """What a scorer knows and a solver must not: kept apart from the run itself."""

    gold: Answer
    score: Score


class Trace(_Record):
    """One run, whole."""

    header: TraceHeader
    turns: tuple[Turn, ...] = ()
    answer: Answer | None = None
    """The first accepted answer."""
    stop_reason: StopReason | None = None
    """None while the run goes on, or where the process died."""
    stop_detail: str | None = None
    """What exactly went wrong, in one line."""
    seconds: float = 0.0
    """Wall time of the run."""
    judgement: Judgement | None = None

    @property
    def infrastructure_error(self) -> bool:
        """Whether the run ended for a reason that is not the model's doing."""
        return self.stop_reason is None or self.stop_reason in INFRASTRUCTURE

    def totals(self) -> Totals:
        """Sum up the turns."""
        sub_calls = [call for turn in self.turns for call in turn.sub_calls]
        calls = [call for turn in self.turns for call in turn.graph_calls]
        costs = [turn.cost for turn in self.turns] + [call.cost for call in sub_calls]
        return Totals(
            turns=len(self.turns),
            graph_calls=len(calls),
            repeats=sum(call.repeat for call in calls),
            sub_calls=len(sub_calls),
            usage=sum((turn.usage for turn in self.turns), Usage()),
            sub_usage=sum((call.usage for call in sub_calls), Usage()),
            cost=add_costs(*costs),
        )
