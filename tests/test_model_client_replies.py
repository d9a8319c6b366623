"""What is sent to a model server and what is read from its replies, over real HTTP."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from model_client.litellm_client import LiteLLMClient
from model_client.profile import ModelProfile
from model_client.types import Message, ModelReply, Usage
from tests.support.model_servers import Reply, ScriptedServer

QUESTION = [Message(role="system", content="Be brief."), Message(role="user", content="Who?")]
PRICES = {"input_price": 2.0, "output_price": 10.0, "prices_dated": "2026-11-01"}
USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 200,
    "total_tokens": 1200,
    "prompt_tokens_details": {"cached_tokens": 600},
    "completion_tokens_details": {"reasoning_tokens": 150},
}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "HOSTED_VLLM_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def client_of(server: ScriptedServer, **settings: Any) -> LiteLLMClient:
    values = {"name": "m", "model": "Qwen/Qwen3.8-27B", "api_base": server.url} | settings
    return LiteLLMClient(ModelProfile.model_validate(values))


def reply_to(reply: Reply, **settings: Any) -> ModelReply:
    with ScriptedServer([reply]) as server, client_of(server, **settings) as client:
        return client.complete(QUESTION)


def test_a_plain_reply() -> None:
    with ScriptedServer(["Alice."], model="Qwen/Qwen3.8-27B") as server:
        reply = client_of(server).complete(QUESTION)
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Alice.", None, "stop")
    assert reply.model == "Qwen/Qwen3.8-27B"
    assert reply.seconds > 0


def test_the_request_holds_the_settings_and_nothing_else() -> None:
    with ScriptedServer(["x", "x"]) as server:
        client_of(server).complete(QUESTION)
        client_of(
            server,
            temperature=0.0,
            reasoning_effort="low",
            max_output_tokens=8192,
            extra_body={"chat_template_kwargs": {"enable_thinking": True}},
        ).complete(QUESTION)
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Who?"},
    ]
    bare, full = (request.body for request in server.requests)
    assert bare == {"model": "Qwen/Qwen3.8-27B", "messages": messages}
    assert full == bare | {
        "temperature": 0.0,
        "reasoning_effort": "low",
        "max_tokens": 8192,
        "chat_template_kwargs": {"enable_thinking": True},
    }


@pytest.mark.parametrize(
    "name", ["openai/gpt-oss-120b", "gpt-5-own", "o1-own", "anthropic/x", "hosted_vllm/Qwen/Q", "m"]
)
def test_names_are_sent_as_the_server_knows_them(name: str) -> None:
    with ScriptedServer(["x"]) as server:
        client_of(server, model=name, temperature=0.7, reasoning_effort="low").complete(QUESTION)
    body = server.requests[0].body
    assert body["model"] == name.removeprefix("hosted_vllm/")
    assert (body["temperature"], body["reasoning_effort"]) == (0.7, "low")


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning": "I thought."},
        {"reasoning_content": "I thought."},
        {"reasoning": "I thought.", "reasoning_content": "I thought."},
        {"thinking_blocks": [{"type": "thinking", "thinking": "I thought."}]},
    ],
    ids=lambda fields: "+".join(fields),
)
def test_reasoning_is_read_under_every_name(fields: dict[str, Any]) -> None:
    """B24: vLLM renamed the field, and clients silently got nothing."""
    reply = reply_to({"content": "Alice."} | fields)
    assert (reply.text, reply.reasoning) == ("Alice.", "I thought.")


def test_thoughts_inside_the_content_are_split_off() -> None:
    reply = reply_to("<think>\nHm.\n</think>\n\nAlice.")
    assert (reply.text, reply.reasoning) == ("Alice.", "Hm.")


def test_thoughts_beside_and_inside_the_content_are_both_kept() -> None:
    reply = reply_to({"content": "\n<think>Then b.</think>Alice.", "reasoning": "First a."})
    assert (reply.text, reply.reasoning) == ("Alice.", "First a.\n\nThen b.")


@pytest.mark.parametrize("content", [None, ""])
def test_no_content_is_an_empty_text(content: str | None) -> None:
    """B18: ``content: null`` crashed loops, or ended them as if answered."""
    reply = reply_to({"content": content, "reasoning": "Long thoughts."})
    assert (reply.text, reply.reasoning) == ("", "Long thoughts.")


def test_a_reply_cut_by_its_length_says_so() -> None:
    reply = reply_to({"content": "<think>so far", "finish_reason": "length"})
    assert (reply.finish_reason, reply.text, reply.reasoning) == ("length", "", "so far")


def test_cached_and_reasoning_tokens_are_kept_apart() -> None:
    reply = reply_to({"content": "x", "usage": USAGE})
    assert reply.usage == Usage(input=1000, output=200, cached=600, reasoning=150)


def test_an_own_server_has_no_price_even_under_a_famous_name() -> None:
    """B33: unknown is None, never 0 and never someone else's price."""
    assert reply_to({"content": "x", "usage": USAGE}).cost is None
    assert reply_to({"content": "x", "usage": USAGE}, model="gpt-6-luna").cost is None


def test_the_profile_prices_count_cached_tokens_apart() -> None:
    reply = {"content": "x", "usage": USAGE}
    cached = reply_to(reply, **PRICES, cached_input_price=0.5)
    assert cached.cost == pytest.approx((400 * 2.0 + 600 * 0.5 + 200 * 10.0) / 1e6)
    uncached = reply_to(reply, **PRICES)
    assert uncached.cost == pytest.approx((1000 * 2.0 + 200 * 10.0) / 1e6)


def test_a_price_of_zero_in_the_profile_is_a_price() -> None:
    free = PRICES | {"input_price": 0.0, "output_price": 0.0}
    assert reply_to({"content": "x", "usage": USAGE}, **free).cost == 0.0


def test_without_token_counts_the_cost_is_unknown() -> None:
    reply = reply_to({"content": "x", "usage": None}, **PRICES)
    assert (reply.usage, reply.cost) == (Usage(), None)


def test_a_model_with_a_public_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices come from the list inside LiteLLM: $0.10 in, $0.50 out per million (B33)."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests-only")
    usage = {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200}
    with ScriptedServer([{"content": "x", "usage": usage, "model": "gpt-6-luna"}]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        client = LiteLLMClient(ModelProfile(name="luna", model="openai/gpt-6-luna"))
        reply = client.complete(QUESTION)
    assert reply.cost == pytest.approx((1000 * 0.10 + 200 * 0.50) / 1e6)
    assert str(client.settings["price_source"]).startswith("LiteLLM 1.")


def test_an_unpriced_model_of_a_public_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests-only")
    with ScriptedServer([{"content": "x", "usage": USAGE, "model": "gpt-unheard-of"}]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        client = LiteLLMClient(ModelProfile(name="u", model="openai/gpt-unheard-of"))
        assert client.complete(QUESTION).cost is None


@pytest.mark.parametrize("replays", [True, False])
def test_reasoning_goes_back_only_where_the_profile_says_so(replays: bool) -> None:
    """B25: what is sent on turn 2."""
    with ScriptedServer([{"content": "2", "reasoning": "1+1"}, "4"]) as server:
        client = client_of(server, replays_reasoning=replays)
        first = client.complete(QUESTION)
        said = Message(role="assistant", content=first.text, reasoning=first.reasoning)
        again = Message(role="user", content="And twice that?")
        client.complete([*QUESTION, said, again])
    assistant = server.requests[1].messages[2]
    plain = {"role": "assistant", "content": "2"}
    # Both names: some versions of vLLM read only the new one and drop the other.
    replayed = plain | {"reasoning_content": "1+1", "reasoning": "1+1"}
    assert assistant == (replayed if replays else plain)
    assert server.requests[1].messages[:2] == server.requests[0].messages
    assert client.settings["replays_reasoning"] is replays


def test_a_public_provider_gets_reasoning_content_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-for-tests-only")
    said = Message(role="assistant", content="2", reasoning="1+1")
    with ScriptedServer(["x"]) as server:
        monkeypatch.setenv("DEEPSEEK_API_BASE", server.url)
        profile = ModelProfile(name="d", model="deepseek/deepseek-chat", replays_reasoning=True)
        LiteLLMClient(profile).complete([*QUESTION, said, QUESTION[1]])
    assistant = server.requests[0].messages[2]
    assert assistant == {"role": "assistant", "content": "2", "reasoning_content": "1+1"}


def test_eight_threads_get_their_own_reply_and_usage() -> None:
    """B23: usage is read from each response, not from the last call."""
    threads, calls = 8, 40
    meeting = threading.Barrier(threads, timeout=20)

    def answer(request: dict[str, Any]) -> Reply:
        number = int(request["messages"][-1]["content"])
        if number < threads:
            meeting.wait()  # The first calls are all under way at once.
        usage = {"prompt_tokens": 100 + number, "completion_tokens": number + 1}
        return {"content": f"reply {number}", "usage": usage | {"total_tokens": 101 + 2 * number}}

    with ScriptedServer(answer) as server, client_of(server, **PRICES) as client:

        def ask(number: int) -> ModelReply:
            return client.complete([Message(role="user", content=str(number))])

        with ThreadPoolExecutor(threads) as pool:
            replies = list(pool.map(ask, range(calls)))
    for number, reply in enumerate(replies):
        assert reply.text == f"reply {number}"
        assert reply.usage == Usage(input=100 + number, output=number + 1)
        assert reply.cost == pytest.approx(((100 + number) * 2 + (number + 1) * 10) / 1e6)


def test_the_client_can_be_used_again_after_close() -> None:
    with ScriptedServer(["a", "b"]) as server:
        client = client_of(server)
        client.complete(QUESTION)
        client.close()
        assert client.complete(QUESTION).text == "b"


def test_a_server_on_this_machine_is_reached_past_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert reply_to("Alice.").text == "Alice."
