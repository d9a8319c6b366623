"""Which failures are tried again, how often, and what they are called, over real HTTP."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import pytest

from model_client.errors import (
    ContextOverflow,
    ModelError,
    ModelRefused,
    ModelRequestRefused,
    ModelSetupError,
    ModelUnavailable,
)
from model_client.failures import Failure, Retry, provider_detail, retry_after
from model_client.litellm_client import LiteLLMClient
from model_client.profile import ModelProfile
from model_client.retrying import RetryPolicy, call_with_retries, wait_before_retry
from model_client.types import Message
from tests.support.model_servers import Reply, ScriptedServer

QUESTION = [Message(role="user", content="Who?")]
SOON = RetryPolicy(retries=2, first_wait=0.01, quick_wait=0.01)
RETRIED = [408, 409, 429, 500, 502, 503, 504, 529]
AT_ONCE = [400, 401, 402, 403, 404, 413, 422]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "HOSTED_VLLM_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def client_at(url: str, policy: RetryPolicy = SOON, **settings: Any) -> LiteLLMClient:
    values = {"name": "m", "model": "Qwen/Q", "api_base": url} | settings
    return LiteLLMClient(ModelProfile.model_validate(values), retry_policy=policy)


def failure_of(*replies: Reply, **settings: Any) -> tuple[ModelError, int]:
    """The error that a script brings about, and how many requests it took."""
    with ScriptedServer(list(replies)) as server, client_at(server.url, **settings) as client:
        with pytest.raises(ModelError) as raised:
            client.complete(QUESTION)
        assert "\n" not in str(raised.value)
        return raised.value, len(server.requests)


@pytest.mark.parametrize("status", RETRIED)
def test_tried_again_until_it_works(status: int) -> None:
    script: list[Reply] = [{"status": status}, {"status": status}, "Alice."]
    with ScriptedServer(script) as server:
        assert client_at(server.url).complete(QUESTION).text == "Alice."
    assert len(server.requests) == 3
    assert server.requests[0].body == server.requests[2].body


@pytest.mark.parametrize("status", RETRIED)
def test_given_up_after_the_retries_and_no_sooner(status: int) -> None:
    """B36: one retry layer; LiteLLM and the SDK add none."""
    script = [{"status": status, "error": "busy"}] * 3
    error, requests = failure_of(*script)
    assert (type(error), requests) == (ModelUnavailable, 3)
    assert f"({status}): busy (tried 3 times)" in str(error)


@pytest.mark.parametrize("status", AT_ONCE)
def test_failed_at_once(status: int) -> None:
    """B36: no retry storm on what no retry can mend."""
    error, requests = failure_of({"status": status, "error": "no"})
    assert (type(error), requests) == (ModelRequestRefused, 1)
    assert f"({status})" in str(error)
    assert ("HOSTED_VLLM_API_KEY" in str(error)) is (status in (401, 403))


def test_a_public_provider_is_retried_by_one_layer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests-only")
    with ScriptedServer([{"status": 500}] * 3 + [{"status": 404, "error": "gone"}]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        profile = ModelProfile(name="luna", model="openai/gpt-6-luna")
        client = LiteLLMClient(profile, retry_policy=SOON)
        with pytest.raises(ModelUnavailable, match="tried 3 times"):
            client.complete(QUESTION)
        assert len(server.requests) == 3
        with pytest.raises(ModelRequestRefused, match=r"not found \(404\): gone$"):
            client.complete(QUESTION)


def test_retry_after_is_waited_for() -> None:
    script: list[Reply] = [{"status": 429, "headers": {"Retry-After": "0.4"}}, "Alice."]
    with ScriptedServer(script) as server:
        client_at(server.url).complete(QUESTION)
    first, second = (request.at for request in server.requests)
    assert 0.4 <= second - first < 2


def test_too_long_a_retry_after_is_not_waited_for() -> None:
    hasty = RetryPolicy(retries=1, first_wait=0.01, longest_retry_after=0.5)
    script: list[Reply] = [{"status": 429, "headers": {"Retry-After": "1"}}, "Alice."]
    with ScriptedServer(script) as server:
        with pytest.raises(ModelUnavailable, match="rate-limited"):
            client_at(server.url, hasty).complete(QUESTION)
        assert len(server.requests) == 1


def test_an_exhausted_quota_is_not_a_rate_limit() -> None:
    body = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    error, requests = failure_of({"status": 429, "body": body})
    assert (type(error), requests) == (ModelRequestRefused, 1)


def test_no_server_is_told_soon_and_with_its_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # Bound but not listening: connections are refused.
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        started = time.monotonic()
        with pytest.raises(ModelUnavailable) as raised:
            client_at(url, RetryPolicy()).complete(QUESTION)
    assert str(raised.value) == (
        f"no model server answers at {url}: Connection refused (tried 3 times)"
    )
    assert time.monotonic() - started < 8


def test_a_time_out_is_tried_again() -> None:
    script: list[Reply] = [{"content": "late", "delay": 4.0}, "Alice."]
    with ScriptedServer(script) as server:
        assert client_at(server.url, timeout=1.5).complete(QUESTION).text == "Alice."
    error, requests = failure_of(*[{"content": "late", "delay": 0.5}] * 3, timeout=0.1)
    assert (type(error), requests) == (ModelUnavailable, 3)
    assert "gave no answer within 0.1 s" in str(error)


def test_a_connection_that_breaks_is_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        policy = RetryPolicy(retries=0)
        client = client_at(url, policy)
        client.check()

        def hang_up() -> None:
            connection, _ = listener.accept()
            connection.recv(65536)
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(ModelUnavailable, match="broke the connection off"):
            client.complete(QUESTION)
        thread.join()


@pytest.mark.parametrize(
    "error",
    [
        # OpenAI
        {
            "message": "This model's maximum context length is 4096 tokens. However, your "
            "messages resulted in 5000 tokens.",
            "code": "context_length_exceeded",
        },
        # vLLM, older and newer
        {
            "message": "This model's maximum context length is 4096 tokens. However, you "
            "requested 5000 tokens (4000 in the messages, 1000 in the completion).",
            "type": "BadRequestError",
        },
        {"message": "The decoder prompt (length 5000) is longer than the maximum model length"},
        {
            "message": "'max_tokens' is too large: 8192. This model's maximum context length is "
            "4096 tokens and your request has 1000 input tokens",
        },
        # llama.cpp
        {
            "code": 400,
            "message": "request (9031 tokens) exceeds the available context size (8192 tokens), "
            "try increasing it",
            "type": "exceed_context_size_error",
        },
    ],
)
def test_a_conversation_that_is_too_long(error: dict[str, Any]) -> None:
    raised, requests = failure_of({"status": 400, "body": {"error": error}})
    assert (type(raised), requests) == (ContextOverflow, 1)
    assert error["message"][:40] in str(raised)


@pytest.mark.parametrize(
    "reply",
    [
        {"content": "", "finish_reason": "content_filter"},
        {"content": None, "refusal": "I can't help with that."},
        {
            "status": 400,
            "body": {"error": {"code": "content_filter", "message": "The prompt was filtered"}},
        },
    ],
    ids=["filtered reply", "refusal", "filtered prompt"],
)
def test_a_model_that_declines(reply: dict[str, Any]) -> None:
    raised, requests = failure_of(reply)
    assert (type(raised), requests) == (ModelRefused, 1)


@pytest.mark.parametrize("body", ["<html>Bad gateway</html>", {"choices": []}])
def test_a_success_without_an_answer_is_tried_again(body: object) -> None:
    error, requests = failure_of(*[{"body": body}] * 3)
    assert (type(error), requests) == (ModelUnavailable, 3)


def test_a_redirect_is_not_followed() -> None:
    with ScriptedServer(["never"]) as other:
        error, _ = failure_of(
            {"status": 307, "headers": {"Location": f"{other.url}/chat/completions"}}
        )
        assert isinstance(error, ModelRequestRefused)
        assert other.requests == []


def test_settings_that_the_model_does_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests-only")
    with ScriptedServer([]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        profile = ModelProfile(name="4o", model="openai/gpt-4o", reasoning_effort="low")
        with pytest.raises(ModelSetupError, match="reasoning_effort"):
            LiteLLMClient(profile, retry_policy=SOON).complete(QUESTION)


def test_waits_double_up_to_a_limit_and_jitter_halves_them_at_most() -> None:
    policy = RetryPolicy(retries=9, first_wait=1, longest_wait=10)
    failure = Failure(ModelUnavailable("busy"), Retry.WITH_BACKOFF)
    longest = [wait_before_retry(failure, tries, policy, 1.0) for tries in range(1, 11)]
    shortest = [wait_before_retry(failure, tries, policy, 0.0) for tries in range(1, 11)]
    assert longest == [1, 2, 4, 8, 10, 10, 10, 10, 10, None]
    assert shortest == [0.5, 1, 2, 4, 5, 5, 5, 5, 5, None]


def test_retries_zero_is_one_try() -> None:
    waits: list[float] = []

    def attempt() -> str | Failure:
        return Failure(ModelUnavailable("busy"), Retry.WITH_BACKOFF)

    with pytest.raises(ModelUnavailable, match=r"^busy$"):
        call_with_retries(attempt, RetryPolicy(retries=0), sleep=waits.append)
    assert waits == []


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "3"}, 3.0),
        ({"retry-after": "0"}, 0.0),
        ({"Retry-After": "Mon, 30 Nov 2026 20:00:10 GMT"}, 10.0),
        ({"Retry-After": "Mon, 30 Nov 2026 19:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "nan"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
    ],
)
def test_retry_after_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=1796068800.0) == seconds


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("litellm.NotFoundError: NotFoundError: XException - {'a'", "{'a'"),
        (
            'litellm.APIError: APIError: XException - {"error": {"message": "gone\\nfar"}}',
            "gone far",
        ),
        ('{"detail": "no"}', "no"),
        ('{"error": "plain"}', "plain"),
        ("", "no reason given"),
        ("x" * 1000, "x" * 299 + "…"),
    ],
)
def test_what_the_provider_said_in_one_line(text: str, detail: str) -> None:
    assert provider_detail(text) == detail
