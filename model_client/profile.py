"""How a model is called and what it costs: the settings of one model, without its key."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

OWN_SERVER_KEY_VARIABLE = "HOSTED_VLLM_API_KEY"
"""Where the key of an own server is looked for unless the profile names another variable."""


def _api_base(url: str) -> str:
    """Check and tidy the address of an OpenAI-compatible server."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"not an http(s) address: {url!r}")
    if parts.username or parts.password or parts.query or parts.fragment:
        # Not repeated here: what stands there may be a key.
        raise ValueError(
            "the address may hold no user, password or query; keys come from the environment"
        )
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return f"{parts.scheme}://{parts.netloc}{path or '/v1'}"


class ModelProfile(BaseModel):
    """The settings of one model. Prices are US dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    """How the model is named in traces and reports."""
    model: str = Field(min_length=1)
    """The model's LiteLLM name, or with ``api_base`` the name under which that server knows it."""
    api_base: Annotated[str, AfterValidator(_api_base)] | None = None
    """Address of an OpenAI-compatible server; one without a path gets ``/v1``."""
    key_variable: str | None = None
    """Environment variable with the key for ``api_base``; None means HOSTED_VLLM_API_KEY."""
    temperature: float | None = Field(default=None, ge=0)
    """Sampling temperature; None leaves it to the provider."""
    reasoning_effort: str | None = None
    """How much the model thinks (``low``, ``medium``, ...); None leaves it to the provider."""
    max_output_tokens: int | None = Field(default=None, gt=0)
    """Most tokens of one reply, reasoning included; None leaves it to the provider."""
    input_price: float | None = Field(default=None, ge=0)
    """Price of input tokens; None means LiteLLM's price, where it has one."""
    cached_input_price: float | None = Field(default=None, ge=0)
    """Price of input tokens read from the provider's cache; None means ``input_price``."""
    output_price: float | None = Field(default=None, ge=0)
    """Price of output tokens, reasoning included."""
    prices_dated: date | None = None
    """The day on which these prices were true."""
    replays_reasoning: bool = False
    """Whether earlier reasoning is sent back with the conversation."""
    timeout: float = Field(default=600.0, gt=0)
    """Seconds that one try may take."""
    retries: int = Field(default=5, ge=0)
    """Further tries after a rate limit, a time-out or a failure of the server."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """More fields of the request's JSON, such as ``chat_template_kwargs``."""

    @model_validator(mode="after")
    def _check_prices(self) -> Self:
        given = (self.input_price is not None, self.output_price is not None)
        if given[0] != given[1]:
            raise ValueError("input_price and output_price go together")
        if self.cached_input_price is not None and not given[0]:
            raise ValueError("cached_input_price needs input_price and output_price")
        if given[0] and self.prices_dated is None:
            raise ValueError("prices need a date: set prices_dated")
        return self

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        if {key.lower() for key in self.extra_body} & {"api_key", "authorization"}:
            raise ValueError("extra_body may hold no key; keys come from the environment")
        if self.key_variable is not None and self.api_base is None:
            raise ValueError("key_variable goes with api_base")
        if self.key_variable == "OPENAI_API_KEY" and not self._is_openai_host():
            raise ValueError("OPENAI_API_KEY is sent to api.openai.com only")
        return self

    def _is_openai_host(self) -> bool:
        host = urlsplit(self.api_base or "").hostname or ""
        return host == "openai.com" or host.endswith(".openai.com")

    @property
    def has_prices(self) -> bool:
        """Whether the profile says what tokens cost."""
        return self.input_price is not None
