"""Guard, cache, counts, budget and call log of a run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_functions.errors import (
    BackendDown,
    BudgetExceeded,
    CallError,
    InvalidArgument,
    InvalidIdentifier,
    NotInGraph,
    UnseenIdentifier,
)
from kg_functions.graph import Graph
from kg_functions.guard import Guard, identifiers_in
from kg_functions.identifiers import check_entity, check_property
from kg_functions.results import ResultStore, content_hash, encode, read_results
from kg_functions.session import GraphSession


class CountingGraph:
    """A graph of three items that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.down = False

    def check_id(self, identifier: object) -> str:
        return check_entity(identifier)

    def check_property(self, identifier: object) -> str:
        return check_property(identifier)

    def degree(self, entities: Sequence[str]) -> dict[str, Any]:
        if self.down:
            raise BackendDown("the store is gone")
        self.asked.append(tuple(entities))
        return {one: self._degree(one) for one in entities}

    def _degree(self, one: str) -> Any:
        if one not in {"Q1", "Q2", "Q3"}:
            return NotInGraph(f"{one} is not in this graph.")
        return {"id": one, "out": int(one[1:]), "in": 0}

    def edges(self, entities: Sequence[str], **_: Any) -> dict[str, Any]:
        edge = {"direction": "out", "property": "P9", "property_label": "p", "entity": "Q2"}
        page = {"total": 1, "edges": [{**edge, "label": "two"}], "next_offset": None}
        return {one: {"id": one, **page} for one in entities}

    def search_entity(self, name: str, **_: Any) -> dict[str, Any]:
        return {"total": 1, "matches": [{"id": "Q1", "label": name}], "next_offset": None}


def session_over(graph: CountingGraph, **options: Any) -> GraphSession:
    return GraphSession(cast("Graph", graph), **options)


def test_an_answer_is_fetched_once_and_a_repeat_still_counts() -> None:
    graph = CountingGraph()
    session = session_over(graph)
    first = session.call("degree", "Q1")
    assert session.call("degree", entity="Q1") == first == {"id": "Q1", "out": 1, "in": 0}
    assert graph.asked == [("Q1",)]
    calls = session.drain()
    assert [(c.cached, c.repeat) for c in calls] == [(False, False), (True, True)]
    assert calls[0].result == calls[1].result is not None
    assert (session.calls, session.repeats) == (2, 1)
    assert session.drain() == []


def test_a_list_is_one_batch_and_as_many_calls() -> None:
    graph = CountingGraph()
    session = session_over(graph)
    session.call("degree", "Q1")
    answers = session.call("degree", ["Q1", "Q2", "Q404", "Q2"])
    assert graph.asked == [("Q1",), ("Q2", "Q404")]
    assert list(answers) == ["Q1", "Q2", "Q404"]
    assert answers["Q404"] == {"error": "Q404 is not in this graph."}
    assert session.calls == 4
    last = session.drain()[-1]
    assert last.error == "NotInGraph: Q404 is not in this graph."


def test_a_caller_may_change_what_it_was_given() -> None:
    session = session_over(CountingGraph())
    session.call("degree", "Q1")["out"] = 99
    changed = session.call("degree", "Q1")
    changed["out"] = 98
    assert session.call("degree", "Q1")["out"] == 1


def test_the_guard_refuses_an_identifier_never_seen_and_teaches() -> None:
    graph = CountingGraph()
    session = session_over(graph, guard=Guard("What is Q1?"))
    with pytest.raises(UnseenIdentifier, match=r"Q2 has not been seen.*search_entity"):
        session.call("degree", "Q2")
    assert graph.asked == []
    session.call("edges", "Q1")
    assert session.call("degree", "Q2")["out"] == 2
    with pytest.raises(UnseenIdentifier, match="search_property"):
        session.call("edges", "Q1", property="P31")
    assert session.call("edges", "Q1", property="P9")["total"] == 1


def test_a_refused_identifier_in_a_list_leaves_the_others_answered() -> None:
    session = session_over(CountingGraph(), guard=Guard("Q1 and Q3"))
    answers = session.call("degree", ["Q1", "Q2", "Q3"])
    assert answers["Q1"]["out"] == 1
    assert answers["Q3"]["out"] == 3
    assert "has not been seen" in answers["Q2"]["error"]


def test_search_results_are_a_source_and_texts_are_not() -> None:
    session = session_over(CountingGraph(), guard=Guard("who?"))
    session.call("search_entity", "Q3 in a name")
    assert session.call("degree", "Q1")
    with pytest.raises(UnseenIdentifier):
        session.call("degree", "Q3")


@pytest.mark.parametrize("question", ["Is Q12 big?", "(Q12)", "Q12", "Q12, or P3"])
def test_identifiers_in_the_question_are_known(question: str) -> None:
    assert "Q12" in Guard(question).seen


@pytest.mark.parametrize("question", ["IQ12 test", "Q12a", "q12", "Q0", "MQ12"])
def test_parts_of_words_are_no_identifiers(question: str) -> None:
    assert not Guard(question).seen


def test_ids_are_found_in_every_place_a_result_has_them() -> None:
    result = {
        "id": "Q1",
        "statements": [
            {
                "id": "Q1$ABC",
                "property": "P1",
                "value": {"type": "quantity", "amount": "1", "unit": "Q2"},
                "qualifiers": [{"property": "P2", "value": {"type": "entity", "id": "Q3"}}],
                "references": [[{"property": "P3", "value": {"type": "string", "text": "Q99"}}]],
            }
        ],
        "by_property": {"P4": {"label": "x", "out": 1, "in": 0}},
        "descriptions": {"en": "Q98"},
    }
    assert identifiers_in(result) == {"Q1", "Q2", "Q3", "P1", "P2", "P3", "P4"}


def test_a_budget_is_taken_all_or_none() -> None:
    graph = CountingGraph()
    session = session_over(graph, call_budget=3)
    session.call("degree", "Q1")
    with pytest.raises(BudgetExceeded, match="2 are left and this needs 3"):
        session.call("degree", ["Q1", "Q2", "Q3"])
    assert len(graph.asked) == 1
    session.call("degree", ["Q2", "Q3"])
    with pytest.raises(BudgetExceeded):
        session.call("degree", "Q1")


def test_a_failing_graph_is_recorded_and_not_remembered() -> None:
    graph = CountingGraph()
    session = session_over(graph)
    graph.down = True
    with pytest.raises(BackendDown):
        session.call("degree", "Q1")
    assert isinstance(session.backend_error, BackendDown)
    assert session.drain()[0].error == "BackendDown: the store is gone"
    graph.down = False
    assert session.call("degree", "Q1")["out"] == 1
    assert session.backend_error is None


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "says"),
    [
        (("42",), {}, InvalidIdentifier, "expected a string such as 'Q42'"),
        ((42,), {}, InvalidArgument, "must be an id"),
        (([{"id": "Q1"}],), {}, InvalidArgument, "must be an id"),
        (({"Q1"},), {}, InvalidArgument, r"not a set: use sorted"),
        ((), {}, InvalidArgument, "needs 'entity'"),
        (("Q1", 2), {}, InvalidArgument, "at most 1"),
        (("Q1",), {"entity": "Q1"}, InvalidArgument, "twice"),
        (("Q1",), {"depth": 1}, InvalidArgument, "no argument 'depth'"),
    ],
)
def test_wrong_arguments_are_refused_with_what_was_expected(
    args: tuple[Any, ...], kwargs: dict[str, Any], error: type[CallError], says: str
) -> None:
    with pytest.raises(error, match=says):
        session_over(CountingGraph()).call("degree", *args, **kwargs)


def test_an_unknown_function_lists_those_there_are() -> None:
    with pytest.raises(InvalidArgument, match="there are search_entity, search_property, claims"):
        session_over(CountingGraph()).call("neighbours", "Q1")


@pytest.mark.parametrize(
    ("kwargs", "says"),
    [
        ({"limit": 0}, "at least 1"),
        ({"limit": 10_001}, "at most 10000"),
        ({"limit": True}, "whole number"),
        ({"offset": -1}, "at least 0"),
        ({"direction": "up"}, "one of both, out, in"),
    ],
)
def test_wrong_values_are_refused(kwargs: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        session_over(CountingGraph()).call("edges", "Q1", **kwargs)


def test_counts_are_exact_from_many_threads() -> None:
    session = session_over(CountingGraph())

    def work() -> None:
        for _ in range(200):
            session.call("degree", ["Q1", "Q2"])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    calls = session.drain()
    assert session.calls == len(calls) == 3200
    assert session.repeats == sum(call.repeat for call in calls) == 3198


def test_results_are_stored_once_and_read_back(tmp_path: Path) -> None:
    store = ResultStore(tmp_path / "results.zst")
    session = session_over(CountingGraph(), results=store)
    session.call("degree", ["Q1", "Q2"])
    store.flush()
    session.call("degree", ["Q1", "Q3"])
    store.close()
    results = read_results(tmp_path / "results.zst")
    assert sorted(result["id"] for result in results.values()) == ["Q1", "Q2", "Q3"]
    assert {call.result for call in session.drain()} == set(results)


def test_a_torn_last_frame_loses_that_frame_only(tmp_path: Path) -> None:
    path = tmp_path / "results.zst"
    store = ResultStore(path)
    first = store.put(encode({"id": "Q1"}))
    store.flush()
    whole = path.stat().st_size
    store.put(encode({"id": "Q2"}))
    store.close()
    data = path.read_bytes()
    for cut in range(whole, len(data)):
        path.write_bytes(data[:cut])
        assert set(read_results(path)) == {first}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_the_hash_does_not_depend_on_key_order(result: dict[str, Any]) -> None:
    turned = dict(reversed(list(result.items())))
    assert content_hash(encode(result)) == content_hash(encode(turned))
