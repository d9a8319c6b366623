"""Whole runs from the command line: real kernels, real HTTP, real graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from model_client.local_server import LocalServer
from questions.demo import demo_questions
from tests.support.cli import run_cli
from tests.support.loop_runs import block
from tests.support.model_servers import ScriptedServer
from traces.reading import read_trace
from traces.recorder import TRACE_FILE
from traces.records import Trace


def ask(cwd: Path, *arguments: str, code: int = 0) -> tuple[dict[str, Any], Trace]:
    """Run ``ask --json``; gives the outcome and the trace that was left behind."""
    done = run_cli("ask", *arguments, "--out", "run", "--json", cwd=cwd)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout), read_trace(cwd / "run")


@pytest.mark.parametrize("number", range(1, len(demo_questions()) + 1))
def test_each_bundled_question_is_answered_without_key_or_network(
    tmp_path: Path, number: int
) -> None:
    outcome, trace = ask(tmp_path, "--demo", "--pick", str(number))
    assert outcome["correct"] is True
    assert outcome["statements"], "an answer rests on statements"
    assert all(statement["statement"] for statement in outcome["statements"])
    assert trace.stop_reason == "answered"
    assert trace.model_dump()["header"]["model"]["name"] == "reference"
    assert trace.judgement is not None


def test_the_demo_shows_turns_answer_statements_and_the_path_of_the_trace(tmp_path: Path) -> None:
    done = run_cli("ask", "--demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    question = demo_questions()[0]
    assert question.text in " ".join(done.stdout.split())
    assert "turn 1" in done.stdout
    assert "Answer: " in done.stdout
    assert "It rests on these statements" in done.stdout
    path = done.stdout.rsplit("Trace:", 1)[1].strip()
    assert (tmp_path / path).is_file()


def test_a_scripted_model_over_http_answers_a_persons_own_question(tmp_path: Path) -> None:
    replies = [
        {
            "content": block('hits = search_entity("Max Born")["matches"]\nhits[0]["id"]'),
            "reasoning_content": "I should look for Max Born first.",
        },
        block(
            'born = hits[0]["id"]\n'
            'deaths = [e for e in edges(born, direction="out")["edges"] '
            'if e["property_label"] == "place of death"]\nprint(deaths)'
        ),
        block('FINAL(deaths[0]["entity"])'),
    ]
    with ScriptedServer(replies) as server:
        outcome, trace = ask(
            tmp_path,
            "Where did Max Born die?",
            "--answer",
            "identity",
            "--model",
            "scripted",
            "--api-base",
            server.url,
        )
        sent = server.requests
    assert outcome["answer"] == {"kind": "identity", "id": "Q3033"}
    assert outcome["text"] == "Göttingen (Q3033)"
    assert outcome["complete_chain"] is True
    assert outcome["totals"]["cost"] is None, "nobody knows this model's price"
    assert trace.turns[0].reasoning == "I should look for Max Born first."
    assert [message["role"] for message in sent[1].messages] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert "Q58978" in sent[1].messages[-1]["content"]


def test_helper_calls_go_over_http_too(tmp_path: Path) -> None:
    def reply(request: dict[str, Any]) -> str:
        if "Question:" not in json.dumps(request["messages"]):
            return "yes"
        return block('FINAL(", ".join(llm_map(["a", "b", "c"], "is it a letter?")))')

    with ScriptedServer(reply) as server:
        outcome, trace = ask(tmp_path, "Letters?", "--model", "scripted", "--api-base", server.url)
    assert outcome["answer"] == {"kind": "text", "text": "yes, yes, yes"}
    assert len(trace.turns[0].sub_calls) == 3
    assert trace.totals().sub_usage.input > 0


def test_without_an_answer_the_exit_code_is_3_and_the_trace_is_there(tmp_path: Path) -> None:
    with ScriptedServer(["I do not know.", "", "Sorry."]) as server:
        outcome, trace = ask(
            tmp_path, "Who?", "--model", "scripted", "--api-base", server.url, code=3
        )
    assert (outcome["answer"], outcome["stop_reason"]) == (None, "no_code")
    assert len(trace.turns) == 3


def test_a_model_server_that_breaks_in_mid_run_leaves_a_valid_trace(tmp_path: Path) -> None:
    replies = [block("x = 1"), {"status": 404, "error": "no such model"}]
    with ScriptedServer(replies) as server:
        outcome, trace = ask(
            tmp_path, "Who?", "--model", "scripted", "--api-base", server.url, code=3
        )
    assert outcome["stop_reason"] == "model_error"
    assert len(trace.turns) == 1
    assert (tmp_path / "run" / TRACE_FILE).is_file()


def test_the_real_small_model_plays_five_turns_or_ends_with_a_named_reason(
    tmp_path: Path, local_model_server: LocalServer
) -> None:
    done = run_cli(
        "ask", "Where did Max Born die?", "--answer", "identity", "--turns", "5",
        "--model", "smollm2", "--api-base", local_model_server.api_base,
        "--max-output-tokens", "200", "--out", "run", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode in {0, 3}, done.stderr
    trace = read_trace(tmp_path / "run")
    assert trace.stop_reason in {
        "answered", "turn_limit", "no_code", "empty_reply", "context_overflow",
    }  # fmt: skip
    assert trace.turns or trace.stop_reason == "context_overflow"
    assert trace.stop_reason != "turn_limit" or len(trace.turns) == 5
    assert not trace.infrastructure_error


@pytest.mark.slow
def test_a_two_hop_answer_is_found_on_the_slice(tmp_path: Path, slice_graph: Path) -> None:
    """Two links and a check on the way, played by a scripted model over HTTP."""
    replies = [
        block('adams = search_entity("Douglas Adams")["matches"][0]["id"]\n'
              'college = [s["value"] for s in claims(adams)["statements"]\n'
              '           if s["property_label"] == "educated at"]\nprint(college)'),
        block('links = edges([c["id"] for c in college], direction="out")\n'
              'whole = [e for page in links.values() for e in page.get("edges", [])\n'
              '         if e["property_label"] == "part of"]\nprint(whole)'),
        block('FINAL(whole[0]["entity"])'),
    ]  # fmt: skip
    with ScriptedServer(replies) as server:
        outcome, trace = ask(
            tmp_path, "Which university does the college of Douglas Adams belong to?",
            "--answer", "identity", "--graph", str(slice_graph),
            "--model", "scripted", "--api-base", server.url,
        )  # fmt: skip
    assert outcome["answer"] == {"kind": "identity", "id": "Q35794"}, trace.turns
    assert outcome["complete_chain"] is True
    assert trace.totals().graph_calls >= 3
