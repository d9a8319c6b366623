"""Exact, typed scoring of an answer against a question's gold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

from kg_functions.errors import CallError
from kg_functions.text_matching import normalise
from questions.answer_reading import read_answer
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
from questions.formats import read_format
from questions.units import same_quantity

if TYPE_CHECKING:
    from kg_functions.graph import Graph
    from questions.question import Question

_PAGE: Final = 100
_SIGNS: Final = re.compile(r"[#%&@]|(?<!\w)-(?=\d)")


class Score(BaseModel):
    """Whether an answer is right, and why not.

    ``precision``, ``recall`` and ``f1`` are given for groups alone.
    """

    model_config = ConfigDict(frozen=True)

    correct: bool
    reason: str | None = None
    """Why the answer is wrong; None for a right one. It names the gold: never for a solver."""
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None


def score(question: Question, answer: Answer | None, graph: Graph) -> Score:
    """Score an answer exactly.

    Args:
        question: with its gold.
        answer: what the run ended with; None (no answer) is wrong.
        graph: resolves redirects, and labels where the format asks for text. Identifiers that it
            does not hold are compared as they stand.
    """
    gold = question.gold
    if answer is None:
        return Score(correct=False, reason="no answer")
    match gold, answer:
        case IdentityAnswer(), IdentityAnswer():
            return _same_entity(gold.id, answer.id, graph)
        case IdentityAnswer(), TextAnswer():
            return _names_entity(gold.id, answer.text, graph)
        case TextAnswer(), TextAnswer():
            wrong = f"{answer.text!r} is not {gold.text!r}"
            return _verdict(same_text(gold.text, answer.text), wrong)
        case ((YearAnswer() | CountAnswer() | QuantityAnswer()), TextAnswer()):
            return _written_out(question, answer.text, graph)
        case YearAnswer(), YearAnswer():
            return _verdict(gold.year == answer.year, f"{answer.year} is not {gold.year}")
        case QuantityAnswer(), QuantityAnswer():
            return _same_amount(gold, answer, graph)
        case GroupAnswer(), GroupAnswer():
            return _same_group(gold.ids, answer.ids, graph)
        case CountAnswer(), CountAnswer():
            return _verdict(gold.count == answer.count, f"{answer.count} is not {gold.count}")
    return Score(correct=False, reason=f"{gold.kind} was asked for, {answer.kind} was given")


def resolve(graph: Graph, ids: Iterable[str]) -> dict[str, str]:
    """The id that each id answers as: its redirect's target, or itself."""
    asked = list(dict.fromkeys(ids))
    if not asked:
        return {}
    answers = graph.degree(asked)
    return {i: _answered_as(i, answers) for i in asked}


def same_text(text: str, other: str) -> bool:
    """Whether two texts are the same but for case, accents, punctuation and white space.

    Signs that tell texts apart count (``C#``, ``100%``), and so does a number's minus.
    """
    return _text_key(text) == _text_key(other)


def _text_key(text: str) -> tuple[str, ...]:
    return (normalise(text) or " ".join(text.split()), *_SIGNS.findall(text))


def _answered_as(identifier: str, answers: Mapping[str, object]) -> str:
    result = answers.get(identifier)
    return str(result["id"]) if isinstance(result, Mapping) and "id" in result else identifier


def _verdict(correct: bool, reason: str) -> Score:
    return Score(correct=correct, reason=None if correct else reason)


def _written_out(question: Question, text: str, graph: Graph) -> Score:
    """A number handed in as text, where the format asks for text."""
    try:
        answer = read_answer(text, read_format(question.gold.kind))
    except AnswerFormatError:
        return Score(correct=False, reason=f"{text!r} is no {question.gold.kind}")
    return score(question, answer, graph)


def _same_entity(gold: str, given: str, graph: Graph) -> Score:
    target = resolve(graph, [gold, given])
    return _verdict(target[gold] == target[given], f"{given} is not {gold}")


def _names_entity(gold: str, text: str, graph: Graph) -> Score:
    """An id in a text counts as itself; a name counts where it names one entity only."""
    try:
        return _same_entity(gold, graph.check_id(text), graph)
    except CallError:
        named = _named(text, graph)
    if not named:
        return Score(correct=False, reason=f"{text!r} names no entity")
    if len(named) > 1:
        return Score(correct=False, reason=f"{text!r} names {len(named)} entities: {named[0]}, ...")
    return _same_entity(gold, named[0], graph)


def _named(text: str, graph: Graph) -> list[str]:
    """Entities with this label in one of the languages; where there are none, with this alias."""
    found: dict[str, list[str]] = {"label": [], "alias": []}
    offset: int | None = 0
    while offset is not None:
        page = graph.search_entity(text, limit=_PAGE, offset=offset)
        exact = [m for m in page["matches"] if same_text(m["matched_text"], text)]
        for match in exact:
            found[match["matched"]].append(match["id"])
        # Exact names come first: a page that ends with another is the last of interest.
        more = bool(page["matches"]) and _same_name(page["matches"][-1]["matched_text"], text)
        offset = page["next_offset"] if more else None
    return found["label"] or found["alias"]


def _same_name(text: str, other: str) -> bool:
    """Whether the label index takes the two for one name; coarser than ``same_text``."""
    return normalise(text) == normalise(other)


def _same_amount(gold: QuantityAnswer, given: QuantityAnswer, graph: Graph) -> Score:
    target = resolve(graph, [unit for unit in (gold.unit, given.unit) if unit is not None])
    same = same_quantity(
        gold.amount,
        None if gold.unit is None else target[gold.unit],
        given.amount,
        None if given.unit is None else target[given.unit],
    )
    return _verdict(same, f"{_amount(given)} is not {_amount(gold)}")


def _amount(quantity: QuantityAnswer) -> str:
    return f"{quantity.amount} {quantity.unit or '(no unit)'}"


def _same_group(gold: Iterable[str], given: Iterable[str], graph: Graph) -> Score:
    target = resolve(graph, [*gold, *given])
    wanted, found = {target[i] for i in gold}, {target[i] for i in given}
    hits = len(wanted & found)
    precision, recall = hits / len(found), hits / len(wanted)
    missing, extra = len(wanted - found), len(found - wanted)
    return Score(
        correct=wanted == found,
        reason=None if wanted == found else f"{missing} members missing, {extra} too many",
        precision=precision,
        recall=recall,
        f1=2 * hits / (len(wanted) + len(found)),
    )
