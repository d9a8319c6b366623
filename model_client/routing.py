"""Finds LiteLLM's way to a model and the key it needs, before any call and without network."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from model_client.errors import ModelSetupError
from model_client.profile import OWN_SERVER_KEY_VARIABLE, ModelProfile

_PLACEHOLDER_KEY = "none"
_OWN_SERVER = "hosted_vllm"
# LiteLLM's default falls short for these; any other provider's key is PROVIDER_API_KEY.
_KEY_VARIABLES = {
    "gemini": "GEMINI_API_KEY",
    "huggingface": "HF_TOKEN",
    "perplexity": "PERPLEXITYAI_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
}
# One of these is enough where LiteLLM names them all.
_ALTERNATIVES = {"gemini": frozenset({"GOOGLE_API_KEY", "GEMINI_API_KEY"})}


@dataclass(frozen=True)
class Route:
    """How LiteLLM reaches a model."""

    provider: str
    """LiteLLM's name of the provider."""
    model: str
    """The name to call LiteLLM with."""
    key_variable: str
    """The environment variable that holds the key."""
    key: str | None = field(default=None, repr=False)
    """The key for an own server; None lets LiteLLM read the provider's own variable."""


def find_route(profile: ModelProfile, litellm: Any) -> Route:
    """Find the way to a model.

    Raises:
        ModelSetupError: LiteLLM knows no such provider, or its key is not in the environment.
    """
    if profile.api_base is not None:
        return _own_server_route(profile)
    provider = _known_provider(profile.model, litellm)
    key_variable = _key_variable(provider, litellm)
    _require_key(profile.model, provider, key_variable, litellm)
    return Route(provider, profile.model, key_variable)


def key_variable_of_own_server(profile: ModelProfile) -> str:
    """Where the key of a server given by its address comes from."""
    return profile.key_variable or OWN_SERVER_KEY_VARIABLE


def _own_server_route(profile: ModelProfile) -> Route:
    """Any OpenAI-compatible server: LiteLLM's ``hosted_vllm``.

    ``openai/`` would read OPENAI_API_KEY and OPENAI_ORGANIZATION for a foreign host, refuse
    ``reasoning_effort`` for names it does not know, and treat names such as ``gpt-5-...`` or
    ``o1-...`` by the rules of OpenAI's own models. ``hosted_vllm/`` reads none of these variables,
    takes what follows the prefix as the name whatever slashes it holds, passes sampling options
    and ``reasoning_effort`` on, and keeps ``reasoning_content`` of earlier turns.
    """
    variable = key_variable_of_own_server(profile)
    name = profile.model.removeprefix(f"{_OWN_SERVER}/")
    key = os.environ.get(variable, "").strip() or _PLACEHOLDER_KEY
    return Route(_OWN_SERVER, f"{_OWN_SERVER}/{name}", variable, key)


def _known_provider(model: str, litellm: Any) -> str:
    from litellm.constants import PROVIDERS_THAT_AUTHENTICATE_ON_PROVIDER_INFO

    prefix = model.split("/", 1)[0]
    if prefix in PROVIDERS_THAT_AUTHENTICATE_ON_PROVIDER_INFO:
        raise ModelSetupError(
            f"model {model!r} needs a log-in in the browser; choose a provider with an API key"
        )
    if prefix == _OWN_SERVER:
        raise ModelSetupError(f"model {model!r} needs the address of its server: --api-base URL")
    try:
        _, provider, _, _ = litellm.get_llm_provider(model)
    except Exception:  # LiteLLM raises several types here; all mean the same.
        raise ModelSetupError(
            f"unknown model {model!r}: LiteLLM finds no provider by that name "
            "(names look like openai/gpt-6-luna; for your own server give --api-base URL)"
        ) from None
    return str(provider)


def _key_variable(provider: str, litellm: Any) -> str:
    from litellm.llms.openai_like.json_loader import JSONProviderRegistry

    listed = JSONProviderRegistry.get(provider)
    if listed is not None:
        return str(listed.api_key_env)
    default = f"{provider.upper().replace('-', '_')}_API_KEY"
    return _KEY_VARIABLES.get(provider, default)


def _require_key(model: str, provider: str, key_variable: str, litellm: Any) -> None:
    missing = _missing_variables(model, provider, litellm)
    if not missing and _would_borrow_openai_key(model, provider, litellm):
        missing = [key_variable]
    if missing:
        word = " or " if set(missing) <= _ALTERNATIVES.get(provider, frozenset()) else " and "
        raise ModelSetupError(f"model {model!r} needs a key: set {word.join(missing)}")


def _missing_variables(model: str, provider: str, litellm: Any) -> list[str]:
    """Key variables that are not set. Cloud log-ins are left to the call: they have other ways."""
    named = litellm.validate_environment(model)["missing_keys"]
    if not any(name.endswith(("_API_KEY", "_API_TOKEN")) for name in named):
        named = []
    variable = _key_variable(provider, litellm)
    if not named and os.environ.get(variable, "unset").strip() == "":
        named = [variable]
    return [name for name in named if not os.environ.get(name, "").strip()]


def _would_borrow_openai_key(model: str, provider: str, litellm: Any) -> bool:
    """Whether LiteLLM, finding no key of the provider's own, would send OPENAI_API_KEY there."""
    from litellm.llms.openai_like.json_loader import JSONProviderRegistry

    if provider == "openai":
        return False
    speaks_openai = provider in litellm.openai_compatible_providers
    if not speaks_openai and not JSONProviderRegistry.exists(provider):
        return False
    _, _, key, _ = litellm.get_llm_provider(model)
    return not key
