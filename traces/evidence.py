"""The statements that carry an answer: chains seen in the run, from the question to the answer.

Only what the run's own graph calls returned counts. A link is taken between two entities whatever
its direction; class membership (instance of, subclass of) may end a chain at an entity that the
question names, but never lead through a class, since everything is connected through classes.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict

from kg_functions.identifiers import find_identifiers, is_item
from questions.answers import (
    CountAnswer,
    GroupAnswer,
    IdentityAnswer,
    QuantityAnswer,
    YearAnswer,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kg_functions.session import GraphCall
    from questions.answers import Answer
    from traces.records import Trace

CLASS_PROPERTIES: Final = frozenset({"P31", "P279"})
MOST_MEMBERS: Final = 20
"""Of a group's or a count's members, so many are shown with their statements."""


class EvidenceStatement(BaseModel):
    """A statement or a truthy link that the run has seen."""

    model_config = ConfigDict(frozen=True)

    subject: str
    subject_label: str | None
    property: str
    property_label: str | None
    value: dict[str, Any]
    """In the shape of ``claims``."""
    statement: str | None = None
    """The statement's id, where the run saw it (links from ``edges`` have none)."""
    rank: str | None = None
    qualifiers: tuple[dict[str, Any], ...] = ()
    """In the shape of ``claims``; empty for links from ``edges``."""


class Evidence(BaseModel):
    """What an answer rests on."""

    model_config = ConfigDict(frozen=True)

    statements: tuple[EvidenceStatement, ...] = ()
    complete: bool = False
    """Whether each entity that the question names is linked to the answer by what was seen."""


def find_evidence(trace: Trace, results: Mapping[str, Any]) -> Evidence:
    """Find the statements behind a run's answer.

    Args:
        trace: a finished run.
        results: the run's graph results by content hash (``kg_functions.results.read_results``).

    Returns:
        The statements from the question's entities to the answer; empty without an answer.
    """
    if trace.answer is None:
        return Evidence()
    calls = [call for turn in trace.turns for call in turn.graph_calls if call.result in results]
    seen = _Seen()
    for call in calls:
        seen.add(call, results[call.result or ""])
    named = _named_entities(trace.header.question.text, calls, results)
    ends, leaves = _answer_ends(trace.answer, seen, calls, results)
    chain: dict[tuple[str, str, str], EvidenceStatement] = {}
    reached: set[str] = set()
    for end in ends:
        for target, path in seen.paths(end, named).items():
            reached.add(target)
            chain.update({_key(statement): statement for statement in path})
    for leaf in leaves:
        chain[_key(leaf)] = leaf
    return Evidence(
        statements=tuple(chain.values()),
        complete=bool(named) and reached >= named and bool(ends),
    )


class _Seen:
    """The statements and links of a run's results."""

    def __init__(self) -> None:
        self.statements: dict[tuple[str, str, str], EvidenceStatement] = {}
        self._near: dict[str, dict[tuple[str, str, str], str]] = {}
        self._labels: dict[str, str] = {}

    def add(self, call: GraphCall, result: Any) -> None:
        """Take in what one call returned."""
        if call.function in {"search_entity", "search_property"}:
            for match in result["matches"]:
                self._name(match["id"], match["label"])
        elif call.function == "claims":
            for statement in result["statements"]:
                self._add_statement(result["id"], statement)
        elif call.function == "edges":
            for edge in result["edges"]:
                self._add_edge(result["id"], edge)
        elif call.function in {"name", "label"} and isinstance(result, str):
            self._name(next(iter(call.arguments.values())), result)

    def label(self, identifier: str) -> str | None:
        """The label that the run saw for an id."""
        return self._labels.get(identifier)

    def paths(self, start: str, goals: set[str]) -> dict[str, list[EvidenceStatement]]:
        """A shortest chain of statements from ``start`` to each goal that can be reached."""
        back: dict[str, tuple[str, tuple[str, str, str]] | None] = {start: None}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for key, there in self._near.get(here, {}).items():
                through_class = key[1] in CLASS_PROPERTIES and there not in goals
                if there not in back and not through_class:
                    back[there] = (here, key)
                    queue.append(there)
        return {goal: self._walk(back, goal) for goal in goals if goal in back}

    def _walk(
        self, back: Mapping[str, tuple[str, tuple[str, str, str]] | None], goal: str
    ) -> list[EvidenceStatement]:
        path = []
        step = back[goal]
        while step is not None:
            path.append(self._labelled(self.statements[step[1]]))
            step = back[step[0]]
        return path

    def _labelled(self, statement: EvidenceStatement) -> EvidenceStatement:
        value = statement.value
        if value.get("type") == "entity" and value.get("label") is None:
            value = {**value, "label": self.label(value["id"])}
        return statement.model_copy(
            update={"subject_label": self.label(statement.subject), "value": value}
        )

    def _add_statement(self, subject: str, statement: Mapping[str, Any]) -> None:
        value = statement["value"]
        record = EvidenceStatement(
            subject=subject,
            subject_label=None,
            property=statement["property"],
            property_label=statement["property_label"],
            value=value,
            statement=statement["id"],
            rank=statement["rank"],
            qualifiers=tuple(statement["qualifiers"]),
        )
        self._remember(record)
        if value["type"] == "entity":
            self._name(value["id"], value["label"])

    def _add_edge(self, entity: str, edge: Mapping[str, Any]) -> None:
        self._name(edge["entity"], edge["label"])
        self._remember(_link(entity, edge))

    def _remember(self, statement: EvidenceStatement) -> None:
        key = _key(statement)
        known = self.statements.get(key)
        if known is None or (known.statement is None and statement.statement is not None):
            self.statements[key] = statement
        if statement.value["type"] == "entity":
            other = statement.value["id"]
            self._near.setdefault(statement.subject, {})[key] = other
            self._near.setdefault(other, {})[key] = statement.subject

    def _name(self, identifier: str, label: str | None) -> None:
        if label is not None:
            self._labels.setdefault(identifier, label)

    def holding(self, answer: YearAnswer | QuantityAnswer) -> list[EvidenceStatement]:
        """The statements whose value, or else a qualifier of which, is the answer."""
        statements = self.statements.values()
        found = [s for s in statements if _is_value(s.value, answer)] or [
            s for s in statements if any(_is_value(q["value"], answer) for q in s.qualifiers)
        ]
        return [self._labelled(statement) for statement in found]

    def group(self, entity: str, links: list[Mapping[str, Any]]) -> list[EvidenceStatement]:
        """The statements behind some of an entity's edges."""
        return [self._labelled(self.statements[_key(_link(entity, edge))]) for edge in links]


def _link(entity: str, edge: Mapping[str, Any]) -> EvidenceStatement:
    """An edge as the statement that it stands for, in the statement's own direction."""
    out = edge["direction"] == "out"
    subject, value = (entity, edge["entity"]) if out else (edge["entity"], entity)
    return EvidenceStatement(
        subject=subject,
        subject_label=None,
        property=edge["property"],
        property_label=edge["property_label"],
        value={"type": "entity", "id": value, "label": None},
    )


def _is_value(value: Mapping[str, Any], answer: YearAnswer | QuantityAnswer) -> bool:
    if isinstance(answer, YearAnswer):
        return value.get("year") == answer.year
    return value.get("type") == "quantity" and (value["amount"], value["unit"]) == (
        answer.amount,
        answer.unit,
    )


def _answer_ends(
    answer: Answer, seen: _Seen, calls: list[GraphCall], results: Mapping[str, Any]
) -> tuple[list[str], list[EvidenceStatement]]:
    """Where the chains must end, and the statements that hold the answer's value itself."""
    if isinstance(answer, IdentityAnswer):
        return [answer.id], []
    if isinstance(answer, GroupAnswer):
        return list(answer.ids[:MOST_MEMBERS]), []
    if isinstance(answer, (YearAnswer, QuantityAnswer)):
        leaves = seen.holding(answer)
        return list(dict.fromkeys(leaf.subject for leaf in leaves)), leaves
    if isinstance(answer, CountAnswer):
        return _counted(answer, seen, calls, results)
    return [], []


def _counted(
    answer: CountAnswer, seen: _Seen, calls: list[GraphCall], results: Mapping[str, Any]
) -> tuple[list[str], list[EvidenceStatement]]:
    """The entity whose links the run read last and that has just so many of them."""
    for call in reversed(calls):
        result = results[call.result or ""]
        if call.function == "edges" and result["total"] == answer.count > 0:
            return [result["id"]], seen.group(result["id"], result["edges"][:MOST_MEMBERS])
    return [], []


def _named_entities(question: str, calls: list[GraphCall], results: Mapping[str, Any]) -> set[str]:
    """The entities that the question names: by id, or by a name the run searched for."""
    named = {one for one in find_identifiers(question) if is_item(one)}
    plain = _plain(question)
    for call in calls:
        if call.function != "search_entity":
            continue
        matches = results[call.result or ""]["matches"]
        exact = [m for m in matches if f" {_plain(m['matched_text']).strip()} " in plain]
        if exact:
            named.add(exact[0]["id"])
    return named


def _plain(text: str) -> str:
    """Lower case, without accents and punctuation, one space between and around the words."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    kept = (c if c.isalnum() else " " for c in decomposed if not unicodedata.combining(c))
    return " " + " ".join("".join(kept).split()) + " "


def _key(statement: EvidenceStatement) -> tuple[str, str, str]:
    value = statement.value
    text = value["id"] if value["type"] == "entity" else repr(sorted(value.items(), key=str))
    return (statement.subject, statement.property, text)
