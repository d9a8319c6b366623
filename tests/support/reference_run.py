"""Plays the reference solver's blocks with guarded functions, as a harness does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kg_functions.guard import Guard
from kg_functions.registry import FUNCTIONS
from kg_functions.session import GraphSession
from model_client.types import Message
from questions.answers import read_answer
from questions.reference import ReferenceModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from questions.question import Question

FENCE = re.compile(r"\A(?P<words>[^\n`]+)\n\n```python\n(?P<code>.*)\n```\Z", re.DOTALL)


class ReferenceRun:
    """Plays a model's blocks with guarded functions, as a harness does."""

    def __init__(self, asked: Question, over: Any) -> None:
        self.session = GraphSession(over, guard=Guard(asked.text))
        self.asked = asked
        self.answer: Any = None
        self.replies: list[str] = []
        self.errors: list[Exception] = []

    def function(self, name: str) -> Callable[..., Any]:
        return lambda *args, **kwargs: self.session.call(name, *args, **kwargs)

    def final(self, value: Any) -> None:
        self.answer = read_answer(value, self.asked.answer_format)

    def play(self) -> ReferenceRun:
        model = ReferenceModel(self.asked)
        namespace: dict[str, Any] = {name: self.function(name) for name in FUNCTIONS}
        namespace["FINAL"] = self.final
        messages = [Message(role="system", content="s"), Message(role="user", content="Who?")]
        while self.answer is None:
            reply = model.complete(messages)
            found = FENCE.fullmatch(reply.text)
            if found is None:
                break
            self.replies.append(reply.text)
            try:
                exec(compile(found["code"], "block", "exec"), namespace)
            except Exception as error:
                self.errors.append(error)
            messages.append(Message(role="assistant", content=reply.text))
            messages.append(Message(role="user", content="output"))
        return self
