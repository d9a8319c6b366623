"""From what the user wrote to a model that can be called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from pydantic import ValidationError

from model_client.errors import ModelSetupError
from model_client.litellm_client import LiteLLMClient
from model_client.local_server import LocalServer, bundled_gguf, check_gguf
from model_client.profile import ModelProfile
from model_client.types import Message, ModelClient, ModelReply

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOCAL = "local"
_LOCAL_OUTPUT_TOKENS = 512
"""A small model may ramble on to the end of its context."""


class OpenModel(ModelClient, Protocol):
    """A model with connections or a server behind it; ``close`` or ``with`` releases them."""

    def close(self) -> None:
        """Release what is behind the model."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class LocalModel:
    """A model together with the server that was started for it."""

    def __init__(self, client: LiteLLMClient, server: LocalServer) -> None:
        self._client = client
        self._server = server

    @property
    def name(self) -> str:
        """How the model is named in traces and reports."""
        return self._client.name

    @property
    def settings(self) -> dict[str, object]:
        """What the calls are made with, and the model's file."""
        return self._client.settings | {"gguf": self._server.gguf.name}

    @property
    def replays_reasoning(self) -> bool:
        """Whether earlier reasoning is sent back with the conversation."""
        return self._client.replays_reasoning

    def complete(self, messages: Sequence[Message]) -> ModelReply:
        """Answer a conversation."""
        return self._client.complete(messages)

    def close(self) -> None:
        """Stop the server."""
        self._client.close()
        self._server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_model(
    spec: str,
    *,
    api_base: str | None = None,
    temperature: float | None = None,
    reasoning_effort: str | None = None,
    max_output_tokens: int | None = None,
    timeout: float | None = None,
    retries: int | None = None,
) -> OpenModel:
    """Open a model for calls. None leaves a setting to its default.

    Args:
        spec: a LiteLLM name; with ``api_base`` the name under which that server knows the model;
            ``local`` for the bundled small model or ``local:FILE.gguf`` for another one.
        api_base: address of an OpenAI-compatible server.
        temperature: sampling temperature.
        reasoning_effort: ``low``, ``medium``, ...
        max_output_tokens: most tokens of one reply.
        timeout: seconds that one try may take.
        retries: further tries after a failure of the provider.

    Raises:
        ModelSetupError: in one line, what is wrong with the model, its key or a setting.
    """
    given: dict[str, object] = {
        "temperature": temperature,
        "reasoning_effort": reasoning_effort,
        "max_output_tokens": max_output_tokens,
        "timeout": timeout,
        "retries": retries,
    }
    options = {name: value for name, value in given.items() if value is not None}
    if not spec.strip():
        raise ModelSetupError("the model's name is empty")
    kind, _, argument = spec.partition(":")
    if spec == "reference":
        raise ModelSetupError(
            "model 'reference' follows a question graph: it needs a question that has one"
        )
    if kind == _LOCAL and (argument or spec == _LOCAL):
        if api_base is not None:
            raise ModelSetupError(f"model {spec!r} starts its own server: leave out --api-base")
        return _open_local(Path(argument).expanduser() if argument else bundled_gguf(), options)
    named: dict[str, object] = {"name": spec, "model": spec, "api_base": api_base}
    profile = _profile(named | options)
    client = LiteLLMClient(profile)
    if profile.api_base is None:
        client.check()  # For an own server there is nothing to find out without calling it.
    return client


def _open_local(gguf: Path, options: dict[str, object]) -> LocalModel:
    check_gguf(gguf)
    settings = {"temperature": 0.0, "max_output_tokens": _LOCAL_OUTPUT_TOKENS} | options
    named: dict[str, object] = {"name": f"{_LOCAL}:{gguf.name}", "model": gguf.stem}
    _profile(named | settings)  # A wrong setting is told before a server starts.
    server = LocalServer(gguf)
    server.start()
    profile = _profile(named | {"api_base": server.api_base} | settings)
    return LocalModel(LiteLLMClient(profile), server)


def _profile(settings: dict[str, object]) -> ModelProfile:
    try:
        return ModelProfile.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        reason = str(first["msg"]).removeprefix("Value error, ")
        raise ModelSetupError(f"{where}: {reason}" if where else reason) from None
