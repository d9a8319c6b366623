"""A language model behind LiteLLM: any of its providers, or an OpenAI-compatible server."""

from __future__ import annotations

import functools
import importlib.metadata
import ipaddress
import threading
import time
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from model_client.errors import ModelRefused
from model_client.failures import Callee, Failure, broken_reply, classify, one_line
from model_client.litellm_library import load_litellm
from model_client.replies import read_reply, refusal_of
from model_client.retrying import RetryPolicy, call_with_retries
from model_client.routing import Route, find_route

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_client.profile import ModelProfile
    from model_client.types import Message, ModelReply

_CONNECT_SECONDS = 10.0


class LiteLLMClient:
    """One model; calls may be made from several threads at once.

    LiteLLM is imported at the first call or at ``check``, which takes some seconds.
    """

    def __init__(self, profile: ModelProfile, *, retry_policy: RetryPolicy | None = None) -> None:
        """Take the settings; nothing is loaded or called.

        Args:
            profile: the model and its settings.
            retry_policy: waits between tries; by default exponential with ``profile.retries``.
        """
        self._profile = profile
        self._policy = retry_policy or RetryPolicy(retries=profile.retries)
        self._http: Any = None
        self._http_lock = threading.Lock()

    def __repr__(self) -> str:
        return f"LiteLLMClient({self.name!r})"

    @property
    def name(self) -> str:
        """How the model is named in traces and reports."""
        return self._profile.name

    @property
    def settings(self) -> dict[str, object]:
        """What the calls are made with; ``price_source`` None means that cost is unknown."""
        given = self._profile.model_dump(mode="json", exclude_none=True)
        return given | {"price_source": self._price_source(), "litellm": _litellm_version()}

    @property
    def replays_reasoning(self) -> bool:
        """Whether earlier reasoning is sent back with the conversation."""
        return self._profile.replays_reasoning

    def check(self) -> None:
        """Find out, without a call, whether the model can be used.

        Raises:
            ModelSetupError: unknown model, or no key in the environment.
        """
        _ = self._route

    def complete(self, messages: Sequence[Message]) -> ModelReply:
        """Answer a conversation; ``seconds`` of the reply includes waits and failed tries.

        Raises:
            ModelError: one of its subclasses says which kind of failure.
        """
        started = time.monotonic()
        litellm = load_litellm()
        request = self._request(messages)

        def attempt() -> ModelReply | Failure:
            return self._attempt(litellm, request, started)

        return call_with_retries(attempt, self._policy)

    def close(self) -> None:
        """Close kept-alive connections; the client may be used again."""
        with self._http_lock:
            if self._http is not None:
                self._http.client.close()
                self._http = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @functools.cached_property
    def _route(self) -> Route:
        return find_route(self._profile, load_litellm())

    @functools.cached_property
    def _callee(self) -> Callee:
        profile = self._profile
        return Callee(profile.model, profile.api_base, self._route.key_variable, profile.timeout)

    def _attempt(
        self, litellm: Any, request: dict[str, Any], started: float
    ) -> ModelReply | Failure:
        """One try, without retries of LiteLLM's or an SDK's own."""
        try:
            # Deep enough a copy for LiteLLM, which edits the messages in place.
            response = litellm.completion(
                **request | {"messages": [dict(message) for message in request["messages"]]}
            )
        except Exception as error:  # LiteLLM lets through what its providers raise.
            return classify(error, self._callee)
        if not response.choices:
            return broken_reply(self._callee, "no choices")
        if (refusal := refusal_of(response)) is not None:
            return Failure(ModelRefused(f"{self._callee} declined: {one_line(refusal)}"))
        return read_reply(
            response,
            profile=self._profile,
            route=self._route,
            litellm=litellm,
            seconds=time.monotonic() - started,
        )

    def _request(self, messages: Sequence[Message]) -> dict[str, Any]:
        profile, route = self._profile, self._route
        request: dict[str, Any] = {
            "model": route.model,
            "messages": self._wire_messages(messages),
            "timeout": profile.timeout,
            "num_retries": 0,
            "max_retries": 0,
        }
        optional = {
            "temperature": profile.temperature,
            "reasoning_effort": profile.reasoning_effort,
            "max_tokens": profile.max_output_tokens,
            "extra_body": profile.extra_body or None,
        }
        request |= {name: value for name, value in optional.items() if value is not None}
        if profile.api_base is not None:
            request |= {
                "api_base": profile.api_base,
                "api_key": route.key,
                "client": self._http_handler(),
            }
        return request

    def _wire_messages(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        return [self._wire_message(message) for message in messages]

    def _wire_message(self, message: Message) -> dict[str, Any]:
        wire: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.role == "assistant" and message.reasoning and self.replays_reasoning:
            wire["reasoning_content"] = message.reasoning
            if self._profile.api_base is not None:
                # vLLM renamed the field; some versions read the new name only, and drop the
                # other without a word.
                wire["reasoning"] = message.reasoning
        return wire

    def _http_handler(self) -> Any:
        """The connection pool for an own server, shared by all threads."""
        with self._http_lock:
            if self._http is None:
                self._http = _own_server_pool(self._profile)
            return self._http

    def _price_source(self) -> str | None:
        if self._profile.has_prices:
            return "profile"
        return None if self._profile.api_base else f"LiteLLM {_litellm_version()}"


def _own_server_pool(profile: ModelProfile) -> Any:
    """LiteLLM's HTTP handler over a pool of our own.

    Redirects are not followed, and a proxy named in the environment is not asked for a server on
    this machine.
    """
    import httpx
    from litellm.llms.custom_httpx.http_handler import HTTPHandler

    pool = httpx.Client(
        timeout=httpx.Timeout(profile.timeout, connect=min(_CONNECT_SECONDS, profile.timeout)),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
        follow_redirects=False,
        trust_env=not _is_loopback(profile.api_base or ""),
    )
    return HTTPHandler(client=pool)


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@functools.cache
def _litellm_version() -> str:
    return importlib.metadata.version("litellm")
