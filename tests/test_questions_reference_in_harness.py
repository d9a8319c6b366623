"""The reference solver's replies go through the real turn loop, in-process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kernel.inprocess import InProcessInterpreter
from kg_functions.guard import Guard
from kg_functions.session import GraphSession
from questions.answers import CountAnswer, IdentityAnswer
from questions.ask import AskIdentity
from questions.formats import IdentityFormat
from questions.question import Question
from questions.question_graph import Condition, NamedEntity, QuestionGraph, Variable
from questions.reference import ReferenceModel
from questions.scoring import score
from rlm.loop import solve
from tests.support.dict_graph import DictGraph
from traces.recorder import Recorder
from traces.records import Limits, Trace

PARIS = NamedEntity(id="Q90", label="Paris")
QUESTION = Question(
    id="louvre",
    text="Which museum in Paris shows the Mona Lisa?",
    answer_format=IdentityFormat(),
    kind="multi_hop",
    type="identity",
    gold=IdentityAnswer(id="Q19675"),
    graph=QuestionGraph(
        nodes=(Variable(name="target"), PARIS),
        conditions=(
            Condition(subject="target", property="P131", property_label="located in", object="Q90"),
        ),
    ),
    ask=AskIdentity(),
    named_entities=(PARIS,),
)
NAMES = {"Q90": "Paris", "Q19675": "Louvre", "P131": "located in"}


def play(folder: Path, graph: DictGraph, question: Question = QUESTION) -> Trace:
    session = GraphSession(graph, guard=Guard(question.text))
    recorder = Recorder(folder)
    return solve(
        question.public(),
        session,
        ReferenceModel(question),
        Limits(),
        recorder,
        interpreter_factory=InProcessInterpreter,
    )


def test_a_run_ends_with_the_answer(tmp_path: Path) -> None:
    graph = DictGraph(names=NAMES, links=[("Q19675", "P131", "Q90")])
    trace = play(tmp_path / "run", graph)
    assert (trace.stop_reason, trace.answer) == ("answered", IdentityAnswer(id="Q19675"))
    assert score(QUESTION, trace.answer, graph).correct
    assert [turn.error for turn in trace.turns] == [None] * len(trace.turns)
    assert trace.header.model.name == "reference"
    shown = "".join(turn.output for turn in trace.turns)
    assert "Louvre (Q19675) --located in--> Paris (Q90)" in shown


def test_a_run_without_answer_stops_by_itself(tmp_path: Path) -> None:
    """The name is not found: each later block is played once, and then come words."""
    graph = DictGraph(names={k: v for k, v in NAMES.items() if k != "Q90"})
    trace = play(tmp_path / "run", graph)
    assert (trace.stop_reason, trace.answer) == ("no_code", None)
    errors: list[Any] = [turn.error for turn in trace.turns if turn.error]
    assert errors[0].startswith("LookupError: none of the matches of 'Paris' is Q90")
    assert len(trace.turns) < 10


def test_an_altered_gold_changes_the_score_and_not_the_run(tmp_path: Path) -> None:
    graph = DictGraph(names=NAMES, links=[("Q19675", "P131", "Q90")])
    altered = QUESTION.model_copy(update={"gold": IdentityAnswer(id="Q90")})
    runs = [
        play(tmp_path / q.gold.kind / n, graph, q) for n, q in [("a", QUESTION), ("b", altered)]
    ]
    assert [t.reply for t in runs[0].turns] == [t.reply for t in runs[1].turns]
    assert [t.output for t in runs[0].turns] == [t.output for t in runs[1].turns]
    assert runs[0].answer == runs[1].answer
    assert not score(altered, runs[1].answer, graph).correct
    assert not score(QUESTION, CountAnswer(count=1), graph).correct
