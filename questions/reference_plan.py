"""The reference solver's plan as data: what to do, in order, whatever interface plays it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from questions.ask import Ask, AskArgmax, AskArgmin, AskYear
from questions.question_graph import Condition, QuestionGraph

if TYPE_CHECKING:
    from questions.formats import AnswerFormat


class _Step(BaseModel):
    model_config = ConfigDict(frozen=True)


class FindEntities(_Step):
    """Search each named entity by its label until its id is among the matches."""

    kind: Literal["find_entities"] = "find_entities"
    labels: dict[str, str]
    """Label by id."""

    def title(self) -> str:
        """What the step does, for a person who watches."""
        return f"I look up the named entities: {', '.join(self.labels.values())}."


class FindProperties(_Step):
    """Search each property by its label until its id is among the matches."""

    kind: Literal["find_properties"] = "find_properties"
    labels: dict[str, str]
    """Label by id."""

    def title(self) -> str:
        """What the step does, for a person who watches."""
        return f"I look up the properties: {', '.join(self.labels.values())}."


class FollowConditions(_Step):
    """Compute the candidates of every variable from the conditions' links."""

    kind: Literal["follow_conditions"] = "follow_conditions"
    conditions: tuple[Condition, ...]

    def title(self) -> str:
        """What the step does, for a person who watches."""
        count = len(self.conditions)
        return f"I follow {'the condition' if count == 1 else f'the {count} conditions'}."


class CheckCandidates(_Step):
    """Keep the candidates of the target for which all conditions hold together."""

    kind: Literal["check_candidates"] = "check_candidates"
    conditions: tuple[Condition, ...]
    target: str

    def title(self) -> str:
        """What the step does, for a person who watches."""
        return "I check which candidates meet all conditions together."


class GiveAnswer(_Step):
    """Read what is asked of the target and hand it in."""

    kind: Literal["give_answer"] = "give_answer"
    ask: Ask
    target: str
    known: str | None
    """The target's id where it is a named entity, None where the conditions find it."""
    as_text: bool
    """Whether the answer format asks for text."""

    def title(self) -> str:
        """What the step does, for a person who watches."""
        return f"I answer: {self.ask.sentence()}"


Step = Annotated[
    FindEntities | FindProperties | FollowConditions | CheckCandidates | GiveAnswer,
    Field(discriminator="kind"),
]


def make_plan(graph: QuestionGraph, ask: Ask, answer_format: AnswerFormat) -> tuple[Step, ...]:
    """The steps that lead from the named entities to the answer; no gold answer goes in."""
    steps: list[Step] = [FindEntities(labels={e.id: e.label for e in graph.named_entities})]
    properties = {c.property: c.property_label for c in graph.conditions} | _asked_properties(ask)
    if properties:
        steps.append(FindProperties(labels=properties))
    if graph.conditions:
        steps.append(FollowConditions(conditions=graph.conditions))
        steps.append(CheckCandidates(conditions=graph.conditions, target=graph.target))
    known = None if graph.conditions else graph.target
    as_text = answer_format.kind == "text"
    steps.append(GiveAnswer(ask=ask, target=graph.target, known=known, as_text=as_text))
    return tuple(steps)


def _asked_properties(ask: Ask) -> dict[str, str]:
    """Label by id of the properties that reading the answer needs."""
    if ask.kind == "identity":
        return {}
    found = {ask.property: ask.property_label}
    if isinstance(ask, AskYear) and ask.qualifier is not None:
        found[ask.qualifier] = ask.qualifier_label or ask.qualifier
    if isinstance(ask, (AskArgmax, AskArgmin)):
        found[ask.value_property] = ask.value_property_label
    return found
