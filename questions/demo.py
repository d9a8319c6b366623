"""The demo questions: answered by the bundled demo graph, with gold and question graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from questions.question_files import read_questions

if TYPE_CHECKING:
    from questions.question import Question


def demo_questions() -> list[Question]:
    """The demo questions, the one that a demonstration shows first in front."""
    return read_questions(Path(__file__).with_name("demo_questions.jsonl"))
