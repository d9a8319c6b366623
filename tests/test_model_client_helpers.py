"""Helper calls: what the helper is given and what becomes of its reply."""

from __future__ import annotations

from typing import Any

import pytest

from model_client.helpers import HELPER_INSTRUCTION, run_subcall
from model_client.opening import open_model
from model_client.types import Usage
from tests.support.model_servers import Reply, ScriptedServer

TEXT = "Ada Lovelace was born in London."
INSTRUCTION = "Name the city."


def subcall(reply: Reply) -> Any:
    with ScriptedServer([reply]) as server, open_model("m", api_base=server.url) as model:
        result = run_subcall(model, TEXT, INSTRUCTION)
    assert (result.text, result.instruction) == (TEXT, INSTRUCTION)
    assert result.seconds > 0
    return result


def test_the_helper_gets_the_instruction_and_the_text_and_nothing_else() -> None:
    with ScriptedServer(["London"] * 2) as server, open_model("m", api_base=server.url) as model:
        for _ in range(2):
            assert run_subcall(model, TEXT, INSTRUCTION).reply == "London"
    first, second = server.requests
    system, user = first.messages
    assert system == {"role": "system", "content": HELPER_INSTRUCTION}
    assert user["role"] == "user"
    assert INSTRUCTION in user["content"]
    assert TEXT in user["content"]
    assert second.body == first.body  # No history.


def test_usage_is_the_calls_own() -> None:
    usage = {"prompt_tokens": 50, "completion_tokens": 2, "total_tokens": 52}
    result = subcall({"content": "London", "usage": usage, "reasoning": "Born in."})
    assert result.reply == "London"
    assert result.error is None
    assert result.usage == Usage(input=50, output=2)
    assert result.cost is None


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ({"status": 400, "error": "no"}, "refused the request (400): no"),
        ({"content": None}, "the helper's reply was empty"),
        ({"content": " \n"}, "the helper's reply was empty"),
        ({"content": "<think>London?</think>"}, "the helper's reply was empty"),
        ({"content": "Lon", "finish_reason": "length"}, "cut at its length limit"),
        ({"content": "", "finish_reason": "content_filter"}, "declined"),
    ],
)
def test_a_failure_is_an_error_and_never_text(reply: Reply, error: str) -> None:
    """B21: error strings were taken for answers."""
    result = subcall(reply)
    assert result.reply is None
    assert error in str(result.error)


def test_a_failed_reply_is_still_paid_for() -> None:
    usage = {"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 59}
    result = subcall({"content": "Lon", "finish_reason": "length", "usage": usage})
    assert result.usage == Usage(input=50, output=9)
