"""The statements behind an answer: chains seen in the run, from the question to the answer.

Only what the run's own graph calls returned counts. A link is taken between two entities whatever
its direction; class membership (instance of, subclass of) may end a chain at an entity that the
question names, but never lead through a class, since everything is connected through classes.
Whether a chain says what the question asks is for the reader to judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from kg_functions.identifiers import find_identifiers, is_item
from kg_functions.text_matching import normalise
from questions.answers import (
    CountAnswer,
    GroupAnswer,
    IdentityAnswer,
    QuantityAnswer,
    TextAnswer,
    YearAnswer,
)
from traces.seen import EvidenceStatement, Seen, statement_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kg_functions.session import GraphCall
    from questions.answers import Answer
    from traces.records import Trace

MOST_MEMBERS: Final = 20
"""Of a group's or a count's members, so many are shown with their statements."""


class Evidence(BaseModel):
    """What an answer rests on."""

    model_config = ConfigDict(frozen=True)

    statements: tuple[EvidenceStatement, ...] = ()
    complete: bool = False
    """Whether what was seen links every entity that the question names to the answer, and holds the
    answer in one place only."""


class _Support(NamedTuple):
    """One way in which the run saw the answer: entities to be reached, statements that hold it."""

    ends: tuple[str, ...]
    leaves: tuple[EvidenceStatement, ...] = ()


class _Chain(NamedTuple):
    statements: tuple[EvidenceStatement, ...]
    complete: bool


def find_evidence(trace: Trace, results: Mapping[str, Any]) -> Evidence:
    """Find the statements behind a run's answer.

    Args:
        trace: a finished run.
        results: the run's graph results by content hash (``kg_functions.results.read_results``).

    Returns:
        The statements from the question's entities to the answer; empty without an answer. Where
        the run saw the answer in several places, the one with the best chain is taken.
    """
    if trace.answer is None:
        return Evidence()
    calls = [call for turn in trace.turns for call in turn.graph_calls if call.result in results]
    seen = Seen()
    for call in calls:
        seen.add(call, results[call.result or ""])
    named = _named_entities(trace.header.question.text, calls, results)
    chains = [
        _chain(support, seen, named) for support in _supports(trace.answer, seen, calls, results)
    ]
    if not chains:
        return Evidence()
    best = min(chains, key=lambda chain: (not chain.complete, len(chain.statements)))
    alone = sum(chain.complete for chain in chains) == 1
    return Evidence(statements=best.statements, complete=best.complete and alone)


def _chain(support: _Support, seen: Seen, named: set[str]) -> _Chain:
    """The statements that link an answer's place with the named entities."""
    chain: dict[tuple[str, str, str], EvidenceStatement] = {}
    reached: set[str] = set()
    for end in support.ends:
        for target, path in seen.paths(end, named).items():
            reached.add(target)
            chain.update({statement_key(statement): statement for statement in path})
    chain.update({statement_key(leaf): leaf for leaf in support.leaves})
    return _Chain(tuple(chain.values()), bool(named) and reached >= named)


def _supports(
    answer: Answer, seen: Seen, calls: list[GraphCall], results: Mapping[str, Any]
) -> list[_Support]:
    """Every place in which the run saw the answer."""
    if isinstance(answer, IdentityAnswer):
        return [_Support((answer.id,))]
    if isinstance(answer, GroupAnswer):
        return [_Support(answer.ids[:MOST_MEMBERS])]
    if isinstance(answer, TextAnswer):
        return [_Support((one,)) for one in seen.labelled(answer.text)]
    if isinstance(answer, CountAnswer):
        return _counted(answer, seen, calls, results)
    by_place: dict[tuple[str, str], list[EvidenceStatement]] = {}
    for leaf in seen.holding(lambda value: _is_value(value, answer)):
        by_place.setdefault((leaf.subject, leaf.property), []).append(leaf)
    return [_Support((subject,), tuple(found)) for (subject, _), found in by_place.items()]


def _is_value(value: Mapping[str, Any], answer: YearAnswer | QuantityAnswer) -> bool:
    if isinstance(answer, YearAnswer):
        return value.get("year") == answer.year
    return value.get("type") == "quantity" and (value["amount"], value["unit"]) == (
        answer.amount,
        answer.unit,
    )


def _counted(
    answer: CountAnswer, seen: Seen, calls: list[GraphCall], results: Mapping[str, Any]
) -> list[_Support]:
    """The groups that the run read and that have just so many members."""
    found: dict[tuple[str, Any, Any], _Support] = {}
    for call in calls:
        result = results[call.result or ""]
        if call.function == "edges" and result["total"] == answer.count > 0:
            links = seen.group(result["id"], result["edges"][:MOST_MEMBERS])
            place = (result["id"], call.arguments["property"], call.arguments["direction"])
            found[place] = _Support((result["id"],), tuple(links))
    return list(found.values())


def _named_entities(question: str, calls: list[GraphCall], results: Mapping[str, Any]) -> set[str]:
    """The entities that the question names: by id, or by a name the run searched for."""
    named = {one for one in find_identifiers(question) if is_item(one)}
    text = f" {normalise(question)} "
    for call in calls:
        if call.function != "search_entity":
            continue
        matches = results[call.result or ""]["matches"]
        exact = [m for m in matches if f" {normalise(m['matched_text'])} " in text]
        if exact:
            named.add(exact[0]["id"])
    return named
