"""Reading answers: generous where there is no doubt, refusals that teach elsewhere."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from questions.answers import (
    Answer,
    AnswerFormatError,
    CountAnswer,
    GroupAnswer,
    IdentityAnswer,
    QuantityAnswer,
    TextAnswer,
    YearAnswer,
    describe_format,
    read_answer,
)
from questions.formats import (
    AnswerFormat,
    CountFormat,
    GroupFormat,
    IdentityFormat,
    QuantityFormat,
    TextFormat,
    YearFormat,
)

FORMATS: list[AnswerFormat] = [
    TextFormat(),
    IdentityFormat(),
    YearFormat(),
    QuantityFormat(),
    GroupFormat(),
    CountFormat(),
]
TIME = {"type": "time", "time": "-0043-03-15", "precision": "day", "calendar": "julian"}
ENTITY = {"type": "entity", "id": "Q42", "label": "Douglas Adams"}
METRES = {
    "type": "quantity",
    "amount": "+78.50",
    "unit": "Q11573",
    "unit_label": "metre",
    "lower": None,
    "upper": None,
}


def statement(value: dict[str, Any]) -> dict[str, Any]:
    return {"id": "Q1$x", "property": "P1", "property_label": "p", "value": value, "rank": "best"}


ACCEPTED = [
    ("Q42", IdentityFormat(), IdentityAnswer(id="Q42")),
    ("  Q42\n", IdentityFormat(), IdentityAnswer(id="Q42")),
    ({"id": "Q42", "label": "x"}, IdentityFormat(), IdentityAnswer(id="Q42")),
    ({"direction": "out", "entity": "Q42"}, IdentityFormat(), IdentityAnswer(id="Q42")),
    (statement(ENTITY), IdentityFormat(), IdentityAnswer(id="Q42")),
    ("http://www.wikidata.org/entity/Q42", IdentityFormat(), IdentityAnswer(id="Q42")),
    ("wd:Q42", IdentityFormat(), IdentityAnswer(id="Q42")),
    (1986, YearFormat(), YearAnswer(year=1986)),
    ("1986", YearFormat(), YearAnswer(year=1986)),
    (1986.0, YearFormat(), YearAnswer(year=1986)),
    (-44, YearFormat(), YearAnswer(year=-44)),
    ("-44", YearFormat(), YearAnswer(year=-44)),
    ("44 BC", YearFormat(), YearAnswer(year=-44)),
    ("44 BCE", YearFormat(), YearAnswer(year=-44)),
    ("44 b.c.", YearFormat(), YearAnswer(year=-44)),
    ("AD 79", YearFormat(), YearAnswer(year=79)),
    ("79 CE", YearFormat(), YearAnswer(year=79)),
    ({"year": 1986}, YearFormat(), YearAnswer(year=1986)),
    (TIME | {"year": -44}, YearFormat(), YearAnswer(year=-44)),
    (statement(TIME | {"year": -44}), YearFormat(), YearAnswer(year=-44)),
    (METRES, QuantityFormat(), QuantityAnswer(amount="78.50", unit="Q11573")),
    (statement(METRES), QuantityFormat(), QuantityAnswer(amount="78.50", unit="Q11573")),
    (
        {"amount": 3, "unit": {"id": "Q11573"}},
        QuantityFormat(),
        QuantityAnswer(amount="3", unit="Q11573"),
    ),
    ({"amount": "3", "unit": "1"}, QuantityFormat(), QuantityAnswer(amount="3")),
    (78, QuantityFormat(), QuantityAnswer(amount="78")),
    ("78", QuantityFormat(), QuantityAnswer(amount="78")),
    (0.1, QuantityFormat(), QuantityAnswer(amount="0.1")),
    (1e22, QuantityFormat(), QuantityAnswer(amount="10000000000000000000000")),
    (2**70 + 1, QuantityFormat(), QuantityAnswer(amount="1180591620717411303425")),
    (["Q2", "Q1", "Q2"], GroupFormat(), GroupAnswer(ids=("Q2", "Q1"))),
    (({"id": "Q1"}, {"entity": "Q3"}), GroupFormat(), GroupAnswer(ids=("Q1", "Q3"))),
    ([statement(ENTITY)], GroupFormat(), GroupAnswer(ids=("Q42",))),
    (0, CountFormat(), CountAnswer(count=0)),
    ("7", CountFormat(), CountAnswer(count=7)),
    (" the Seine ", TextFormat(), TextAnswer(text="the Seine")),
    (42, TextFormat(), TextAnswer(text="42")),
    ({"type": "text", "text": "Seine", "language": "fr"}, TextFormat(), TextAnswer(text="Seine")),
]


@pytest.mark.parametrize(("value", "format", "expected"), ACCEPTED)
def test_unambiguous_values_are_accepted(value: Any, format: AnswerFormat, expected: Any) -> None:
    assert read_answer(value, format) == expected


REFUSED = [
    ("Douglas Adams", IdentityFormat(), "give the id, not the label"),
    ("P31", IdentityFormat(), "not the id of an item"),
    ("Douglas Adams (Q42)", IdentityFormat(), "not the id of an item"),
    (["Q42"], IdentityFormat(), "one entity is asked for"),
    (42, IdentityFormat(), "is a int, not an id"),
    ({"label": "x"}, IdentityFormat(), 'no "id"'),
    ({"id": "Q1", "total": 1, "edges": []}, IdentityFormat(), "whole page of results"),
    (None, IdentityFormat(), "is a NoneType"),
    (True, YearFormat(), "not a whole number"),
    (0, YearFormat(), "no year 0"),
    (1986.5, YearFormat(), "not a whole number"),
    (float("nan"), YearFormat(), "not a whole number"),
    ("in 1986", YearFormat(), "year alone"),
    ("1986-05-11", YearFormat(), "year alone"),
    ("-0043", YearFormat(), '"year"'),
    ("-44 BC", YearFormat(), "era twice"),
    (TIME | {"precision": "decade", "year": None}, YearFormat(), "only known to the decade"),
    (TIME, YearFormat(), 'no "year"'),
    ([1986], YearFormat(), "not a whole number"),
    (float("nan"), QuantityFormat(), "not a finite number"),
    (float("inf"), QuantityFormat(), "not a finite number"),
    ("NaN", QuantityFormat(), "not a finite number"),
    ("78 kg", QuantityFormat(), "not a decimal number"),
    ("1,234", QuantityFormat(), "not a decimal number"),
    ("1e999999999", QuantityFormat(), "at most 1000 digits"),
    (True, QuantityFormat(), "not an amount"),
    ({"amount": "3", "unit": "metre"}, QuantityFormat(), "'metre' is not the id"),
    ({"value": "3"}, QuantityFormat(), 'no "amount"'),
    ([], GroupFormat(), "look again"),
    ({"Q1", "Q2"}, GroupFormat(), "sorted(...)"),
    ("Q1", GroupFormat(), "not a list"),
    (["Q1", "Paris"], GroupFormat(), "entry 1 of the list: 'Paris'"),
    (["Q1"], CountFormat(), "len(...)"),
    (-1, CountFormat(), "less than nothing"),
    (True, CountFormat(), "not a whole number"),
    ("seven", CountFormat(), "not a whole number"),
    ("", TextFormat(), "empty"),
    (True, TextFormat(), "write it out"),
    (["Seine"], TextFormat(), "not a string"),
]


@pytest.mark.parametrize(("value", "format", "reason"), REFUSED)
def test_refusals_give_the_reason_and_what_is_expected(
    value: Any, format: AnswerFormat, reason: str
) -> None:
    with pytest.raises(AnswerFormatError) as refusal:
        read_answer(value, format)
    assert reason in str(refusal.value)
    assert describe_format(format) in str(refusal.value)
    assert "\n" not in str(refusal.value)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("id"), inner),
    max_leaves=8,
)


@given(ANYTHING, st.sampled_from(FORMATS))
def test_any_value_gives_an_answer_of_the_format_or_a_refusal(
    value: Any, format: AnswerFormat
) -> None:
    try:
        answer = read_answer(value, format)
    except AnswerFormatError:
        return
    assert answer.kind == format.kind


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_read_as_they_print(value: float) -> None:
    answer = read_answer(value, QuantityFormat())
    assert isinstance(answer, QuantityAnswer)
    assert Decimal(answer.amount) == Decimal(repr(value))
    assert "e" not in answer.amount.lower()


def test_every_answer_type_survives_its_json_and_has_a_description() -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(Answer)
    kinds = set()
    for _, _, answer in ACCEPTED:
        assert adapter.validate_json(adapter.dump_json(answer)) == answer
        kinds.add(answer.kind)
    members = get_args(get_args(AnswerFormat)[0])
    assert kinds == {member().kind for member in members}
    assert len({describe_format(member()) for member in members}) == len(members)


@given(st.sampled_from(FORMATS))
def test_the_example_of_a_description_is_itself_accepted(format: AnswerFormat) -> None:
    import ast

    example = describe_format(format).split("Example: ")[1].split(" (or ")[0]
    read_answer(ast.literal_eval(example), format)


@pytest.mark.parametrize(
    "bad",
    [
        {"kind": "identity", "id": "Paris"},
        {"kind": "year", "year": 0},
        {"kind": "year", "year": "1986"},
        {"kind": "quantity", "amount": "NaN", "unit": None},
        {"kind": "group", "ids": []},
        {"kind": "group", "ids": ["Q1", "Q1"]},
        {"kind": "count", "count": -1},
        {"kind": "text", "text": ""},
        {"kind": "identity", "id": "Q1", "label": "x"},
    ],
)
def test_the_types_hold_only_sound_answers(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Answer).validate_python(bad)
