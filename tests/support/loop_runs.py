"""Plays runs of the REPL harness without a process or a server: for tests of the loop itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernel.inprocess import InProcessInterpreter
from kg_functions.guard import Guard
from kg_functions.session import GraphSession
from model_client.types import Message, ModelReply, Usage
from questions.formats import AnswerFormat, IdentityFormat
from questions.question import PublicQuestion
from rlm.loop import solve
from tests.support.dict_graph import DictGraph
from traces.events import Event
from traces.recorder import Recorder
from traces.records import Limits, Trace

Line = str | ModelReply | Exception


@dataclass
class ScriptedModel:
    """Replies from a list, then again and again with its last line; keeps what it was sent.

    Args:
        lines: texts, whole replies, or errors to raise.
        helper: answers helper calls, given the text; an error it returns is raised.
    """

    lines: Sequence[Line]
    helper: Callable[[str], str | Exception] = lambda text: f"read: {text}"
    name: str = "scripted"
    settings: dict[str, object] = field(default_factory=dict)
    replays_reasoning: bool = False
    cost: float | None = 0.01
    sent: list[list[Message]] = field(default_factory=list)

    def complete(self, messages: Sequence[Message]) -> ModelReply:
        if not any(
            message.role == "user" and "Question:" in message.content for message in messages
        ):
            said = self.helper(messages[-1].content)
            if isinstance(said, Exception):
                raise said
            return ModelReply(text=said, usage=Usage(input=2, output=1), cost=self.cost)
        line = self.lines[min(len(self.sent), len(self.lines) - 1)]
        self.sent.append(list(messages))
        if isinstance(line, Exception):
            raise line
        if isinstance(line, ModelReply):
            return line
        return ModelReply(
            text=line, finish_reason="stop", usage=Usage(input=10, output=5), cost=self.cost
        )


def block(code: str) -> str:
    """A reply with one Python block."""
    return f"Let me see.\n```python\n{code}\n```"


def small_graph() -> DictGraph:
    """Two physicists, an advisor and two cities."""
    return DictGraph(
        names={
            "Q1": "Max Born",
            "Q2": "Carl Runge",
            "Q3": "Göttingen",
            "Q4": "Bremen",
            "P184": "doctoral advisor",
            "P20": "place of death",
            "P19": "place of birth",
        },
        links=[("Q1", "P184", "Q2"), ("Q2", "P20", "Q3"), ("Q2", "P19", "Q4")],
    )


def play(
    folder: Path,
    model: ScriptedModel,
    *,
    limits: Limits | None = None,
    text: str = "Where did the doctoral advisor of Max Born die?",
    answer_format: AnswerFormat | None = None,
    graph: Any = None,
    listeners: Sequence[Callable[[Event], None]] = (),
    interpreter_factory: Any = InProcessInterpreter,
) -> Trace:
    """Play one question with the in-process interpreter."""
    limits = limits or Limits()
    recorder = Recorder(folder, listeners)
    session = GraphSession(
        graph or small_graph(),
        guard=Guard(text),
        results=recorder.results,
        call_budget=limits.graph_calls,
    )
    question = PublicQuestion(id="q", text=text, answer_format=answer_format or IdentityFormat())
    return solve(
        question,
        session,
        model,
        limits,
        recorder,
        interpreter_factory=interpreter_factory,
        graph_source="test",
    )
