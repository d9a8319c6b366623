"""Questions: the public part holds no gold, and files are read line by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from pydantic import ValidationError

from questions.answers import IdentityAnswer, TextAnswer, YearAnswer
from questions.ask import AskIdentity, AskYear
from questions.errors import QuestionSetError
from questions.formats import IdentityFormat, TextFormat, YearFormat
from questions.question import EvidenceLink, GenerationStep, PublicQuestion, Question
from questions.question_files import read_public_questions, read_questions, write_questions
from questions.question_graph import Condition, NamedEntity, QuestionGraph, Variable

PARIS = NamedEntity(id="Q90", label="Paris")
GRAPH = QuestionGraph(
    nodes=(Variable(name="target"), PARIS),
    conditions=(
        Condition(subject="target", property="P131", property_label="located in", object="Q90"),
    ),
)


def question(**change: Any) -> Question:
    fields: dict[str, Any] = {
        "id": "louvre",
        "text": "Which museum is located in Paris?",
        "answer_format": IdentityFormat(),
        "kind": "multi_hop",
        "type": "identity",
        "gold": IdentityAnswer(id="Q19675"),
        "graph": GRAPH,
        "ask": AskIdentity(),
        "named_entities": (PARIS,),
        "target": "Q19675",
        "evidence": (EvidenceLink(subject="Q19675", property="P131", value="Q90"),),
        "prominence": 0.25,
        "snapshot": "test",
        "provenance": (GenerationStep(step="written", details={"by": "hand", "rounds": [1, 2]}),),
    }
    return Question(**(fields | change))


YEAR = question(
    id="year",
    type="year",
    answer_format=YearFormat(),
    gold=YearAnswer(year=1793),
    ask=AskYear(property="P571", property_label="inception"),
)


def values_in(data: Any) -> set[str]:
    if isinstance(data, dict):
        return set().union(*map(values_in, data.values())) if data else set()
    if isinstance(data, list):
        return set().union(*map(values_in, data)) if data else set()
    return {str(data)}


def test_the_public_part_holds_no_gold() -> None:
    hidden = {"gold", "graph", "ask", "target", "named_entities", "evidence", "type", "kind"}
    assert not hidden & set(PublicQuestion.model_fields)
    assert not issubclass(Question, PublicQuestion)
    public = question().public()
    assert type(public) is PublicQuestion
    assert "Q19675" in values_in(question().model_dump(mode="json"))
    assert "Q19675" not in values_in(public.model_dump(mode="json"))
    assert set(PublicQuestion.model_fields) < set(Question.model_fields)


def test_a_gold_answer_cannot_be_put_into_a_public_question() -> None:
    public = question().public()
    with pytest.raises(ValidationError):
        PublicQuestion(**public.model_dump(), gold=IdentityAnswer(id="Q19675"))
    with pytest.raises(ValidationError):
        PublicQuestion.model_validate(question())
    with pytest.raises(ValidationError):
        public.gold = IdentityAnswer(id="Q19675")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"gold": YearAnswer(year=1)}, "has no year as gold"),
        ({"answer_format": YearFormat()}, "cannot ask for year"),
        ({"ask": None}, "belong together"),
        ({"ask": YEAR.ask}, "its request is year"),
        ({"named_entities": ()}, "not those of the graph"),
        ({"gold": TextAnswer(text="Louvre")}, "has no text as gold"),
        ({"prominence": 1.5}, "prominence"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        question(**change)


def test_an_identity_may_be_asked_for_as_text() -> None:
    assert question(answer_format=TextFormat()).gold == IdentityAnswer(id="Q19675")
    assert question(answer_format=TextFormat(), gold=TextAnswer(text="Louvre"), type="text")


def test_the_object_of_a_year_is_a_node() -> None:
    ask = AskYear(
        property="P166",
        property_label="award received",
        qualifier="P585",
        qualifier_label="point in time",
        object="v9",
    )
    with pytest.raises(ValidationError, match="v9 is no node"):
        question(type="year", answer_format=YearFormat(), gold=YearAnswer(year=1), ask=ask)


def test_one_file_and_two_files_give_the_same_questions(tmp_path: Path) -> None:
    questions = [question(), YEAR]
    write_questions(tmp_path / "whole.jsonl", questions)
    assert read_questions(tmp_path / "whole.jsonl") == questions
    write_questions(tmp_path / "public.jsonl", questions, tmp_path / "gold.jsonl")
    assert read_questions(tmp_path / "public.jsonl", tmp_path / "gold.jsonl") == questions
    public = [q.public() for q in questions]
    assert read_public_questions(tmp_path / "public.jsonl") == public
    assert read_public_questions(tmp_path / "whole.jsonl") == public
    assert b"Q19675" not in (tmp_path / "public.jsonl").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "gold.jsonl",
        "public.jsonl",
        "whole.jsonl",
    ]


GOOD = orjson.dumps(question().model_dump(mode="json"))
BAD_LINES = [
    (b"{", "not JSON"),
    (b"[]", "not a JSON object"),
    (b"\xff", "not JSON"),
    (b'{"id": "a"}', "text: Field required (and"),
    (GOOD.replace(b"Q19675", b"Louvre"), "'Louvre' is not an item id"),
    (GOOD, "question louvre stands already in line 1"),
    (GOOD.replace(b'"prominence"', b'"fame"'), "fame: Extra inputs are not permitted"),
]


@pytest.mark.parametrize(("line", "reason"), BAD_LINES)
def test_a_bad_line_is_named_in_one_line(tmp_path: Path, line: bytes, reason: str) -> None:
    path = tmp_path / "set.jsonl"
    path.write_bytes(GOOD + b"\n\n" + line + b"\n")
    with pytest.raises(QuestionSetError) as error:
        read_questions(path)
    assert str(error.value).startswith(f"{path}, line 3: ")
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_files_and_missing_gold_are_named(tmp_path: Path) -> None:
    with pytest.raises(QuestionSetError, match=r"cannot read .*none\.jsonl: No such file"):
        read_questions(tmp_path / "none.jsonl")
    write_questions(tmp_path / "public.jsonl", [question()], tmp_path / "gold.jsonl")
    with pytest.raises(QuestionSetError, match=r"public\.jsonl, line 1: kind: Field required"):
        read_questions(tmp_path / "public.jsonl")
    (tmp_path / "gold.jsonl").write_text('{"id": "other"}\n')
    with pytest.raises(
        QuestionSetError, match=r"line 1: question louvre has no gold part in .*gold"
    ):
        read_questions(tmp_path / "public.jsonl", tmp_path / "gold.jsonl")


def test_a_gold_file_cannot_change_what_the_solver_saw(tmp_path: Path) -> None:
    write_questions(tmp_path / "public.jsonl", [question()], tmp_path / "gold.jsonl")
    row = orjson.loads((tmp_path / "gold.jsonl").read_bytes())
    (tmp_path / "gold.jsonl").write_bytes(orjson.dumps(row | {"text": "Another?"}))
    (read,) = read_questions(tmp_path / "public.jsonl", tmp_path / "gold.jsonl")
    assert read.text == question().text


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    def failing() -> Any:
        yield question()
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        write_questions(tmp_path / "set.jsonl", failing())
    assert list(tmp_path.iterdir()) == []
