"""The demo questions hold on the bundled graph, by queries that no part of the solver uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pyoxigraph
import pytest

from kg_functions.demo import demo_graph_folder
from kg_functions.graph import Graph
from kg_functions.identifiers import find_identifiers, is_item
from kg_functions.manifest import STORE_NAME
from kg_functions.opening import open_graph
from kg_functions.text_matching import normalise
from questions.answers import GroupAnswer, IdentityAnswer
from questions.ask import (
    AskArgmax,
    AskArgmin,
    AskCount,
    AskIdentity,
    AskQuantity,
    AskYear,
)
from questions.demo import demo_questions
from questions.question import Question
from questions.reference import ReferenceModel
from questions.scoring import score
from tests.support.reference_run import ReferenceRun

QUESTIONS = demo_questions()
PREFIXES = """
PREFIX wd: <http://www.wikidata.org/entity/>
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
PREFIX p: <http://www.wikidata.org/prop/>
PREFIX ps: <http://www.wikidata.org/prop/statement/>
PREFIX psv: <http://www.wikidata.org/prop/statement/value/>
PREFIX pq: <http://www.wikidata.org/prop/qualifier/>
PREFIX wikibase: <http://wikiba.se/ontology#>
"""
IDENTITY = "SELECT DISTINCT (?t AS ?answer) WHERE {{ BIND(wd:{target} AS ?t) }}"
YEAR = "SELECT DISTINCT (YEAR(?date) AS ?answer) WHERE {{ wd:{target} wdt:{prop} ?date }}"
QUALIFIER_YEAR = """SELECT DISTINCT (YEAR(?date) AS ?answer) WHERE {{
  wd:{target} p:{prop} ?s . ?s a wikibase:BestRank ; pq:{qualifier} ?date {value} }}"""
QUANTITY = """SELECT DISTINCT ?answer ?unit WHERE {{ wd:{target} p:{prop} ?s .
  ?s a wikibase:BestRank ; psv:{prop} ?v .
  ?v wikibase:quantityAmount ?answer ; wikibase:quantityUnit ?unit }}"""
MEMBERS = "SELECT DISTINCT (?m AS ?answer) WHERE {{ {pattern} }}"
EXTREME = """SELECT DISTINCT (?m AS ?answer) ?size WHERE {{ {pattern} ?m wdt:{value} ?size }}
ORDER BY {order}(?size) LIMIT 2"""


@pytest.fixture(scope="module")
def graph() -> Iterator[Graph]:
    opened = open_graph("demo")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def store() -> pyoxigraph.Store:
    return pyoxigraph.Store.read_only(str(demo_graph_folder() / STORE_NAME))


def rows(store: pyoxigraph.Store, query: str) -> list[dict[str, str]]:
    answers: Any = store.query(query)
    names = [variable.value for variable in answers.variables]
    return [{n: row[n].value.rsplit("/", 1)[-1] for n in names} for row in answers]


def by_query(store: pyoxigraph.Store, question: Question) -> Any:
    """What the graph answers, in the form of the gold's own field."""
    ask, target = question.ask, question.target

    def asked(template: str, **parts: str) -> list[dict[str, str]]:
        return rows(store, PREFIXES + template.format(target=target, **parts))

    if isinstance(ask, AskIdentity):
        return only(asked(IDENTITY))["answer"]
    if isinstance(ask, AskYear):
        if ask.qualifier is None:
            found = asked(YEAR, prop=ask.property)
        else:
            value = f"; ps:{ask.property} wd:{ask.object}" if ask.object else ""
            found = asked(QUALIFIER_YEAR, prop=ask.property, qualifier=ask.qualifier, value=value)
        return int(only(found)["answer"])
    if isinstance(ask, AskQuantity):
        row = only(asked(QUANTITY, prop=ask.property))
        return Fraction(row["answer"]), row["unit"]
    ends = ("?m", f"wd:{target}") if ask.direction == "in" else (f"wd:{target}", "?m")
    pattern = f"{ends[0]} wdt:{ask.property} {ends[1]} ."
    if isinstance(ask, (AskArgmax, AskArgmin)):
        order = "DESC" if isinstance(ask, AskArgmax) else "ASC"
        found = asked(EXTREME, pattern=pattern, value=ask.value_property, order=order)
        assert len({row["size"] for row in found}) == 2, "a tie"
        return found[0]["answer"]
    members = {row["answer"] for row in asked(MEMBERS, pattern=pattern)}
    return len(members) if isinstance(ask, AskCount) else members


def only(found: list[dict[str, str]]) -> dict[str, str]:
    assert len(found) == 1, found
    return found[0]


def gold_value(question: Question) -> Any:
    gold: Any = question.gold
    if gold.kind == "quantity":
        return Fraction(gold.amount), gold.unit or "Q199"
    if gold.kind == "group":
        return set(gold.ids)
    return getattr(gold, {"identity": "id"}.get(gold.kind, gold.kind))


def test_there_are_five_of_different_types_and_depths() -> None:
    assert len(QUESTIONS) == 5
    assert len({question.id for question in QUESTIONS}) == 5
    assert len({question.type for question in QUESTIONS}) >= 4
    depths = {question.graph.depth for question in QUESTIONS if question.graph}
    assert depths == {1, 2, 3}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_the_graph_has_one_target_and_the_gold_is_its_answer(
    question: Question, store: pyoxigraph.Store
) -> None:
    assert question.graph is not None
    assert rows(store, question.graph.sparql()) == [{"target": question.target}]
    assert by_query(store, question) == gold_value(question)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_no_condition_can_be_left_out(question: Question, store: pyoxigraph.Store) -> None:
    """Without any one of them there is a second target, so that the text says nothing idle."""
    assert question.graph is not None
    head, body = question.graph.sparql().split("{\n")
    patterns, tail = body.split("\n}")
    lines = patterns.split("\n")
    for left_out in range(len(lines)):
        kept = [line for n, line in enumerate(lines) if n != left_out]
        if any("?target" in line for line in kept):
            query = head + "{\n" + "\n".join(kept) + "\n}" + tail
            assert len(rows(store, query)) == 2, lines[left_out]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_the_evidence_is_in_the_graph_and_reaches_from_name_to_target(
    question: Question, graph: Graph
) -> None:
    named = {entity.id for entity in question.named_entities}
    assert question.evidence
    linked: set[str] = set(named)
    for link in question.evidence:
        result = graph.claims([link.subject], property=link.property)[link.subject]
        shown = [s["value"] for s in result["statements"]]
        assert link.value in {v.get("id") or v.get("time") or v.get("amount") for v in shown}
        assert linked & {link.subject, link.value}, f"{link} hangs loose"
        linked |= {link.subject, link.value}
    assert question.target in linked


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_the_text_names_what_the_graph_names_and_nothing_hidden(
    question: Question, graph: Graph
) -> None:
    assert not find_identifiers(question.text)
    text = f" {normalise(question.text)} "
    for entity in question.named_entities:
        assert f" {normalise(entity.label)} " in text
    named = {entity.id for entity in question.named_entities}
    ends = {end for link in question.evidence for end in (link.subject, link.value)}
    hidden = {i for i in ends | gold_ids(question) | {question.target} if is_item(i)} - named
    for identifier in hidden:
        described = graph.describe([identifier])[identifier]
        aliases = [a for texts in described["aliases"].values() for a in texts]
        for hidden_name in [*described["labels"].values(), *aliases]:
            assert f" {normalise(hidden_name)} " not in text, hidden_name
    if question.gold.kind in ("year", "count", "quantity"):
        assert str(gold_value(question)) not in re.findall(r"\d+", question.text)


def gold_ids(question: Question) -> set[str]:
    if isinstance(question.gold, IdentityAnswer):
        return {question.gold.id}
    return set(question.gold.ids) if isinstance(question.gold, GroupAnswer) else set()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_the_reference_solver_answers_under_the_guard(question: Question, graph: Graph) -> None:
    run = ReferenceRun(question, graph).play()
    assert not run.errors
    result = score(question, run.answer, graph)
    assert result.correct, result.reason
    assert len(run.replies) == len(ReferenceModel(question).plan) <= 6
