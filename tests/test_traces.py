"""A run's folder: what is written while it runs, and what can be read after a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_functions.session import GraphCall
from model_client.types import Message, ModelReply, SubCall, Usage
from questions.answers import IdentityAnswer, YearAnswer
from questions.formats import IdentityFormat
from questions.question import PublicQuestion
from questions.scoring import Score
from traces.errors import TraceError
from traces.events import (
    EVENT,
    AnswerAccepted,
    CellFinished,
    CellStarted,
    Event,
    GraphCalled,
    ModelReplied,
    RunEnded,
    RunStarted,
    SubCalled,
    TurnEnded,
    fold,
)
from traces.reading import read_events, read_trace
from traces.recorder import EVENTS_FILE, TRACE_FILE, Recorder, attach_judgement
from traces.records import (
    SCHEMA_VERSION,
    GraphRecord,
    Judgement,
    Limits,
    ModelRecord,
    TraceHeader,
)

HEADER = TraceHeader(
    run="run-1",
    question=PublicQuestion(id="q", text="Who?", answer_format=IdentityFormat()),
    interface="rlm",
    model=ModelRecord(name="scripted"),
    graph=GraphRecord(kind="wikidata", snapshot="test", source="demo"),
    limits=Limits(),
    confinement="none",
    instruction="abc",
    code_version="0",
    started_at="2026-11-30T00:00:00+00:00",
    prompt=(Message(role="user", content="Who?"),),
)


def call(entity: str, *, repeat: bool = False) -> GraphCall:
    return GraphCall("degree", {"entity": entity}, "hash", None, 0.1, repeat, repeat)


def events() -> list[Event]:
    reply = ModelReply(text="```python\n1\n```", usage=Usage(input=10, output=5), cost=0.5)
    helper = SubCall(instruction="i", text="t", reply="r", usage=Usage(input=3), cost=0.25)
    return [
        RunStarted(header=HEADER),
        ModelReplied(turn=1, reply=reply),
        CellStarted(turn=1, code="1"),
        SubCalled(turn=1, call=helper),
        GraphCalled(turn=1, calls=(call("Q1"), call("Q1", repeat=True))),
        CellFinished(turn=1, status="ok", output="1", output_file="outputs/0001.txt"),
        TurnEnded(turn=1, shown="Output: 1"),
        ModelReplied(turn=2, reply=reply.model_copy(update={"reasoning": "hm"})),
        CellStarted(turn=2, code="FINAL('Q1')"),
        AnswerAccepted(turn=2, answer=IdentityAnswer(id="Q1")),
        AnswerAccepted(turn=2, answer=IdentityAnswer(id="Q2")),
        CellFinished(turn=2, status="ok", output=""),
        TurnEnded(turn=2, shown=""),
        RunEnded(stop_reason="answered", seconds=1.5),
    ]


def record(folder: Path, some: list[Event]) -> Recorder:
    recorder = Recorder(folder)
    for event in some:
        recorder.record(event)
    return recorder


def test_a_trace_is_the_fold_of_its_events(tmp_path: Path) -> None:
    trace = record(tmp_path / "run", events()).finish()
    assert [turn.number for turn in trace.turns] == [1, 2]
    assert trace.turns[0].code == "1"
    assert trace.turns[0].output_file == "outputs/0001.txt"
    assert trace.turns[1].reasoning == "hm"
    assert trace.answer == IdentityAnswer(id="Q1"), "the first accepted answer is the answer"
    assert (trace.stop_reason, trace.seconds) == ("answered", 1.5)
    assert not trace.infrastructure_error
    assert read_trace(tmp_path / "run") == trace == fold(read_events(tmp_path / "run"))


def test_totals_are_computed_from_the_turns(tmp_path: Path) -> None:
    totals = record(tmp_path / "run", events()).finish().totals()
    assert (totals.turns, totals.graph_calls, totals.repeats, totals.sub_calls) == (2, 2, 1, 1)
    assert totals.usage == Usage(input=20, output=10)
    assert totals.sub_usage == Usage(input=3)
    assert totals.cost == pytest.approx(1.25)


def test_b33_a_cost_with_an_unknown_part_is_unknown(tmp_path: Path) -> None:
    some = events()
    free = ModelReply(text="x", cost=None)
    some[7] = ModelReplied(turn=2, reply=free)
    assert record(tmp_path / "run", some).finish().totals().cost is None


@pytest.mark.parametrize("kept", range(1, 14))
def test_a_run_that_was_cut_short_can_be_read_up_to_its_last_event(
    tmp_path: Path, kept: int
) -> None:
    record(tmp_path / "run", events()[:kept])
    assert not (tmp_path / "run" / TRACE_FILE).exists()
    trace = read_trace(tmp_path / "run")
    assert trace == fold(events()[:kept])
    assert trace.stop_reason is None
    assert trace.infrastructure_error


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    record(tmp_path / "run", events())
    path = tmp_path / "run" / EVENTS_FILE
    data = path.read_bytes()
    last = data.rstrip(b"\n").rfind(b"\n") + 1
    for cut in (last + 1, last + 20, len(data) - 2):
        path.write_bytes(data[:cut])
        assert read_events(tmp_path / "run") == events()[:-1]


def test_a_damaged_line_in_the_middle_is_an_error_with_its_number(tmp_path: Path) -> None:
    record(tmp_path / "run", events())
    path = tmp_path / "run" / EVENTS_FILE
    lines = path.read_bytes().split(b"\n")
    lines[2] = b'{"event": "no_such_event"}'
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(TraceError, match="line 3 is damaged"):
        read_events(tmp_path / "run")


def test_a_folder_that_holds_a_run_is_not_written_over(tmp_path: Path) -> None:
    record(tmp_path / "run", events()).finish()
    before = (tmp_path / "run" / EVENTS_FILE).read_bytes()
    with pytest.raises(TraceError, match="holds a run already"):
        Recorder(tmp_path / "run")
    assert (tmp_path / "run" / EVENTS_FILE).read_bytes() == before


def test_what_comes_after_the_end_of_a_run_is_dropped(tmp_path: Path) -> None:
    recorder = record(tmp_path / "run", events())
    trace = recorder.finish()
    recorder.record(events()[3])
    assert read_trace(tmp_path / "run") == trace == fold(read_events(tmp_path / "run"))


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "outputs").write_text("")
    with pytest.raises(TraceError, match="Cannot write the run to"):
        Recorder(tmp_path / "taken")
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceError, match="Cannot write the run to"):
        Recorder(tmp_path / "file" / "run")


def test_gold_and_score_stand_apart_from_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    trace = record(folder, events()).finish()
    assert b"gold" not in (folder / EVENTS_FILE).read_bytes()
    judgement = Judgement(gold=YearAnswer(year=1986), score=Score(correct=False, reason="no"))
    judged = attach_judgement(folder, trace, judgement)
    assert read_trace(folder) == judged
    assert judged.model_copy(update={"judgement": None}) == trace


def test_a_trace_of_a_newer_version_says_so(tmp_path: Path) -> None:
    record(tmp_path / "run", events()).finish()
    path = tmp_path / "run" / TRACE_FILE
    stored = json.loads(path.read_bytes())
    stored["header"]["schema_version"] = SCHEMA_VERSION + 1
    stored["something_new"] = 1
    path.write_text(json.dumps(stored))
    with pytest.raises(TraceError, match="newer version"):
        read_trace(tmp_path / "run")
    path.unlink()
    events_file = tmp_path / "run" / EVENTS_FILE
    first, rest = events_file.read_text().split("\n", 1)
    newer = json.loads(first) | {"header": stored["header"] | {"something_new": 1}}
    events_file.write_text(json.dumps(newer) + "\n" + rest)
    with pytest.raises(TraceError, match="newer version"):
        read_trace(tmp_path / "run")


def test_a_folder_without_a_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="holds no run"):
        read_trace(tmp_path)


def _refuse(name: str) -> Any:
    raise AssertionError(f"{name} in a trace")


@given(
    seconds=st.floats(allow_nan=True, allow_infinity=True),
    output=st.text(alphabet=st.characters()),
    argument=st.one_of(st.floats(), st.integers(), st.text()),
)
def test_b20_every_line_is_strict_json(seconds: float, output: str, argument: object) -> None:
    made = GraphCall("degree", {"entity": argument}, None, "e", 0.0, False, False)
    for event in (
        CellFinished(turn=1, status="ok", output=output, seconds=seconds),
        GraphCalled(turn=1, calls=(made,)),
    ):
        line = event.model_dump_json().encode()
        assert b"\n" not in line
        json.loads(line, parse_constant=_refuse)
        EVENT.validate_json(line)
