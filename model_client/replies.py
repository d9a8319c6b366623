"""Reads text, reasoning, usage and cost out of LiteLLM's response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model_client.thoughts import split_thoughts
from model_client.types import ModelReply, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model_client.profile import ModelProfile
    from model_client.routing import Route

_MILLION = 1_000_000


def read_reply(
    response: Any, *, profile: ModelProfile, route: Route, litellm: Any, seconds: float
) -> ModelReply:
    """A response as a ``ModelReply``. The response must have a choice."""
    choice = response.choices[0]
    thoughts, text = split_thoughts(_text(choice.message.content))
    usage = read_usage(response)
    return ModelReply(
        text=text.strip(),
        reasoning=_joined(_reasoning(choice.message), thoughts),
        finish_reason=choice.finish_reason,
        usage=usage,
        cost=_cost(response, usage, profile=profile, route=route, litellm=litellm),
        seconds=seconds,
        model=str(response.model or "").removeprefix(f"{route.provider}/"),
    )


def refusal_of(response: Any) -> str | None:
    """Why the model or its filter declined, where the response says that it did."""
    choice = response.choices[0]
    refusal = getattr(choice.message, "refusal", None)
    if refusal and not choice.message.content:
        return str(refusal)
    if choice.finish_reason == "content_filter":
        return "the content filter stopped the reply"
    return None


def read_usage(response: Any) -> Usage:
    """Token counts as the provider gave them; zeros where it gave none."""
    usage = getattr(response, "usage", None)
    return Usage(
        input=_count(usage, "prompt_tokens"),
        output=_count(usage, "completion_tokens"),
        cached=_count(getattr(usage, "prompt_tokens_details", None), "cached_tokens"),
        reasoning=_count(getattr(usage, "completion_tokens_details", None), "reasoning_tokens"),
    )


def cost_by_profile(profile: ModelProfile, usage: Usage) -> float | None:
    """US dollars by the profile's own prices; None where it has none."""
    if profile.input_price is None or profile.output_price is None:
        return None
    cached_price = profile.cached_input_price
    if cached_price is None:
        cached_price = profile.input_price
    fresh = max(0, usage.input - usage.cached)
    dollars = (
        fresh * profile.input_price
        + usage.cached * cached_price
        + usage.output * profile.output_price
    )
    return dollars / _MILLION


def _cost(
    response: Any, usage: Usage, *, profile: ModelProfile, route: Route, litellm: Any
) -> float | None:
    if usage.input + usage.output == 0:
        return None  # Without token counts nothing is known.
    if profile.has_prices:
        return cost_by_profile(profile, usage)
    if profile.api_base is not None:
        return None  # A public price of the same name says nothing about an own server.
    try:
        dollars = float(litellm.completion_cost(completion_response=response, model=route.model))
    except Exception:  # LiteLLM raises several types for a model without a price.
        return None
    # LiteLLM writes 0 both for free and for unpriced models.
    return dollars or None


def _reasoning(message: Any) -> str | None:
    """Reasoning that came beside the content, under whichever name the server gives it."""
    extra = getattr(message, "provider_specific_fields", None) or {}
    for found in (getattr(message, "reasoning_content", None), extra.get("reasoning")):
        if isinstance(found, str) and found.strip():
            return found
    blocks = getattr(message, "thinking_blocks", None) or []
    return _joined(*(block.get("thinking") for block in blocks if isinstance(block, dict)))


def _joined(*parts: str | None) -> str | None:
    return "\n\n".join(part.strip() for part in parts if part and part.strip()) or None


def _text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(_text_blocks(content))


def _text_blocks(content: Iterable[Any]) -> Iterable[str]:
    for block in content:
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            yield block["text"]


def _count(holder: Any, name: str) -> int:
    value = getattr(holder, name, None)
    return value if isinstance(value, int) and value > 0 else 0
