"""Statements that cannot be taken: each is named, and the others stand as if it were not there."""

from __future__ import annotations

from typing import Any

import pytest

from kg_functions.build.convert import Converter, Entity
from kg_functions.rdf import WDS, WDT, WIKIBASE
from tests.support.triples import parse


def value(target: str) -> dict[str, Any]:
    content = {"entity-type": "item", "id": target}
    return {
        "snaktype": "value",
        "property": "P31",
        "datatype": "wikibase-item",
        "datavalue": {"type": "wikibase-entityid", "value": content},
    }


def statement(identifier: Any, target: str, rank: str = "normal") -> dict[str, Any]:
    return {"id": identifier, "rank": rank, "mainsnak": value(target)}


def convert(*statements: Any, owner: str = "Q1") -> tuple[Entity, set[Any]]:
    lines: list[str] = []
    document = {"id": owner, "claims": {"P31": list(statements)}}
    entity = Converter().convert(document, lines)
    return entity, parse("".join(lines))


def truthy(facts: set[Any]) -> set[str]:
    return {t.object.value[31:] for t in facts if t.predicate.value == f"{WDT}P31"}


def best(facts: set[Any]) -> set[str]:
    return {
        t.subject.value.removeprefix(WDS)
        for t in facts
        if getattr(t.object, "value", None) == f"{WIKIBASE}BestRank"
    }


def test_an_unreadable_preferred_statement_hides_nothing() -> None:
    """Best are the best of those that were converted, for ranks, truthy triples and links alike."""
    bad = statement("Q1$bad", "Q5000000000000", "preferred")
    entity, facts = convert(statement("Q1$a", "Q5"), bad, statement("Q1$b", "Q6", "deprecated"))
    assert entity.problems == [
        ("unreadable statement", "Q1$bad: 'Q5000000000000' is not an entity id")
    ]
    assert truthy(facts) == {"Q5"}
    assert best(facts) == {"Q1-a"}
    assert entity.links == [(31, 5)]
    assert entity.statements == 2


def test_a_readable_preferred_statement_hides_normal_ones() -> None:
    bad = statement("Q1$bad", "Q5000000000000", "preferred")
    entity, facts = convert(statement("Q1$a", "Q5"), bad, statement("Q1$b", "Q6", "preferred"))
    assert truthy(facts) == {"Q6"}
    assert best(facts) == {"Q1-b"}
    assert (entity.links, entity.statements, len(entity.problems)) == ([(31, 6)], 2, 1)


def test_unreadable_preferred_statements_alone() -> None:
    entity, facts = convert(statement("Q1$bad", "Q5000000000000", "preferred"))
    assert (entity.statements, len(entity.problems), best(facts)) == (0, 1, set())


@pytest.mark.parametrize("identifier", ["abc", "", "Q2$a", "Q1", "Q1$", "Q11$a", "$a", 5, None])
def test_ids_of_other_entities_are_refused(identifier: Any) -> None:
    entity, facts = convert(statement(identifier, "Q5", "preferred"), statement("q1$a", "Q6"))
    [(reason, detail)] = entity.problems
    assert reason == "unreadable statement"
    assert detail.startswith(f"{identifier}: ")
    assert truthy(facts) == {"Q6"}
    assert entity.statements == 1


def test_a_second_statement_with_one_id_is_refused() -> None:
    entity, facts = convert(statement("Q1$a", "Q5"), statement("Q1$a", "Q6", "preferred"))
    assert entity.problems == [
        ("unreadable statement", "Q1$a: an earlier statement has the same id")
    ]
    assert truthy(facts) == {"Q5"}
    assert (entity.statements, entity.links) == (1, [(31, 5)])


def test_a_statement_that_is_no_object() -> None:
    entity, facts = convert(5, statement("Q1$a", "Q5"))
    assert [reason for reason, _ in entity.problems] == ["unreadable statement"]
    assert truthy(facts) == {"Q5"}
