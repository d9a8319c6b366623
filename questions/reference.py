"""The built-in solver: it plays a question's graph through the public functions, turn by turn.

It needs no language model and no key. It is given the question graph and what is asked, never the
gold answer, and shows that a question can be answered with the functions inside a run's limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from model_client.types import ModelReply
from questions.errors import QuestionError
from questions.reference_blocks import block
from questions.reference_plan import make_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_client.types import Message
    from questions.question import Question
    from questions.reference_plan import Step

REFERENCE: Final = "reference"
"""How the solver is named in traces and on the command line."""

_USED_UP: Final = "My plan is used up and I have nothing further to try."


class ReferenceModel:
    """A ``ModelClient`` that replies with the next block of its plan.

    A reply depends on nothing but the number of replies before it, so that an error in a block is
    never answered with the same block again; after the plan's last block come words alone.

    Args:
        question: its graph, request and answer format are read, and nothing else.

    Raises:
        QuestionError: for a question without a question graph.
    """

    def __init__(self, question: Question) -> None:
        if question.graph is None or question.ask is None:
            raise QuestionError(
                f"question {question.id} has no question graph, which the reference solver follows"
            )
        self.plan: tuple[Step, ...] = make_plan(
            question.graph, question.ask, question.answer_format
        )

    @property
    def name(self) -> str:
        """``reference``."""
        return REFERENCE

    @property
    def settings(self) -> dict[str, object]:
        """Says what this is."""
        return {"solver": "built in: follows the question graph, is no language model"}

    @property
    def replays_reasoning(self) -> bool:
        """There is no reasoning to send back."""
        return False

    def complete(self, messages: Sequence[Message]) -> ModelReply:
        """The block after those that the conversation already holds."""
        played = sum(message.role == "assistant" for message in messages)
        return ModelReply(text=self._text(played), finish_reason="stop", cost=0.0, model=REFERENCE)

    def _text(self, played: int) -> str:
        if played >= len(self.plan):
            return _USED_UP
        step = self.plan[played]
        return f"{step.title()}\n\n```python\n{block(step)}\n```"
