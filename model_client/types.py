"""What passes between a solver and a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

if TYPE_CHECKING:
    from collections.abc import Sequence


def whole_characters(text: Any) -> Any:
    """A text in which lone surrogates are written out as escapes, so that it can be stored."""
    if not isinstance(text, str):
        return text
    return text.encode("utf-8", "backslashreplace").decode()


WholeText = Annotated[str, BeforeValidator(whole_characters)]
"""Text from a model or its code, which may hold anything."""


class Message(BaseModel):
    """One chat message. ``reasoning`` is kept beside the text, never inside it."""

    model_config = ConfigDict(frozen=True)

    role: Literal["system", "user", "assistant"]
    content: WholeText
    reasoning: WholeText | None = None
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

    text: WholeText
    """The reply without reasoning; empty where the model said nothing."""
    reasoning: WholeText | None = None
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

    instruction: WholeText
    text: WholeText
    """The evidence that the helper was given."""
    reply: WholeText | None
    """The answer, or None where the call failed."""
    error: WholeText | None = None
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
