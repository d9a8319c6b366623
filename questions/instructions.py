"""The instruction that every interface gives to every model, word for word the same."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from questions.question import InstructionKey

_TEXTS: Final[dict[str, str]] = {
    "one_answer": (
        "The question has an answer, and the graph holds what is needed to find it. The answer "
        "may be several links away from anything that the question names. Go on until you have "
        "found it: if one path leads nowhere, try another, and check that what you found meets "
        "every condition of the question before you hand it in."
    ),
    "all_targets": (
        "Several entities may meet the question's conditions. Find all of them: the answer is "
        "the complete set, neither more nor fewer. Check each one against every condition "
        "before you hand the set in."
    ),
    "empty_set": (
        "The question may have no answer in this graph. Search until you have either found the "
        "answer or made sure that nothing meets every condition; in that case say so in the "
        "form that the answer format gives."
    ),
}


def instruction_text(key: InstructionKey) -> str:
    """The instruction's text."""
    return _TEXTS[key]


def instruction_hash(key: InstructionKey) -> str:
    """A short hash of the text, written into every trace so that equal instructions can be told."""
    return hashlib.blake2b(_TEXTS[key].encode(), digest_size=8).hexdigest()
