"""Answers: their types, how a model's value becomes one, and what a prompt says of each format."""

from __future__ import annotations

from questions.answer_reading import describe_format, read_answer
from questions.answer_types import (
    Answer,
    CountAnswer,
    GroupAnswer,
    IdentityAnswer,
    QuantityAnswer,
    TextAnswer,
    YearAnswer,
)
from questions.errors import AnswerFormatError

__all__ = [
    "Answer",
    "AnswerFormatError",
    "CountAnswer",
    "GroupAnswer",
    "IdentityAnswer",
    "QuantityAnswer",
    "TextAnswer",
    "YearAnswer",
    "describe_format",
    "read_answer",
]
