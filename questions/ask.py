"""What a question asks about its target: the target itself, a value of it, or a group round it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from questions.question_graph import Label, PropertyId


class _Ask(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AskIdentity(_Ask):
    """Which entity the target is."""

    kind: Literal["identity"] = "identity"

    def sentence(self) -> str:
        """The request in one sentence."""
        return "Which entity is ?target?"


class AskYear(_Ask):
    """The year of a property of the target, or of a qualifier of one of its statements.

    ``object`` is the key of the node (a named entity or a variable of the question graph) that the
    statement's value must be, where the target has several statements of the property.
    """

    kind: Literal["year"] = "year"
    property: PropertyId
    property_label: Label
    qualifier: PropertyId | None = None
    qualifier_label: Label | None = None
    object: str | None = None

    @model_validator(mode="after")
    def _paired(self) -> AskYear:
        if (self.qualifier is None) != (self.qualifier_label is None):
            raise ValueError("a qualifier needs its label and a label its qualifier")
        if self.object is not None and self.qualifier is None:
            raise ValueError("object is only for a qualifier of a relation")
        return self

    def sentence(self) -> str:
        """The request in one sentence."""
        if self.qualifier is None:
            return f"In which year is the {self.property_label} of ?target?"
        return (
            f"In which year is the {self.qualifier_label} of ?target's "
            f"{self.property_label} statement?"
        )


class AskQuantity(_Ask):
    """The amount and unit of a property of the target."""

    kind: Literal["quantity"] = "quantity"
    property: PropertyId
    property_label: Label

    def sentence(self) -> str:
        """The request in one sentence."""
        return f"What is the {self.property_label} of ?target, as an amount with its unit?"


class _AskGroup(_Ask):
    property: PropertyId
    property_label: Label
    direction: Literal["in", "out"] = "in"
    """``in``: the members point to the target; ``out``: the target points to them."""

    def _members(self) -> str:
        if self.direction == "in":
            return f"the entities whose {self.property_label} is ?target"
        return f"the entities that are a {self.property_label} of ?target"


class AskGroup(_AskGroup):
    """All members of a group round the target."""

    kind: Literal["group"] = "group"

    def sentence(self) -> str:
        """The request in one sentence."""
        return f"Which are {self._members()}?"


class AskCount(_AskGroup):
    """How many members a group round the target has."""

    kind: Literal["count"] = "count"

    def sentence(self) -> str:
        """The request in one sentence."""
        return f"How many are {self._members()}?"


class _AskExtreme(_AskGroup):
    value_property: PropertyId
    value_property_label: Label


class AskArgmax(_AskExtreme):
    """The member of a group with the highest value or the latest date."""

    kind: Literal["argmax"] = "argmax"

    def sentence(self) -> str:
        """The request in one sentence."""
        return f"Which of {self._members()} has the highest or latest {self.value_property_label}?"


class AskArgmin(_AskExtreme):
    """The member of a group with the lowest value or the earliest date."""

    kind: Literal["argmin"] = "argmin"

    def sentence(self) -> str:
        """The request in one sentence."""
        return f"Which of {self._members()} has the lowest or earliest {self.value_property_label}?"


Ask = Annotated[
    AskIdentity | AskYear | AskQuantity | AskGroup | AskCount | AskArgmax | AskArgmin,
    Field(discriminator="kind"),
]
"""What is asked about the target; ``kind`` is the question's type."""

ANSWER_KINDS: Final = {
    "identity": "identity",
    "year": "year",
    "quantity": "quantity",
    "group": "group",
    "count": "count",
    "argmax": "identity",
    "argmin": "identity",
    "text": "text",
}
"""The answer format that fits each question type."""
