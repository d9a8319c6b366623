"""The loop: turns, notices, limits, stop reasons, helper calls, and what the trace keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel.inprocess import InProcessInterpreter
from kernel.interpreter import CellResult, KernelError
from kg_functions.errors import BackendDown
from kg_functions.results import read_results
from model_client.errors import ContextOverflow, ModelRefused, ModelUnavailable
from model_client.types import ModelReply
from questions.answers import CountAnswer, IdentityAnswer, TextAnswer
from questions.formats import CountFormat, TextFormat
from rlm import notices
from tests.support.dict_graph import DictGraph
from tests.support.loop_runs import ScriptedModel, block, play, small_graph
from traces.events import AnswerAccepted, Event
from traces.reading import read_events, read_trace
from traces.recorder import RESULTS_FILE
from traces.records import INFRASTRUCTURE, Limits, Trace

SOLUTION = (
    block('born = search_entity("Max Born")["matches"][0]["id"]\nprint(born)'),
    block('advisor = edges(born, direction="out")["edges"][0]["entity"]\nadvisor'),
    block(
        'deaths = [e for e in edges(advisor)["edges"] if e["property_label"] == "place of death"]'
    ),
    block('FINAL(deaths[0]["entity"])'),
)


def test_a_two_hop_answer_is_found_and_everything_is_kept(tmp_path: Path) -> None:
    model = ScriptedModel(SOLUTION)
    trace = play(tmp_path / "run", model)
    assert trace.answer == IdentityAnswer(id="Q3")
    assert trace.stop_reason == "answered"
    assert [len(turn.graph_calls) for turn in trace.turns] == [1, 1, 1, 0]
    assert trace.turns[0].output.strip() == "Q1"
    assert trace.turns[1].output.strip() == "'Q2'"
    assert trace.header.confinement == "none"
    results = read_results(tmp_path / "run" / RESULTS_FILE)
    assert {c.result for turn in trace.turns for c in turn.graph_calls} == set(results)
    assert read_trace(tmp_path / "run") == trace


def test_the_prompt_holds_the_rules_the_functions_the_limits_and_no_gold(tmp_path: Path) -> None:
    model = ScriptedModel(SOLUTION)
    play(tmp_path / "run", model, limits=Limits(turns=7, sub_calls=3, graph_calls=50))
    system = model.sent[0][0].content
    assert 'edges(entity, direction="both", property=None, limit=100, offset=0)' in system
    assert "7 turns, 3 helper calls, 50 graph calls" in system
    assert "llm_map" in system
    assert model.sent[0][1].content == "Question: Where did the doctoral advisor of Max Born die?"


def test_the_conversation_only_grows(tmp_path: Path) -> None:
    """A provider's prefix cache needs every prompt to begin with the one before."""
    model = ScriptedModel(SOLUTION)
    play(tmp_path / "run", model)
    for earlier, later in zip(model.sent, model.sent[1:], strict=False):
        assert later[: len(earlier)] == earlier
        assert [message.role for message in later[len(earlier) :]] == ["assistant", "user"]


def test_without_sub_calls_the_helpers_are_neither_shown_nor_there(tmp_path: Path) -> None:
    model = ScriptedModel((block("llm_query('a', 'b')"), *SOLUTION))
    trace = play(tmp_path / "run", model, limits=Limits(sub_calls=0))
    assert "llm_query" not in model.sent[0][0].content
    assert trace.turns[0].error is not None
    assert "NameError" in trace.turns[0].error


def test_b1_final_in_words_strings_and_comments_does_not_end_the_run(tmp_path: Path) -> None:
    model = ScriptedModel(
        (
            "The answer is FINAL('Q3').",
            block("# FINAL('Q3')\ntext = \"FINAL('Q3')\"\ntext"),
            *SOLUTION,
        )
    )
    trace = play(tmp_path / "run", model)
    assert len(trace.turns) == 6
    assert trace.turns[0].code is None


def test_b2_only_the_first_block_runs_and_the_model_is_told(tmp_path: Path) -> None:
    two = block("print('one')") + "\n\nand\n" + block("FINAL('Q3')")
    model = ScriptedModel((two, *SOLUTION))
    trace = play(tmp_path / "run", model)
    assert trace.turns[0].output.strip() == "one"
    assert notices.MORE_BLOCKS in trace.turns[0].shown
    assert len(trace.turns) == 5


def test_a_refused_answer_says_why_and_the_run_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel((block("FINAL('Göttingen')"), *SOLUTION))
    trace = play(tmp_path / "run", model)
    assert "AnswerRefused" in trace.turns[0].output
    assert trace.answer == IdentityAnswer(id="Q3")


def test_the_first_accepted_answer_is_the_answer(tmp_path: Path) -> None:
    model = ScriptedModel((block("FINAL('one')\nFINAL('two')"),))
    trace = play(tmp_path / "run", model, answer_format=TextFormat())
    assert trace.answer == TextAnswer(text="one")
    accepted = [e for e in read_events(tmp_path / "run") if isinstance(e, AnswerAccepted)]
    assert len(accepted) == 1


def test_the_guard_refuses_an_id_that_was_never_seen_and_teaches(tmp_path: Path) -> None:
    model = ScriptedModel((block("edges('Q2')"), block("edges('Q' + str(3 - 1))"), *SOLUTION))
    trace = play(tmp_path / "run", model)
    for turn in trace.turns[:2]:
        assert "UnseenIdentifier" in turn.output
        assert "search_entity" in turn.output
        assert turn.graph_calls[0].error is not None
    assert trace.turns[1].graph_calls[0].repeat


def test_an_id_that_only_a_helper_named_stays_refused(tmp_path: Path) -> None:
    model = ScriptedModel(
        (block("print(llm_query('who?', 'name the id'))"), block("edges('Q2')"), *SOLUTION),
        helper=lambda text: "It is Q2.",
    )
    trace = play(tmp_path / "run", model)
    assert "It is Q2." in trace.turns[0].output
    assert "UnseenIdentifier" in trace.turns[1].output


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("", "  ", "\n"), "empty_reply"),
        (("I think so.", "I am sure.", "FINAL('Q3')"), "no_code"),
        (("", "I am sure.", ""), "no_code"),
    ],
)
def test_b18_three_useless_replies_in_a_row_end_the_run(
    tmp_path: Path, lines: tuple[str, ...], reason: str
) -> None:
    trace = play(tmp_path / "run", ScriptedModel(lines))
    assert trace.stop_reason == reason
    assert len(trace.turns) == 3
    assert trace.answer is None
    assert not trace.infrastructure_error


def test_b18_a_block_between_useless_replies_starts_the_count_anew(tmp_path: Path) -> None:
    trace = play(tmp_path / "run", ScriptedModel(("", "no", block("1"), "", "no", *SOLUTION)))
    assert trace.stop_reason == "answered"


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (ModelReply(text="", finish_reason="stop"), notices.EMPTY_REPLY),
        (ModelReply(text="", reasoning="so much", finish_reason="length"), notices.CUT_REPLY),
        (ModelReply(text="Words.", finish_reason="stop"), notices.NO_CODE),
        (ModelReply(text="Words and", finish_reason="length"), notices.CUT_REPLY),
        (ModelReply(text="```python\nx = [1,", finish_reason="length"), notices.CUT_REPLY),
    ],
)
def test_b18_each_useless_reply_has_its_own_notice(
    tmp_path: Path, reply: ModelReply, told: str
) -> None:
    model = ScriptedModel((reply, *SOLUTION))
    trace = play(tmp_path / "run", model)
    assert trace.turns[0].shown == told == model.sent[1][-1].content
    assert trace.turns[0].code is None


def test_a_reply_cut_after_its_block_was_closed_is_executed(tmp_path: Path) -> None:
    reply = ModelReply(text=block("print('ran')") + "\nand then", finish_reason="length")
    trace = play(tmp_path / "run", ScriptedModel((reply, *SOLUTION)))
    assert trace.turns[0].output.strip() == "ran"


def test_reasoning_is_kept_beside_the_reply(tmp_path: Path) -> None:
    reply = ModelReply(text=block("FINAL('x')"), reasoning="let me think", cost=0.0)
    model = ScriptedModel((reply,))
    trace = play(tmp_path / "run", model, answer_format=TextFormat())
    assert trace.turns[0].reasoning == "let me think"
    assert "let me think" not in trace.turns[0].reply


def limited(tmp_path: Path, limits: Limits, **options: object) -> Trace:
    model = ScriptedModel((block("print(search_entity('Max Born')['total'])"),), **options)  # type: ignore[arg-type]
    return play(tmp_path / "run", model, limits=limits)


def test_each_limit_ends_the_run_under_its_name_and_keeps_the_work(tmp_path: Path) -> None:
    turns = limited(tmp_path / "turns", Limits(turns=3))
    assert (turns.stop_reason, len(turns.turns)) == ("turn_limit", 3)
    cost = limited(tmp_path / "cost", Limits(cost=0.02))
    assert (cost.stop_reason, len(cost.turns)) == ("cost_limit", 2)
    seconds = limited(tmp_path / "seconds", Limits(seconds=1e-9))
    assert (seconds.stop_reason, len(seconds.turns)) == ("time_limit", 0)
    for trace in (turns, cost, seconds):
        assert trace.answer is None
        assert trace.stop_reason not in INFRASTRUCTURE


def test_b33_a_cost_cap_cannot_be_kept_without_a_price(tmp_path: Path) -> None:
    trace = limited(tmp_path, Limits(cost=5.0), cost=None)
    assert (trace.stop_reason, len(trace.turns)) == ("cost_limit", 1)
    assert trace.stop_detail is not None
    assert "no price" in trace.stop_detail
    assert trace.totals().cost is None


def test_a_graph_call_budget_is_an_error_that_the_model_sees(tmp_path: Path) -> None:
    model = ScriptedModel(SOLUTION)
    trace = play(tmp_path / "run", model, limits=Limits(graph_calls=1, turns=4))
    assert "BudgetExceeded" in trace.turns[1].output
    assert trace.stop_reason == "turn_limit"


def test_helper_calls_are_counted_recorded_and_limited(tmp_path: Path) -> None:
    model = ScriptedModel(
        (
            block("print(llm_map(['a', 'b'], 'read'))"),
            block("llm_map(['c'] * 9, 'read')"),
            block("print(llm_query('d', 'read'))"),
            *SOLUTION,
        )
    )
    trace = play(tmp_path / "run", model, limits=Limits(sub_calls=3))
    assert [len(turn.sub_calls) for turn in trace.turns[:3]] == [2, 0, 1]
    refused = trace.turns[1].output
    assert "needs 9 of the 3 helper calls" in refused
    assert "1 are left" in refused
    assert trace.totals().sub_calls == 3
    assert trace.totals().cost == pytest.approx(0.01 * (len(trace.turns) + 3))
    assert trace.totals().sub_usage.input == 6


def test_b21_a_failed_helper_is_an_error_and_no_text(tmp_path: Path) -> None:
    def helper(text: str) -> str | Exception:
        return ModelUnavailable("the provider is down") if "bad" in text else "fine"

    code = (
        "r = llm_map(['good', 'bad'], 'read')\nprint([bool(x) for x in r], isinstance(r[1], str))"
    )
    model = ScriptedModel((block(code), block("llm_query('bad', 'read')"), *SOLUTION), helper)
    trace = play(tmp_path / "run", model)
    assert trace.turns[0].output.strip() == "[True, False] False"
    assert "LLMCallError" in trace.turns[1].output
    assert trace.turns[0].sub_calls[1].error == "the provider is down"
    assert trace.stop_reason == "answered"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelUnavailable("gone"), "model_error"),
        (ContextOverflow("too long"), "context_overflow"),
        (ModelRefused("no"), "refused"),
    ],
)
def test_a_model_that_fails_ends_the_run_with_its_reason(
    tmp_path: Path, error: Exception, reason: str
) -> None:
    trace = play(tmp_path / "run", ScriptedModel((SOLUTION[0], error)))
    assert trace.stop_reason == reason
    assert trace.stop_detail == str(error)
    assert len(trace.turns) == 1


def test_a_graph_that_is_gone_ends_the_run_as_graph_error(tmp_path: Path) -> None:
    class Gone(DictGraph):
        def edges(self, *args: object, **kwargs: object) -> dict[str, object]:  # type: ignore[override]
            raise BackendDown("no connection to http://localhost:1")

    trace = play(tmp_path / "run", ScriptedModel(SOLUTION), graph=Gone({"Q1": "Max Born"}))
    assert trace.stop_reason == "graph_error"
    assert "GraphUnavailable" in trace.turns[1].output
    assert trace.infrastructure_error


class _Breaking(InProcessInterpreter):
    def run(self, code: str) -> CellResult:
        raise KernelError("the kernel does not start")


class _Interrupted(InProcessInterpreter):
    def run(self, code: str) -> CellResult:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("interpreter", "reason"), [(_Breaking, "harness_error"), (_Interrupted, "interrupted")]
)
def test_a_lost_kernel_and_ctrl_c_keep_the_trace(
    tmp_path: Path, interpreter: type, reason: str
) -> None:
    trace = play(tmp_path / "run", ScriptedModel(SOLUTION), interpreter_factory=interpreter)
    assert trace.stop_reason == reason
    assert trace.infrastructure_error
    assert trace.turns[0].code is not None


def test_a_fault_of_ours_is_raised_and_the_trace_is_whole_all_the_same(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        play(tmp_path / "run", ScriptedModel((SOLUTION[0], ZeroDivisionError("ours"))))
    trace = read_trace(tmp_path / "run")
    assert (trace.stop_reason, trace.stop_detail) == ("harness_error", "ZeroDivisionError: ours")
    assert len(trace.turns) == 1


def test_a_listener_that_fails_costs_nothing(tmp_path: Path) -> None:
    def closed_terminal(event: Event) -> None:
        raise BrokenPipeError

    trace = play(tmp_path / "run", ScriptedModel(SOLUTION), listeners=(closed_terminal,))
    assert trace.stop_reason == "answered"


def test_an_answer_that_was_accepted_stands_whatever_happens_to_its_turn(tmp_path: Path) -> None:
    class Late(InProcessInterpreter):
        def run(self, code: str) -> CellResult:
            super().run(code)
            raise KeyboardInterrupt

    model = ScriptedModel((block("FINAL('x')"),))
    trace = play(tmp_path / "run", model, answer_format=TextFormat(), interpreter_factory=Late)
    assert (trace.stop_reason, trace.answer) == ("answered", TextAnswer(text="x"))


def test_a_model_may_say_anything(tmp_path: Path) -> None:
    odd = "half \ud800 a \x00 character \x1b[2J"
    model = ScriptedModel(
        (
            ModelReply(text=odd, reasoning=odd),
            block("FINAL(10**5000)"),
            block("search_entity('\\ud800')"),
            block("search_entity('a', offset=2**70)"),
            block("search_entity('a' * 5000)"),
            block("llm_query('\\ud800', 'read')"),
            block("FINAL(3)"),
        )
    )
    trace = play(tmp_path / "run", model, answer_format=CountFormat())
    assert trace.answer == CountAnswer(count=3)
    assert read_trace(tmp_path / "run") == trace
    assert [turn.error.split(":")[0] if turn.error else None for turn in trace.turns] == [
        None,
        "AnswerRefused",
        "InvalidArgument",
        "InvalidArgument",
        "InvalidArgument",
        None,
        None,
    ]


def test_a_helper_that_failed_cost_nothing(tmp_path: Path) -> None:
    """B33: one failure must not make the cost of the whole run unknown."""
    model = ScriptedModel(
        (block("llm_map(['a'], 'read')"), *SOLUTION), lambda text: ModelUnavailable("gone")
    )
    trace = play(tmp_path / "run", model, limits=Limits(cost=1.0))
    assert trace.stop_reason == "answered"
    assert trace.totals().cost == pytest.approx(0.01 * len(trace.turns))


def test_a_failed_helper_tells_the_code_no_address(tmp_path: Path) -> None:
    down = ModelUnavailable("no answer from http://127.0.0.1:8000/v1, tried twice")
    model = ScriptedModel((block("llm_query('a', 'read')"), *SOLUTION), lambda text: down)
    trace = play(tmp_path / "run", model)
    assert "127.0.0.1" not in trace.turns[0].output
    assert "tried twice" in trace.turns[0].output


def test_evidence_that_is_too_long_is_refused_before_it_costs_anything(tmp_path: Path) -> None:
    model = ScriptedModel((block("llm_query('a' * 300_000, 'read')"), *SOLUTION))
    trace = play(tmp_path / "run", model)
    assert "200,000" in trace.turns[0].output
    assert not trace.turns[0].sub_calls


def test_faces_see_the_events_that_are_stored(tmp_path: Path) -> None:
    seen: list[Event] = []
    play(tmp_path / "run", ScriptedModel(SOLUTION), listeners=(seen.append,))
    assert seen == read_events(tmp_path / "run")


def test_graph_map_keeps_order_and_errors(tmp_path: Path) -> None:
    code = (
        "born = search_entity('Max Born')['matches'][0]['id']\n"
        "r = graph_map(degree, [born, 'Q77', born])\n"
        "print(r[0]['out'], type(r[1]).__name__, r[2]['out'])"
    )
    trace = play(tmp_path / "run", ScriptedModel((block(code), *SOLUTION)), graph=small_graph())
    assert trace.turns[0].output.strip() == "1 UnseenIdentifier 1"
    assert len(trace.turns[0].graph_calls) == 4
