"""A question in two types: what a solver may see, and the whole with its gold answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from questions.answer_types import Answer, ItemId
from questions.ask import ANSWER_KINDS, Ask, AskYear
from questions.formats import AnswerFormat
from questions.question_graph import Label, NamedEntity, PropertyId, QuestionGraph

InstructionKey = Literal["one_answer", "all_targets", "empty_set"]
"""Which instruction text goes with the question: that it has one answer, that the complete set of
targets is asked for, or that there may be none."""

QuestionKind = Literal["single_entity", "multi_hop"]

QuestionType = Literal["identity", "year", "quantity", "group", "count", "argmax", "argmin", "text"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PublicQuestion(_Model):
    """What a solver may see of a question."""

    id: Annotated[str, Field(min_length=1)]
    text: Annotated[str, Field(min_length=1)]
    language: str = "en"
    answer_format: AnswerFormat
    instruction: InstructionKey = "one_answer"


class EvidenceLink(_Model):
    """One statement on the way from the named entities to the answer.

    ``value`` is an item id, or the value as a person writes it.
    """

    subject: ItemId
    property: PropertyId
    value: str


class GenerationStep(_Model):
    """How one part of a question came about: the step's name and whatever it recorded."""

    step: Label
    details: dict[str, JsonValue] = Field(default_factory=dict)


class Question(_Model):
    """A question with everything that is known of it. No solver is given this type.

    It is no subclass of ``PublicQuestion``, so that a function which takes the public part refuses
    it; ``public()`` makes that part.
    """

    id: Annotated[str, Field(min_length=1)]
    text: Annotated[str, Field(min_length=1)]
    language: str = "en"
    answer_format: AnswerFormat
    instruction: InstructionKey = "one_answer"

    kind: QuestionKind
    type: QuestionType
    gold: Answer
    graph: QuestionGraph | None = None
    """The question graph, where the question has one; ``ask`` says what is asked of its target."""
    ask: Ask | None = None
    named_entities: tuple[NamedEntity, ...] = ()
    target: ItemId | None = None
    """The entity that the graph's target stands for."""
    evidence: tuple[EvidenceLink, ...] = ()
    prominence: Annotated[float, Field(ge=0, le=1)] | None = None
    """Long-tail score of the seed: 0 popular, 1 rare."""
    snapshot: str | None = None
    """The data that the gold answer was taken from."""
    provenance: tuple[GenerationStep, ...] = ()

    @model_validator(mode="after")
    def _fits_together(self) -> Question:
        wanted, asked = ANSWER_KINDS[self.type], self.answer_format.kind
        if asked not in (wanted, "text"):
            raise ValueError(f"a question of type {self.type} cannot ask for {asked}")
        if self.gold.kind not in (wanted, asked):
            raise ValueError(f"a question of type {self.type} has no {self.gold.kind} as gold")
        if (self.graph is None) != (self.ask is None):
            raise ValueError("graph and ask belong together: both or none")
        if self.graph is not None and self.ask is not None:
            self._check_graph(self.graph, self.ask)
        return self

    def _check_graph(self, graph: QuestionGraph, ask: Ask) -> None:
        """The graph, the request and the other fields tell one story."""
        if ask.kind != self.type and not (self.type == "text" and ask.kind == "identity"):
            raise ValueError(f"the question is of type {self.type}, its request is {ask.kind}")
        if {e.id for e in self.named_entities} != {e.id for e in graph.named_entities}:
            raise ValueError("named_entities are not those of the graph")
        if isinstance(ask, AskYear) and ask.object is not None:
            graph.require(ask.object)

    def public(self) -> PublicQuestion:
        """The part that a solver may see."""
        return PublicQuestion(
            id=self.id,
            text=self.text,
            language=self.language,
            answer_format=self.answer_format,
            instruction=self.instruction,
        )
