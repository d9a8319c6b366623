"""The question graph: hidden variables, named entities and the conditions between them."""

from __future__ import annotations

from collections import deque
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from kg_functions.identifiers import is_property
from questions.answer_types import ItemId

TARGET: Final = "target"
"""The usual name of the variable that is asked for."""

PREFIXES: Final = (
    "PREFIX wd: <http://www.wikidata.org/entity/>\n"
    "PREFIX wdt: <http://www.wikidata.org/prop/direct/>\n"
)

CERTIFY: Final = "{prefixes}SELECT DISTINCT ?{target} WHERE {{\n{patterns}\n}} LIMIT {limit}"
"""Two answers are enough to know that the target is not alone."""


def _property(value: str) -> str:
    if not is_property(value):
        raise ValueError(f"{value!r} is not a property id such as 'P31'")
    return value


PropertyId = Annotated[str, AfterValidator(_property)]
"""A property id such as ``P31``."""

Label = Annotated[str, Field(min_length=1)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Variable(_Model):
    """A hidden entity: ``target``, ``v1``, ``v2``, ..."""

    kind: Literal["variable"] = "variable"
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]

    @property
    def key(self) -> str:
        """How conditions refer to the node."""
        return self.name

    @property
    def text(self) -> str:
        """How a person reads the node."""
        return f"?{self.name}"

    @property
    def sparql(self) -> str:
        """How a query writes the node."""
        return f"?{self.name}"


class NamedEntity(_Model):
    """An entity that the question names."""

    kind: Literal["entity"] = "entity"
    id: ItemId
    label: Label

    @property
    def key(self) -> str:
        """How conditions refer to the node."""
        return self.id

    @property
    def text(self) -> str:
        """How a person reads the node."""
        return self.label

    @property
    def sparql(self) -> str:
        """How a query writes the node."""
        return f"wd:{self.id}"


Node = Annotated[Variable | NamedEntity, Field(discriminator="kind")]


class Condition(_Model):
    """``subject --property--> object``; both ends are keys of nodes."""

    subject: str
    property: PropertyId
    property_label: Label
    object: str


class QuestionGraph(_Model):
    """What a question says of its target.

    A question about one fact of a named entity has that entity as its only node and no condition.
    Different variables may stand for the same entity.
    """

    nodes: Annotated[tuple[Node, ...], Field(min_length=1)]
    conditions: tuple[Condition, ...] = ()
    target: str = TARGET

    @model_validator(mode="after")
    def _whole(self) -> QuestionGraph:
        keys = [node.key for node in self.nodes]
        doubled = sorted({key for key in keys if keys.count(key) > 1})
        if doubled:
            raise ValueError(f"the node {doubled[0]} stands twice")
        for key in (self.target, *(end for c in self.conditions for end in (c.subject, c.object))):
            self.require(key)
        for condition in self.conditions:
            if condition.subject == condition.object:
                raise ValueError(f"the condition {condition.property} leads from a node to itself")
        if len(self.nodes) > 1 and not isinstance(self.node(self.target), Variable):
            raise ValueError(f"the target {self.target} must be a variable")
        apart = sorted(set(keys) - set(self.distances()))
        if apart:
            raise ValueError(f"the node {apart[0]} is not connected with the target")
        if not self.named_entities:
            raise ValueError("the graph names no entity")
        return self

    def node(self, key: str) -> Variable | NamedEntity:
        """The node with this key."""
        self.require(key)
        return next(node for node in self.nodes if node.key == key)

    def require(self, key: str) -> None:
        """Raise ``ValueError`` where no node has this key."""
        if all(node.key != key for node in self.nodes):
            raise ValueError(f"{key} is no node of the graph")

    @property
    def named_entities(self) -> tuple[NamedEntity, ...]:
        """The named entities in the order of the nodes."""
        return tuple(node for node in self.nodes if isinstance(node, NamedEntity))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in the order of the nodes."""
        return tuple(node for node in self.nodes if isinstance(node, Variable))

    def distances(self) -> dict[str, int]:
        """Steps from the target to every node that can be reached, edges read both ways."""
        distance = {self.target: 0}
        waiting = deque([self.target])
        while waiting:
            here = waiting.popleft()
            for condition in self.conditions:
                ends = (condition.subject, condition.object)
                if here in ends:
                    there = ends[1] if here == ends[0] else ends[0]
                    if there not in distance:
                        distance[there] = distance[here] + 1
                        waiting.append(there)
        return distance

    @property
    def depth(self) -> int:
        """The longest of the shortest paths from the target to a named entity."""
        distance = self.distances()
        return max(distance[entity.key] for entity in self.named_entities)

    @property
    def hops(self) -> int:
        """The number of conditions."""
        return len(self.conditions)

    def text(self) -> str:
        """One line a condition, such as ``?target --located in--> Paris``; labels only."""
        if not self.conditions:
            return self.node(self.target).text
        return "\n".join(
            f"{self.node(c.subject).text} --{c.property_label}--> {self.node(c.object).text}"
            for c in self.conditions
        )

    def sparql(self, limit: int = 2) -> str:
        """The query whose answers are the graph's targets, at most ``limit`` of them."""
        if self.conditions:
            patterns = [
                f"  {self.node(c.subject).sparql} wdt:{c.property} {self.node(c.object).sparql} ."
                for c in self.conditions
            ]
            name = self.target
        else:
            name = TARGET
            patterns = [f"  VALUES ?{TARGET} {{ {self.node(self.target).sparql} }}"]
        return CERTIFY.format(
            prefixes=PREFIXES, target=name, patterns="\n".join(patterns), limit=limit
        )
