"""The statements behind an answer: chains that the run has seen, and nothing else."""

from __future__ import annotations

from typing import Any

from kg_functions.results import content_hash, encode
from kg_functions.session import GraphCall
from questions.answers import (
    Answer,
    CountAnswer,
    GroupAnswer,
    IdentityAnswer,
    TextAnswer,
    YearAnswer,
)
from questions.formats import TextFormat
from questions.question import PublicQuestion
from tests.test_traces import HEADER
from traces.evidence import Evidence, find_evidence
from traces.records import Trace, Turn

QUESTION = "Where did the doctoral advisor of Max Born die?"
BORN, RUNGE, BERLIN, HUMAN, PHYSICIST = "Q1", "Q2", "Q3", "Q5", "Q6"


def search(name: str, found: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    match = {"id": found, "label": name, "description": None, "matched": "label"}
    match |= {"matched_text": name, "language": "en"}
    result = {"total": 1, "matches": [match], "next_offset": None}
    return "search_entity", {"name": name}, result


def edges(entity: str, *links: tuple[str, str, str]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    found = [
        {
            "direction": way,
            "property": p,
            "property_label": p.lower(),
            "entity": e,
            "label": e + "!",
        }
        for way, p, e in links
    ]
    page = {"id": entity, "total": len(found), "edges": found, "next_offset": None}
    arguments = {"entity": entity, "direction": "both", "property": None}
    return "edges", arguments, page


def claims(
    entity: str, *values: tuple[str, dict[str, Any]]
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    statements = [
        {
            "id": f"{entity}${number}",
            "property": p,
            "property_label": p.lower(),
            "value": value,
            "rank": "normal",
            "qualifiers": [],
        }
        for number, (p, value) in enumerate(values)
    ]
    page = {"id": entity, "total": len(statements), "statements": statements, "next_offset": None}
    return "claims", {"entity": entity}, page


def item(identifier: str) -> dict[str, Any]:
    return {"type": "entity", "id": identifier, "label": identifier.lower()}


def year(number: int) -> dict[str, Any]:
    time = {"type": "time", "time": f"+{number}", "precision": "year", "calendar": "gregorian"}
    return time | {"year": number, "text": None}


def evidence_of(
    answer: Answer | None, *seen: tuple[str, dict[str, Any], Any], question: str = QUESTION
) -> Evidence:
    results = {content_hash(encode(result)): result for _, _, result in seen}
    calls = tuple(
        GraphCall(function, arguments, content_hash(encode(result)), None, 0.0, False, False)
        for function, arguments, result in seen
    )
    public = PublicQuestion(id="q", text=question, answer_format=TextFormat())
    trace = Trace(
        header=HEADER.model_copy(update={"question": public}),
        turns=(Turn(number=1, reply="", graph_calls=calls),),
        answer=answer,
    )
    return find_evidence(trace, results)


def keys(evidence: Evidence) -> list[tuple[str, str, Any]]:
    return [(s.subject, s.property, s.value.get("id")) for s in evidence.statements]


def test_a_chain_of_two_links_is_found_with_statement_ids_where_they_were_seen() -> None:
    evidence = evidence_of(
        IdentityAnswer(id=BERLIN),
        search("Max Born", BORN),
        edges(BORN, ("out", "P184", RUNGE)),
        claims(RUNGE, ("P20", item(BERLIN)), ("P569", year(1856))),
    )
    assert keys(evidence) == [(BORN, "P184", RUNGE), (RUNGE, "P20", BERLIN)]
    assert evidence.complete
    assert [s.statement for s in evidence.statements] == [None, f"{RUNGE}$0"]
    assert evidence.statements[0].subject_label == "Max Born"
    assert evidence.statements[1].value["label"] == "q3"


def test_an_incoming_link_is_read_in_its_own_direction() -> None:
    evidence = evidence_of(
        IdentityAnswer(id=RUNGE), search("Max Born", BORN), edges(RUNGE, ("in", "P184", BORN))
    )
    assert keys(evidence) == [(BORN, "P184", RUNGE)]


def test_an_answer_that_nothing_seen_leads_to_has_no_evidence() -> None:
    evidence = evidence_of(
        IdentityAnswer(id="Q999"), search("Max Born", BORN), edges(BORN, ("out", "P184", RUNGE))
    )
    assert evidence == Evidence()


def test_no_chain_leads_through_a_class() -> None:
    seen = (
        search("Max Born", BORN),
        edges(BORN, ("out", "P31", HUMAN)),
        edges(RUNGE, ("out", "P31", HUMAN)),
    )
    assert not evidence_of(IdentityAnswer(id=RUNGE), *seen).statements
    by_occupation = (
        search("Max Born", BORN),
        edges(BORN, ("out", "P106", PHYSICIST)),
        edges(RUNGE, ("out", "P106", PHYSICIST)),
    )
    assert len(evidence_of(IdentityAnswer(id=RUNGE), *by_occupation).statements) == 2


def test_a_class_that_the_question_names_may_end_a_chain() -> None:
    evidence = evidence_of(
        IdentityAnswer(id=RUNGE),
        search("human", HUMAN),
        edges(RUNGE, ("out", "P31", HUMAN)),
        question="Which human?",
    )
    assert keys(evidence) == [(RUNGE, "P31", HUMAN)]
    assert evidence.complete


def test_a_year_rests_on_the_statement_that_holds_it() -> None:
    evidence = evidence_of(
        YearAnswer(year=1856),
        search("Max Born", BORN),
        edges(BORN, ("out", "P184", RUNGE)),
        claims(RUNGE, ("P569", year(1856)), ("P570", year(1927))),
    )
    assert keys(evidence) == [(BORN, "P184", RUNGE), (RUNGE, "P569", None)]
    assert evidence.complete


def test_a_year_in_a_qualifier_rests_on_its_statement() -> None:
    function, arguments, result = claims(BORN, ("P166", item(BERLIN)))
    result["statements"][0]["qualifiers"] = [
        {"property": "P585", "property_label": "point in time", "value": year(1954)}
    ]
    evidence = evidence_of(
        YearAnswer(year=1954), search("Max Born", BORN), (function, arguments, result)
    )
    assert keys(evidence) == [(BORN, "P166", BERLIN)]
    assert evidence.complete


def test_a_count_rests_on_the_links_that_were_counted() -> None:
    seen = (
        search("Max Born", BORN),
        edges(BORN, ("out", "P184", RUNGE)),
        edges(RUNGE, ("in", "P184", "Q8"), ("in", "P184", "Q9")),
    )
    evidence = evidence_of(CountAnswer(count=2), *seen)
    assert keys(evidence) == [
        (BORN, "P184", RUNGE),
        ("Q8", "P184", RUNGE),
        ("Q9", "P184", RUNGE),
    ]
    assert evidence.complete
    assert not evidence_of(CountAnswer(count=5), *seen).statements


def test_a_year_that_stands_in_several_places_is_not_called_complete() -> None:
    seen = (
        search("Max Born", BORN),
        edges(BORN, ("out", "P184", RUNGE)),
        claims(RUNGE, ("P569", year(1856))),
    )
    assert evidence_of(YearAnswer(year=1856), *seen).complete
    decoy = claims(BORN, ("P69", year(1856)))
    competing = evidence_of(YearAnswer(year=1856), *seen, decoy)
    assert competing.statements
    assert not competing.complete


def test_a_year_at_an_entity_that_is_linked_to_nothing_is_passed_over() -> None:
    evidence = evidence_of(
        YearAnswer(year=1856),
        search("Max Born", BORN),
        claims("Q99", ("P569", year(1856))),
        claims(BORN, ("P569", year(1856))),
    )
    assert keys(evidence) == [(BORN, "P569", None)]
    assert evidence.complete


def test_two_groups_of_the_counted_size_are_not_called_complete() -> None:
    seen = (
        search("Max Born", BORN),
        edges(BORN, ("out", "P184", RUNGE)),
        edges(RUNGE, ("in", "P184", BORN)),
    )
    evidence = evidence_of(CountAnswer(count=1), *seen)
    assert evidence.statements
    assert not evidence.complete


def test_a_text_rests_on_what_the_entity_of_that_name_does() -> None:
    seen = (search("Max Born", BORN), claims(BORN, ("P19", item(BERLIN))))
    assert keys(evidence_of(TextAnswer(text="Q3"), *seen)) == [(BORN, "P19", BERLIN)]
    assert not evidence_of(TextAnswer(text="somewhere"), *seen).statements


def test_a_name_that_is_not_linked_leaves_the_chain_incomplete() -> None:
    evidence = evidence_of(
        IdentityAnswer(id=RUNGE),
        search("Max Born", BORN),
        search("die", "Q77"),
        edges(BORN, ("out", "P184", RUNGE)),
    )
    assert evidence.statements
    assert not evidence.complete


def test_a_name_that_is_not_in_the_question_is_not_asked_for() -> None:
    evidence = evidence_of(
        IdentityAnswer(id=RUNGE),
        search("Max Born", BORN),
        search("Isaac Newton", "Q77"),
        edges(BORN, ("out", "P184", RUNGE)),
    )
    assert evidence.complete


def test_a_group_rests_on_a_chain_for_each_member() -> None:
    evidence = evidence_of(
        GroupAnswer(ids=(RUNGE, BERLIN)),
        search("Max Born", BORN),
        edges(BORN, ("out", "P184", RUNGE), ("out", "P19", BERLIN)),
    )
    assert keys(evidence) == [(BORN, "P184", RUNGE), (BORN, "P19", BERLIN)]


def test_no_answer_no_evidence() -> None:
    assert evidence_of(None, search("Max Born", BORN)) == Evidence()
    assert not evidence_of(CountAnswer(count=2), search("Max Born", BORN)).complete
