"""The scripted model server of the tests does what its tests rely on."""

from __future__ import annotations

import time

import httpx
import pytest

from tests.support.model_servers import ScriptedServer

ASK = {"model": "m", "messages": [{"role": "user", "content": "one two"}]}


def test_it_lists_its_model_and_knows_no_other_path() -> None:
    with ScriptedServer([], model="small") as server, httpx.Client(trust_env=False) as http:
        assert http.get(f"{server.url}/models").json()["data"][0]["id"] == "small"
        assert http.get(f"{server.url}/other").status_code == 404
        assert http.post(f"{server.url}/embeddings", json={}).status_code == 404
        assert server.requests == []


def test_it_records_what_came_in_and_counts_words_as_tokens() -> None:
    with ScriptedServer(["a b c"]) as server, httpx.Client(trust_env=False) as http:
        answer = http.post(f"{server.url}/chat/completions", json=ASK, headers={"X-Tag": "t"})
    assert answer.json()["choices"][0]["message"] == {"role": "assistant", "content": "a b c"}
    usage = {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}
    assert answer.json()["usage"] == usage
    assert server.requests[0].body == ASK
    assert server.requests[0].headers["x-tag"] == "t"


def test_a_request_beyond_the_script_fails_the_test() -> None:
    with (
        pytest.raises(AssertionError, match="1 more requests than the script has replies"),
        ScriptedServer(["only"]) as server,
        httpx.Client(trust_env=False) as http,
    ):
        codes = [http.post(f"{server.url}/chat/completions", json=ASK) for _ in range(2)]
        assert [code.status_code for code in codes] == [200, 400]


def test_a_kept_alive_connection_is_not_stalled() -> None:
    """A server that writes twice without TCP_NODELAY costs 44 ms a call (field notes E2)."""
    with ScriptedServer(lambda request: "x") as server, httpx.Client(trust_env=False) as http:
        http.post(f"{server.url}/chat/completions", json=ASK)
        started = time.monotonic()
        for _ in range(50):
            http.post(f"{server.url}/chat/completions", json=ASK)
        assert (time.monotonic() - started) / 50 < 0.03
