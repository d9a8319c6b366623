"""Finding names without an index: what ``search_entity`` promises, said in plain Python.

Written from the promise alone and sharing no code with the index, so that comparing the two means
something.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kg_functions.label_index_build import NameRecord

ORDER = (
    *("en", "fr", "de"),
    *("zh", "zh-hans", "zh-cn", "zh-sg", "zh-my", "zh-hant", "zh-tw", "zh-hk", "zh-mo"),
    *("ar", "ru", "mul"),
)
PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i"}
    | {"æ": "ae", "œ": "oe", "þ": "th", "\u0640": None}
)


@functools.cache
def is_chinese(character: str) -> bool:
    return unicodedata.name(character, "").startswith(("CJK UNIFIED", "HIRAGANA", "KATAKANA"))


def spaced(text: str) -> str:
    """Folded text in which everything but letters, digits and symbols is a space."""
    for _ in range(2):
        text = unicodedata.normalize("NFKD", text).casefold()
    text = "".join(c for c in text if not unicodedata.combining(c)).translate(PLAIN)
    pieces = []
    for c in text:
        if c.isdecimal():
            pieces.append(str(int(c)))
        elif c.isalnum():
            pieces.append(c)
        elif unicodedata.category(c) in ("Sm", "Sc", "So"):
            pieces.append(f" {c} ")
        else:
            pieces.append(" ")
    return "".join(pieces)


@functools.cache
def split(text: str) -> tuple[str, ...]:
    """Words; a stretch of Chinese is one."""
    found: list[str] = []
    for part in spaced(text).split():
        for place, c in enumerate(part):
            if place == 0 or is_chinese(c) != is_chinese(part[place - 1]):
                found.append("")
            found[-1] += c
    return tuple(found)


@functools.cache
def form(text: str) -> str:
    """One string for all ways to write a name."""
    joined = " ".join(split(text))
    return re.sub(
        "(?<=(.)) (?=(.))",
        lambda gap: "" if is_chinese(gap[1]) and is_chinese(gap[2]) else " ",
        joined,
    )


def contains(name: str, query: str) -> bool:
    """Whether a name's form has every word of a query, the last one as a prefix."""
    words, asked = split(name), split(query)
    for place, word in enumerate(asked):
        if is_chinese(word[0]):
            pieces = [word] if len(word) == 1 else [word[i : i + 2] for i in range(len(word) - 1)]
            stretches = [stretch for stretch in words if is_chinese(stretch[0])]
            if not all(any(piece in stretch for stretch in stretches) for piece in pieces):
                return False
        elif place == len(asked) - 1:
            if not any(own.startswith(word) for own in words):
                return False
        elif word not in words:
            return False
    return True


class Found(NamedTuple):
    """One entity as a page should show it."""

    id: str
    matched: str
    text: str
    language: str


def search(
    records: Iterable[NameRecord], query: str, kind: str, language: str | None
) -> list[Found]:
    """Everything that matches, in order."""
    asked = form(query)
    ranked = []
    for record in records:
        if not asked or (record.id[0] == "P") != (kind == "property"):
            continue
        matches = list(_matches(record, asked, query, language))
        if matches:
            best = min(matches)
            english = best[2] if kind == "property" and language is None else False
            rank = (best[:2], english, -record.sitelinks, -record.in_degree, int(record.id[1:]))
            ranked.append(
                (rank, Found(record.id, ("label", "alias")[best[1]], best[4], ORDER[best[3]]))
            )
    return [found for _, found in sorted(ranked)]


def _matches(
    record: NameRecord, asked: str, query: str, language: str | None
) -> Iterable[tuple[int, int, bool, int, str]]:
    """For each name that matches: grade, alias or not, not English, place of language, text."""
    names = [(code, text, 0) for code, text in record.labels.items()]
    names += [(code, text, 1) for code, texts in record.aliases.items() for text in texts]
    for code, text, alias in names:
        if code not in ORDER or not _counts(code, language):
            continue
        own = form(text)
        if own == asked:
            grade = 0
        elif own.startswith(asked):
            grade = 1
        elif contains(own, query):
            grade = 2
        else:
            continue
        yield grade, alias, code != "en", ORDER.index(code), text


def _counts(code: str, language: str | None) -> bool:
    return language in (None, code) or (language == "zh" and code.startswith("zh-"))


def pages(found: Sequence[Found], size: int) -> list[list[Found]]:
    """The pages of a result."""
    return [list(found[start : start + size]) for start in range(0, len(found), size)]
