"""What a run's graph calls showed it: statements and links, and the chains that they form."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict

from kg_functions.text_matching import normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kg_functions.session import GraphCall

CLASS_PROPERTIES: Final = frozenset({"P31", "P279"})


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


class Seen:
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
        self._remember(link(entity, edge))

    def _remember(self, statement: EvidenceStatement) -> None:
        key = statement_key(statement)
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

    def holding(self, fits: Callable[[Mapping[str, Any]], bool]) -> list[EvidenceStatement]:
        """The statements whose value fits, or else those with a qualifier whose value does."""
        statements = self.statements.values()
        found = [s for s in statements if fits(s.value)] or [
            s for s in statements if any(fits(q["value"]) for q in s.qualifiers)
        ]
        return [self._labelled(statement) for statement in found]

    def labelled(self, label: str) -> list[str]:
        """The ids that the run saw under a label."""
        return [one for one, seen in self._labels.items() if normalise(seen) == normalise(label)]

    def group(self, entity: str, links: list[Mapping[str, Any]]) -> list[EvidenceStatement]:
        """The statements behind some of an entity's edges."""
        return [
            self._labelled(self.statements[statement_key(link(entity, edge))]) for edge in links
        ]


def link(entity: str, edge: Mapping[str, Any]) -> EvidenceStatement:
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


def statement_key(statement: EvidenceStatement) -> tuple[str, str, str]:
    value = statement.value
    text = value["id"] if value["type"] == "entity" else repr(sorted(value.items(), key=str))
    return (statement.subject, statement.property, text)
