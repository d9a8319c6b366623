"""What passes between a solver and a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from collections.abc import Sequence


class Message(BaseModel):
    """One chat message. ``reasoning`` is kept beside the text, never inside it."""

    model_config = ConfigDict(frozen=True)

    role: Literal["system", "user", "assistant"]
    content: str
    reasoning: str | None = None
    """What the model thought before it answered, where the provider returns it."""


class Usage(BaseModel):
    """Tokens of one or more calls; ``cached`` and ``reasoning`` are parts of the other two."""

    model_config = ConfigDict(frozen=True)

    input: int = 0
    output: int = 0
    cached: int = 0
    """Input tokens that the provider read from its cache."""
    reasoning: int = 0
    """Output tokens spent on reasoning."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            reasoning=self.reasoning + other.reasoning,
        )


def add_costs(*costs: float | None) -> float | None:
    """The sum in US dollars; None, not a smaller number, where any part has no known price."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


class ModelReply(BaseModel):
    """One reply of a model.

    ``cost`` is in US dollars, None where no price is known (never 0 for want of a price).
    """

    model_config = ConfigDict(frozen=True)

    text: str
    """The reply without reasoning; empty where the model said nothing."""
    reasoning: str | None = None
    finish_reason: str | None = None
    """The provider's word: ``stop``, ``length``, ``content_filter``, ..."""
    usage: Usage = Field(default_factory=Usage)
    cost: float | None = None
    seconds: float = 0.0
    model: str = ""
    """The model that answered, as the provider names it."""


class SubCall(BaseModel):
    """One helper call (``llm_query``, or one item of ``llm_map``) made from the kernel."""

    model_config = ConfigDict(frozen=True)

    instruction: str
    text: str
    """The evidence that the helper was given."""
    reply: str | None
    """The answer, or None where the call failed."""
    error: str | None = None
    usage: Usage = Field(default_factory=Usage)
    cost: float | None = None
    seconds: float = 0.0


class ModelClient(Protocol):
    """One door to a language model. Calls may be made from several threads at once."""

    @property
    def name(self) -> str:
        """How the model is named in traces and reports."""
        ...

    @property
    def settings(self) -> dict[str, object]:
        """What the calls are made with (temperature, effort, limits, prices); never a key."""
        ...

    @property
    def replays_reasoning(self) -> bool:
        """Whether earlier reasoning is sent back with the conversation."""
        ...

    def complete(self, messages: Sequence[Message]) -> ModelReply:
        """Answer a conversation.

        Raises:
            ModelError: one of its subclasses says which kind of failure.
        """
        ...
