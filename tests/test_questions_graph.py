"""The question graph: what it accepts, how it reads, and what is asked of its target."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from questions.ask import (
    ANSWER_KINDS,
    Ask,
    AskArgmax,
    AskArgmin,
    AskCount,
    AskGroup,
    AskIdentity,
    AskQuantity,
    AskYear,
)
from questions.question_graph import Condition, NamedEntity, QuestionGraph, Variable

PARIS = NamedEntity(id="Q90", label="Paris")
FRANCE = NamedEntity(id="Q142", label="France")
TARGET, V1 = Variable(name="target"), Variable(name="v1")
LOCATED = Condition(subject="v1", property="P131", property_label="located in", object="Q90")
EDUCATED = Condition(subject="target", property="P69", property_label="educated at", object="v1")
CITIZEN = Condition(subject="target", property="P27", property_label="citizen of", object="Q142")

GRAPH = QuestionGraph(nodes=(TARGET, V1, PARIS, FRANCE), conditions=(EDUCATED, LOCATED, CITIZEN))


def test_text_names_by_label_alone() -> None:
    assert GRAPH.text() == (
        "?target --educated at--> ?v1\n?v1 --located in--> Paris\n?target --citizen of--> France"
    )
    assert QuestionGraph(nodes=(PARIS,), target="Q90").text() == "Paris"


def test_depth_is_the_longest_shortest_path_read_both_ways() -> None:
    assert (GRAPH.depth, GRAPH.hops) == (2, 3)
    shortcut = Condition(subject="Q90", property="P1", property_label="x", object="target")
    assert QuestionGraph(nodes=GRAPH.nodes, conditions=(*GRAPH.conditions, shortcut)).depth == 1
    assert QuestionGraph(nodes=(PARIS,), target="Q90").depth == 0


def test_sparql_finds_the_target_and_stops_at_the_second() -> None:
    store = pyoxigraph.Store()

    def link(subject: str, prop: str, value: str) -> None:
        store.add(
            pyoxigraph.Quad(
                pyoxigraph.NamedNode(f"http://www.wikidata.org/entity/{subject}"),
                pyoxigraph.NamedNode(f"http://www.wikidata.org/prop/direct/{prop}"),
                pyoxigraph.NamedNode(f"http://www.wikidata.org/entity/{value}"),
            )
        )

    def targets(graph: QuestionGraph) -> list[str]:
        answers: Any = store.query(graph.sparql())
        return [str(row["target"].value).rsplit("/", 1)[1] for row in answers]

    link("Q1001", "P69", "Q2001")
    link("Q1001", "P69", "Q2002")
    link("Q1001", "P27", "Q142")
    link("Q1002", "P69", "Q2001")
    link("Q2001", "P131", "Q90")
    link("Q2002", "P131", "Q90")
    assert targets(GRAPH) == ["Q1001"]
    without = QuestionGraph(nodes=(TARGET, V1, PARIS), conditions=(EDUCATED, LOCATED))
    assert sorted(targets(without)) == ["Q1001", "Q1002"]
    for n in range(5):
        link(f"Q300{n}", "P69", "Q2001")
    assert len(targets(without)) == 2
    named = QuestionGraph(nodes=(PARIS,), target="Q90")
    assert targets(named) == ["Q90"]


def test_json_round_trip() -> None:
    assert QuestionGraph.model_validate_json(GRAPH.model_dump_json()) == GRAPH


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"target": "Q90"}, "must be a variable"),
        ({"target": "v2"}, "v2 is no node"),
        ({"nodes": (TARGET, V1, PARIS)}, "Q142 is no node"),
        ({"conditions": (EDUCATED, LOCATED)}, "Q142 is not connected"),
        ({"nodes": (*GRAPH.nodes, PARIS)}, "Q90 stands twice"),
        ({"nodes": (TARGET, V1), "conditions": (EDUCATED,)}, "names no entity"),
        (
            {"conditions": (*GRAPH.conditions, EDUCATED.model_copy(update={"object": "target"}))},
            "to itself",
        ),
    ],
)
def test_unsound_graphs_are_refused(change: dict[str, Any], reason: str) -> None:
    parts = {"nodes": GRAPH.nodes, "conditions": GRAPH.conditions, "target": "target"} | change
    with pytest.raises(ValidationError, match=reason):
        QuestionGraph(**parts)


@given(st.integers(1, 8), st.data())
def test_depth_of_a_chain_is_its_length(length: int, data: st.DataObject) -> None:
    """Whichever way each edge points."""
    keys = ["target", *(f"v{n}" for n in range(1, length)), "Q90"]
    conditions = []
    for near, far in pairwise(keys):
        subject, value = (near, far) if data.draw(st.booleans()) else (far, near)
        conditions.append(
            Condition(subject=subject, property="P1", property_label="p", object=value)
        )
    nodes = (*(Variable(name=key) for key in keys[:-1]), PARIS)
    graph = QuestionGraph(nodes=nodes, conditions=tuple(conditions))
    assert graph.depth == graph.hops == length


ASKS: list[tuple[Any, str]] = [
    (AskIdentity(), "Which entity is ?target?"),
    (AskYear(property="P571", property_label="inception"), "the inception of ?target?"),
    (
        AskYear(
            property="P166",
            property_label="award received",
            qualifier="P585",
            qualifier_label="point in time",
        ),
        "the point in time of ?target's award received statement?",
    ),
    (AskQuantity(property="P2046", property_label="area"), "What is the area of ?target"),
    (
        AskGroup(property="P69", property_label="educated at"),
        "the entities whose educated at is ?target",
    ),
    (AskCount(property="P40", property_label="child", direction="out"), "a child of ?target"),
    (
        AskArgmax(
            property="P69",
            property_label="educated at",
            value_property="P569",
            value_property_label="date of birth",
        ),
        "highest or latest date of birth",
    ),
    (
        AskArgmin(
            property="P69",
            property_label="educated at",
            value_property="P569",
            value_property_label="date of birth",
        ),
        "lowest or earliest date of birth",
    ),
]


@pytest.mark.parametrize(("ask", "part"), ASKS)
def test_a_request_is_one_sentence_without_identifiers(ask: Any, part: str) -> None:
    sentence = ask.sentence()
    assert part in sentence
    assert sentence.count("?target") == 1
    assert "P1" not in sentence and "P5" not in sentence and "\n" not in sentence
    adapter: TypeAdapter[Any] = TypeAdapter(Ask)
    assert adapter.validate_json(adapter.dump_json(ask)) == ask
    assert ask.kind in ANSWER_KINDS


def test_a_qualifier_needs_its_label() -> None:
    with pytest.raises(ValidationError, match="a qualifier needs its label"):
        AskYear(property="P166", property_label="award received", qualifier="P585")
    with pytest.raises(ValidationError, match="object is only for a qualifier"):
        AskYear(property="P166", property_label="award received", object="v1")
