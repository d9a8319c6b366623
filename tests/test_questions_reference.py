"""The reference solver plays a question graph through the guarded functions and nothing else.

Tried with these rules switched off, each of which fails a test below: ``complete`` in ``check``
(arc consistency alone), paging in ``all_rows`` and in ``find``, the choice of the cheapest
condition in ``follow``, narrowing by conditions that were followed.
"""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_client.types import Message
from questions.answers import IdentityAnswer
from questions.ask import (
    ANSWER_KINDS,
    AskArgmax,
    AskArgmin,
    AskCount,
    AskGroup,
    AskIdentity,
    AskQuantity,
    AskYear,
)
from questions.errors import QuestionError
from questions.formats import IdentityFormat, TextFormat, read_format
from questions.question import Question
from questions.question_graph import Condition, NamedEntity, QuestionGraph, Variable
from questions.reference import ReferenceModel
from tests.support.dict_graph import DictGraph
from tests.support.reference_run import FENCE, ReferenceRun


def time(text: str, year: int, precision: str = "day") -> dict[str, Any]:
    return {
        "type": "time",
        "time": text,
        "precision": precision,
        "calendar": "gregorian",
        "year": year,
    }


def quantity(amount: str, unit: str | None = None) -> dict[str, Any]:
    return {"type": "quantity", "amount": amount, "unit": unit}


# A town with three schools; their pupils, and where the pupils live.
NAMES = {
    "Q1": "Aville",
    "Q2": "Btown",
    "Q11": "School of Aville",
    "Q12": "Academy of Aville",
    "Q13": "School of Btown",
    "Q21": "Ann",
    "Q22": "Ben",
    "Q23": "Cleo",
    "Q24": "Dan",
    "Q31": "Grand Prize",
    "Q32": "Small Prize",
    "Q41": "human",
    "Q11573": "metre",
    "P1": "located in",
    "P2": "educated at",
    "P3": "lives in",
    "P4": "award received",
    "P5": "point in time",
    "P6": "inception",
    "P7": "height",
    "P8": "date of birth",
    "P9": "instance of",
}
LINKS = [
    ("Q11", "P1", "Q1"),
    ("Q12", "P1", "Q1"),
    ("Q13", "P1", "Q2"),
    ("Q21", "P2", "Q11"),
    ("Q22", "P2", "Q11"),
    ("Q22", "P2", "Q13"),
    ("Q23", "P2", "Q12"),
    ("Q24", "P2", "Q13"),
    ("Q21", "P3", "Q2"),
    ("Q22", "P3", "Q1"),
    ("Q23", "P3", "Q1"),
    ("Q24", "P3", "Q1"),
    *((person, "P9", "Q41") for person in ("Q21", "Q22", "Q23", "Q24")),
]
VALUES = [
    (
        "Q22",
        "P4",
        {"type": "entity", "id": "Q32", "label": "Small Prize"},
        [("P5", time("+1990", 1990, "year"))],
    ),
    (
        "Q22",
        "P4",
        {"type": "entity", "id": "Q31", "label": "Grand Prize"},
        [("P5", time("+1999", 1999, "year"))],
    ),
    ("Q11", "P6", time("-0043-03-15", -44)),
    ("Q11", "P7", quantity("12.50", "Q11573")),
    ("Q21", "P8", time("+1970-02-01", 1970)),
    ("Q22", "P8", time("+1970-11-30", 1970)),
    ("Q22", "P8", {"type": "unknown"}),
]
ENTITIES = {i: NamedEntity(id=i, label=label) for i, label in NAMES.items() if i.startswith("Q")}


def graph(**change: Any) -> DictGraph:
    return DictGraph(**({"names": NAMES, "links": LINKS, "values": VALUES} | change))


def condition(subject: str, prop: str, value: str) -> Condition:
    return Condition(subject=subject, property=prop, property_label=NAMES[prop], object=value)


def question(
    *conditions: tuple[str, str, str], ask: Any, target: str = "target", **change: Any
) -> Question:
    built = [condition(*c) for c in conditions]
    keys = dict.fromkeys([target, *(end for c in built for end in (c.subject, c.object))])
    nodes = tuple(ENTITIES[key] if key in ENTITIES else Variable(name=key) for key in keys)
    shape = QuestionGraph(nodes=nodes, conditions=tuple(built), target=target)
    kind = ANSWER_KINDS[ask.kind]
    gold = {
        "identity": {"id": "Q1"},
        "year": {"year": 1},
        "quantity": {"amount": "1"},
        "group": {"ids": ["Q1"]},
        "count": {"count": 0},
    }[kind]
    fields: dict[str, Any] = {
        "id": "q",
        "text": "Who?",
        "answer_format": read_format(kind),
        "kind": "multi_hop",
        "type": ask.kind,
        "gold": {"kind": kind, **gold},
        "graph": shape,
        "ask": ask,
        "named_entities": shape.named_entities,
    }
    return Question(**(fields | change))


def solve(asked: Question, over: DictGraph | None = None) -> Any:
    run = ReferenceRun(asked, over or graph()).play()
    if run.errors:
        raise run.errors[0]
    return run.answer


BEN = [("target", "P2", "v1"), ("v1", "P1", "Q1"), ("target", "P2", "Q13")]
SCHOOL = [("target", "P1", "Q1"), ("Q21", "P2", "target")]
PRIZE_YEAR = {
    "property": "P4",
    "property_label": "award received",
    "qualifier": "P5",
    "qualifier_label": "point in time",
}
BORN = {
    "property": "P2",
    "property_label": "educated at",
    "value_property": "P8",
    "value_property_label": "date of birth",
}
GROUP = {"property": "P2", "property_label": "educated at"}

CASES = [
    (question(*BEN, ask=AskIdentity()), {"id": "Q22"}),
    (question(*BEN, ask=AskIdentity(), answer_format=TextFormat()), {"text": "Ben"}),
    (question(*SCHOOL, ask=AskYear(property="P6", property_label="inception")), {"year": -44}),
    (question(*BEN, ask=AskYear(**PRIZE_YEAR, object="Q13")), LookupError),
    (question(*BEN, ask=AskYear(**PRIZE_YEAR)), {"year": 1990}),
    (
        question(*SCHOOL, ask=AskQuantity(property="P7", property_label="height")),
        {"amount": "12.50", "unit": "Q11573"},
    ),
    (question(*SCHOOL, ask=AskGroup(**GROUP)), {"ids": ("Q21", "Q22")}),
    (question(*BEN, ask=AskGroup(**GROUP, direction="out")), {"ids": ("Q11", "Q13")}),
    (question(*SCHOOL, ask=AskCount(**GROUP)), {"count": 2}),
    (question(*SCHOOL, ask=AskArgmax(**BORN)), {"id": "Q22"}),
    (question(*SCHOOL, ask=AskArgmin(**BORN)), {"id": "Q21"}),
    (
        question(
            target="Q11",
            ask=AskYear(property="P6", property_label="inception"),
            kind="single_entity",
        ),
        {"year": -44},
    ),
    (question(target="Q11", ask=AskCount(**GROUP), kind="single_entity"), {"count": 2}),
    (question(target="Q11", ask=AskArgmax(**BORN), kind="single_entity"), {"id": "Q22"}),
]


@pytest.mark.parametrize(("asked", "expected"), CASES)
def test_every_kind_of_request_is_answered_under_the_guard(asked: Question, expected: Any) -> None:
    if isinstance(expected, type):
        with pytest.raises(expected):
            solve(asked)
        return
    answer = solve(asked)
    assert {key: getattr(answer, key) for key in expected} == expected


def test_the_statement_of_a_relation_is_chosen_by_its_value() -> None:
    links = [*LINKS, ("Q31", "P9", "Q41")]
    asked = question(
        *BEN, ("v2", "P9", "Q41"), ("target", "P4", "v2"), ask=AskYear(**PRIZE_YEAR, object="v2")
    )
    with_prize = graph(links=[*links, ("Q22", "P4", "Q31")])
    assert solve(asked, with_prize).year == 1999


def test_replies_are_words_and_one_block_in_at_most_six_turns() -> None:
    run = ReferenceRun(question(*BEN, ask=AskIdentity()), graph()).play()
    assert 3 <= len(run.replies) <= 6
    for reply in run.replies:
        found = FENCE.fullmatch(reply)
        assert found is not None and "`" not in found["code"]
        ast.parse(found["code"])
    assert len(set(run.replies)) == len(run.replies)


def test_the_gold_is_never_read_and_the_graph_is() -> None:
    asked = question(*BEN, ask=AskIdentity())
    altered = asked.model_copy(update={"gold": IdentityAnswer(id="Q24"), "target": "Q24"})
    assert solve(altered) == solve(asked) == IdentityAnswer(id="Q22")
    moved = [("Q23" if (s, o) == ("Q22", "Q13") else s, p, o) for s, p, o in LINKS]
    assert solve(asked, graph(links=moved)) == IdentityAnswer(id="Q23")


def test_after_an_error_nothing_is_repeated_and_the_plan_ends_in_words() -> None:
    asked = question(*BEN, ask=AskIdentity())
    names = {i: n for i, n in NAMES.items() if i != "Q13"}
    links = [link for link in LINKS if "Q13" not in link]
    run = ReferenceRun(asked, graph(names=names, links=links)).play()
    assert run.answer is None
    assert len(set(run.replies)) == len(run.replies) == len(ReferenceModel(asked).plan)
    assert "is Q13" in str(run.errors[0])
    played = [Message(role="assistant", content=reply) for reply in run.replies]
    assert "```" not in ReferenceModel(asked).complete(played).text


def test_candidates_must_meet_all_conditions_together() -> None:
    """A cycle: each condition alone has support for Q21, no single school has all three."""
    links = [
        ("Q21", "P2", "Q11"),
        ("Q21", "P3", "Q1"),
        ("Q11", "P1", "Q2"),
        ("Q22", "P2", "Q12"),
        ("Q22", "P3", "Q1"),
        ("Q12", "P1", "Q1"),
        ("Q21", "P3", "Q2"),
        ("Q21", "P2", "Q12"),
        ("Q1", "P9", "Q41"),
        ("Q2", "P9", "Q41"),
        ("Q21", "P4", "Q31"),
        ("Q22", "P4", "Q31"),
    ]
    cycle = [
        ("target", "P4", "Q31"),
        ("target", "P2", "v1"),
        ("v1", "P1", "v2"),
        ("target", "P3", "v2"),
        ("v2", "P9", "Q41"),
    ]
    less = [link for link in links if link not in {("Q21", "P3", "Q2"), ("Q21", "P2", "Q12")}]
    asked = question(*cycle, ask=AskIdentity())
    assert solve(asked, graph(links=less, values=())) == IdentityAnswer(id="Q22")


def test_a_namesake_is_found_behind_many_others_and_hubs_are_read_whole() -> None:
    crowd = {f"Q{n}": "Aville" for n in range(1000, 1350)}
    pupils = {f"Q{n}": f"Pupil {n}" for n in range(5000, 7500)}
    names = {**NAMES, **crowd, **pupils}
    links = [*((pupil, "P2", "Q1349") for pupil in pupils), ("Q7499", "P3", "Q2")]
    over = DictGraph(names=names, links=links)
    ENTITIES["Q1349"] = NamedEntity(id="Q1349", label="Aville")
    asked = question(
        ("target", "P2", "Q1349"), ask=AskCount(property="P3", property_label="lives in")
    )
    run = ReferenceRun(asked, over).play()
    assert not run.errors
    hub = question(target="Q1349", ask=AskCount(**GROUP), kind="single_entity")
    assert solve(hub, over).count == 2500
    assert (
        solve(
            question(("target", "P2", "Q1349"), ("target", "P3", "Q2"), ask=AskIdentity()), over
        ).id
        == "Q7499"
    )


def test_the_condition_with_fewest_links_goes_first() -> None:
    """Everybody is human: those links are looked at for the few candidates alone."""
    crowd = {f"Q{n}": f"Person {n}" for n in range(5000, 8000)}
    links = [*LINKS, *((person, "P9", "Q41") for person in crowd)]
    asked = question(
        ("target", "P9", "Q41"), ("target", "P2", "Q13"), ("target", "P3", "Q1"), ask=AskIdentity()
    )
    run = ReferenceRun(asked, DictGraph(names={**NAMES, **crowd}, links=links)).play()
    calls = run.session.drain()
    assert run.answer == IdentityAnswer(id="Q22")
    assert not [c for c in calls if c.function == "edges" and c.arguments["entity"] == "Q41"]
    assert len(calls) < 25


def test_a_candidate_that_a_condition_excludes_is_asked_nothing_more() -> None:
    pupils = {f"Q{n}": f"Pupil {n}" for n in range(5000, 5050)}
    others = {f"Q{n}": f"Neighbour {n}" for n in range(6000, 6060)}
    links = [
        *((pupil, "P2", "Q13") for pupil in pupils),
        *((other, "P3", "Q2") for other in others),
        ("Q5049", "P3", "Q2"),
        *((person, "P9", "Q41") for person in (*pupils, *others)),
        ("Q41", "P1", "Q1"),
    ]
    asked = question(
        ("target", "P2", "Q13"),
        ("target", "P3", "Q2"),
        ("target", "P9", "v1"),
        ask=AskIdentity(),
    )
    run = ReferenceRun(asked, DictGraph(names={**NAMES, **pupils, **others}, links=links)).play()
    assert run.answer == IdentityAnswer(id="Q5049")
    asked_for = [c for c in run.session.drain() if c.arguments.get("property") == "P9"]
    assert [c.arguments["entity"] for c in asked_for] == ["Q5049"]


PEOPLE = ["Q21", "Q22", "Q23", "Q24"]
SCHOOLS = ["Q11", "Q12", "Q13"]
TOWNS = ["Q1", "Q2"]
RANDOM_LINKS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(PEOPLE), st.just("P2"), st.sampled_from(SCHOOLS)),
        st.tuples(st.sampled_from(SCHOOLS), st.just("P1"), st.sampled_from(TOWNS)),
        st.tuples(st.sampled_from(PEOPLE), st.just("P3"), st.sampled_from(TOWNS)),
    ),
    unique=True,
    max_size=16,
)


@settings(max_examples=60, deadline=None)
@given(RANDOM_LINKS)
def test_the_first_target_by_brute_force_is_found_or_none(
    links: list[tuple[str, str, str]],
) -> None:
    """Somebody who lives in a town where the school of theirs is, as is a school of Q24's."""
    asked = question(
        ("target", "P2", "v1"),
        ("v1", "P1", "v2"),
        ("target", "P3", "v2"),
        ("Q24", "P2", "v3"),
        ("v3", "P1", "v2"),
        ask=AskIdentity(),
    )
    facts = set(links)
    expected = [
        person
        for person in PEOPLE
        if any(
            {
                (person, "P2", a),
                (a, "P1", town),
                (person, "P3", town),
                ("Q24", "P2", b),
                (b, "P1", town),
            }
            <= facts
            for a in SCHOOLS
            for b in SCHOOLS
            for town in TOWNS
        )
    ]
    run = ReferenceRun(asked, graph(links=links, values=())).play()
    if expected:
        assert not run.errors
        assert run.answer == IdentityAnswer(id=expected[0])
    else:
        assert run.answer is None


def test_it_is_labelled_and_free() -> None:
    model = ReferenceModel(question(*BEN, ask=AskIdentity()))
    reply = model.complete([])
    assert (model.name, reply.model, reply.cost) == ("reference", "reference", 0.0)
    assert (reply.usage.input, reply.usage.output) == (0, 0)
    assert "no language model" in str(model.settings["solver"])
    assert model.replays_reasoning is False


def test_a_question_without_graph_is_refused() -> None:
    bare = Question(
        id="bare",
        text="?",
        answer_format=IdentityFormat(),
        kind="multi_hop",
        type="identity",
        gold=IdentityAnswer(id="Q1"),
    )
    with pytest.raises(QuestionError, match="bare has no question graph"):
        ReferenceModel(bare)
