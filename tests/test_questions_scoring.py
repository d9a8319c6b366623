"""Scoring is exact: every way of writing the right answer, and no other, is right.

Tried with these rules switched off, each of which fails a test below: redirects in ``resolve``,
conversion in ``same_quantity``, the unit's dimension, the ambiguity rule of ``_names_entity``,
set comparison of groups, the kind check at the end of ``score``.
"""

from __future__ import annotations

import io
from decimal import Decimal
from fractions import Fraction
from typing import Any

import orjson
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from questions.answers import (
    Answer,
    CountAnswer,
    GroupAnswer,
    IdentityAnswer,
    QuantityAnswer,
    TextAnswer,
    YearAnswer,
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
from questions.question import Question
from questions.scoring import Score, resolve, same_text, score
from questions.units import convertible, same_quantity, units
from tests.support.data import shared_data
from tests.support.dict_graph import DictGraph

GRAPH = DictGraph(
    names={
        "Q1": "Élan",
        "Q2": "Paris",
        "Q3": "Paris",
        "Q4": "Lyon",
        "Q5": "Nice",
        "Q6": "Nice Côte d'Azur",
        "Q7": "C#",
        "Q11573": "metre",
        "P1": "p",
    },
    aliases={"Q4": ["Lugdunum"], "Q1": ["Lyon"], "Q2": ["Lutetia"], "Q3": ["Lutetia"]},
    redirects={"Q100": "Q1", "Q101": "Q1", "Q911573": "Q11573"},
)
FORMATS: dict[str, AnswerFormat] = {
    "identity": IdentityFormat(),
    "year": YearFormat(),
    "quantity": QuantityFormat(),
    "group": GroupFormat(),
    "count": CountFormat(),
    "text": TextFormat(),
}


def verdict(gold: Answer, answer: Answer | None, format: AnswerFormat | None = None) -> Score:
    question = Question(
        id="q",
        text="?",
        answer_format=format or FORMATS[gold.kind],
        kind="multi_hop",
        type=gold.kind,
        gold=gold,
    )
    result = score(question, answer, GRAPH)
    assert (result.reason is None) == result.correct
    return result


def group(*ids: str) -> GroupAnswer:
    return GroupAnswer(ids=ids)


def amount(text: str, unit: str | None = None) -> QuantityAnswer:
    return QuantityAnswer(amount=text, unit=unit)


def test_no_answer_and_an_answer_of_another_kind_are_wrong() -> None:
    assert verdict(CountAnswer(count=0), None).reason == "no answer"
    wrong = verdict(CountAnswer(count=1986), YearAnswer(year=1986))
    assert wrong.reason == "count was asked for, year was given"


def test_identity_after_redirects() -> None:
    assert verdict(IdentityAnswer(id="Q1"), IdentityAnswer(id="Q100")).correct
    assert verdict(IdentityAnswer(id="Q100"), IdentityAnswer(id="Q101")).correct
    assert verdict(IdentityAnswer(id="Q999"), IdentityAnswer(id="Q999")).correct
    assert verdict(IdentityAnswer(id="Q1"), IdentityAnswer(id="Q2")).reason == "Q2 is not Q1"
    assert not verdict(IdentityAnswer(id="Q1"), IdentityAnswer(id="Q999")).correct


@pytest.mark.parametrize(
    ("gold", "text", "correct"),
    [
        ("Q1", "elan", True),
        ("Q1", " ÉLAN. ", True),
        ("Q1", "Q1", True),
        ("Q1", "Q100", True),
        ("Q1", "Q2", False),
        ("Q2", "Paris", False),  # two entities bear the name
        ("Q2", "Lutetia", False),  # and the alias
        ("Q4", "Lyon", True),  # a label goes before another entity's alias
        ("Q1", "Lyon", False),
        ("Q4", "Lugdunum", True),
        ("Q5", "Nice", True),  # a name that begins the same is another name
        ("Q6", "Nice", False),
        ("Q7", "C#", True),
        ("Q7", "C", False),
        ("Q4", "the city of Lyon", False),
    ],
)
def test_a_label_counts_where_it_names_one_entity(gold: str, text: str, correct: bool) -> None:
    assert verdict(IdentityAnswer(id=gold), TextAnswer(text=text), TextFormat()).correct is correct


def test_a_name_borne_by_more_entities_than_a_page_holds_is_ambiguous() -> None:
    crowd = DictGraph(names={f"Q{n}": "Springfield" for n in range(1, 251)})
    question = Question(
        id="q",
        text="?",
        answer_format=TextFormat(),
        kind="multi_hop",
        type="identity",
        gold=IdentityAnswer(id="Q1"),
    )
    result = score(question, TextAnswer(text="Springfield"), crowd)
    assert result.reason is not None and "names 250 entities" in result.reason


@pytest.mark.parametrize(
    ("text", "other", "same"),
    [
        ("The  Seine", "the seine!", True),
        ("Müller", "Muller", True),
        ("C++", "C", False),
        ("C#", "C", False),
        ("-5", "5", False),
        ("twenty-five", "twenty five", True),
        ("100%", "100", False),
        ("?", "!", False),
        ("?", "?", True),
        ("Seine", "Loire", False),
    ],
)
def test_texts(text: str, other: str, same: bool) -> None:
    assert same_text(text, other) is same
    assert verdict(TextAnswer(text=text), TextAnswer(text=other)).correct is same


def test_years_and_counts_by_number() -> None:
    assert verdict(YearAnswer(year=-44), YearAnswer(year=-44)).correct
    assert not verdict(YearAnswer(year=-44), YearAnswer(year=44)).correct
    assert verdict(CountAnswer(count=3), CountAnswer(count=3)).correct
    assert not verdict(CountAnswer(count=3), CountAnswer(count=4)).correct


@pytest.mark.parametrize(
    ("gold", "answer", "correct"),
    [
        (amount("1.5", "Q828224"), amount("1500", "Q11573"), True),
        (amount("1", "Q253276"), amount("1609.344", "Q11573"), True),
        (amount("1", "Q253276"), amount("1609.34", "Q11573"), False),
        (amount("1", "Q712226"), amount("100", "Q35852"), True),
        (amount("36", "Q180154"), amount("10", "Q182429"), True),
        (amount("1", "Q25235"), amount("60", "Q7727"), True),
        (amount("1", "Q577"), amount("365", "Q573"), False),
        (amount("5", "Q11573"), amount("5", "Q11570"), False),
        (amount("5", "Q11573"), amount("5"), False),
        (amount("5"), amount("5.00"), True),
        (amount("0.1"), amount("0.10000000000000000001"), False),
        (amount("5", "Q4917"), amount("5", "Q4917"), True),
        (amount("5", "Q4917"), amount("5", "Q4916"), False),
        (amount("2", "Q911573"), amount("200", "Q174728"), True),
    ],
)
def test_quantities_convert_exactly(gold: Any, answer: Any, correct: bool) -> None:
    assert verdict(gold, answer).correct is correct
    assert verdict(answer, gold).correct is correct


@pytest.mark.parametrize(
    ("gold", "text", "correct"),
    [
        (YearAnswer(year=-44), "44 BC", True),
        (YearAnswer(year=-44), "44", False),
        (CountAnswer(count=3), "3", True),
        (CountAnswer(count=3), "three", False),
        (amount("3.0"), "3", True),
        (amount("3", "Q11573"), "3", False),
    ],
)
def test_numbers_may_be_written_out_where_text_is_asked_for(
    gold: Answer, text: str, correct: bool
) -> None:
    assert verdict(gold, TextAnswer(text=text), TextFormat()).correct is correct


def test_groups_by_set_with_precision_and_recall_beside() -> None:
    assert verdict(group("Q1", "Q2"), group("Q2", "Q100")) == Score(
        correct=True, precision=1, recall=1, f1=1
    )
    partial = verdict(group("Q1", "Q2", "Q3"), group("Q1", "Q4"))
    assert (partial.correct, partial.precision, partial.recall) == (False, 0.5, 1 / 3)
    assert partial.f1 == pytest.approx(0.4)
    assert partial.reason == "2 members missing, 1 too many"
    # Two ids of one merged entity are one member.
    assert verdict(group("Q1"), group("Q100", "Q101")).precision == 1


IDS = st.sampled_from(["Q1", "Q2", "Q3", "Q4", "Q5", "Q100", "Q101", "Q999"])
GROUPS = st.lists(IDS, min_size=1, unique=True).map(lambda ids: group(*ids))


@given(GROUPS, GROUPS, st.randoms())
def test_groups_do_not_depend_on_order_and_mean_their_sets(
    gold: GroupAnswer, given: GroupAnswer, random: Any
) -> None:
    result = verdict(gold, given)
    shuffled = list(given.ids)
    random.shuffle(shuffled)
    assert verdict(gold, group(*shuffled)) == result
    assert verdict(given, gold).correct == result.correct
    assert verdict(given, gold).precision == result.recall

    def members(answer: GroupAnswer) -> set[str]:
        return {"Q1" if i in ("Q100", "Q101") else i for i in answer.ids}

    assert result.correct == (members(gold) == members(given))
    assert result.correct == (result.f1 == 1)


AMOUNTS = st.decimals(
    allow_nan=False, allow_infinity=False, places=6, min_value=-(10**9), max_value=10**9
)
UNITS = st.sampled_from(sorted(units()))


@given(AMOUNTS, UNITS, AMOUNTS, UNITS)
def test_equal_quantities_measure_the_same(
    left: Decimal, unit: str, right: Decimal, other: str
) -> None:
    same = same_quantity(str(left), unit, str(right), other)
    assert same == same_quantity(str(right), other, str(left), unit)
    if units()[unit].dimension != units()[other].dimension:
        assert not same
    else:
        measured = Fraction(left) * units()[unit].factor, Fraction(right) * units()[other].factor
        assert same == (measured[0] == measured[1])


@given(AMOUNTS, UNITS, UNITS)
def test_a_converted_amount_is_equal_and_one_beside_it_is_not(
    value: Decimal, unit: str, other: str
) -> None:
    if not convertible(unit, other):
        return
    ratio = units()[unit].factor / units()[other].factor
    converted = Fraction(value) * ratio
    text = str(Decimal(converted.numerator) / Decimal(converted.denominator))
    if Fraction(text) == converted:
        assert same_quantity(str(value), unit, text, other)
        assert not same_quantity(str(value), unit, str(Decimal(text) + 1), other)


def test_resolve_asks_the_graph_once() -> None:
    class Counting(DictGraph):
        asked = 0

        def degree(self, entities: Any) -> dict[str, Any]:
            self.asked += 1
            return super().degree(entities)

    graph = Counting(names={"Q1": "a", "Q2": "b"}, redirects={"Q3": "Q2"})
    assert resolve(graph, ["Q1", "Q3", "Q9", "Q1"]) == {"Q1": "Q1", "Q3": "Q2", "Q9": "Q9"}
    assert graph.asked == 1
    assert resolve(graph, []) == {} and graph.asked == 1


def test_the_unit_table_is_sound() -> None:
    table = units()
    assert all(unit.factor > 0 for unit in table.values())
    for dimension in {unit.dimension for unit in table.values()}:
        members = [unit for unit in table.values() if unit.dimension == dimension]
        assert len(members) > 1, f"{dimension} converts nothing"


@pytest.mark.slow
def test_unit_ids_bear_their_labels_on_the_real_slice() -> None:
    path = shared_data("wikidata", "slice.jsonl.zst")
    expected = {identifier: unit.label.casefold() for identifier, unit in units().items()}
    found = {}
    with path.open("rb") as file:
        for line in io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file)):
            start = line.find(b'"id":"') + 6
            identifier = line[start : line.find(b'"', start)].decode()
            if identifier in expected:
                found[identifier] = orjson.loads(line)["labels"]["en"]["value"].casefold()
                if len(found) == len(expected):
                    break
    assert found == expected
