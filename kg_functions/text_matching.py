"""How names are compared: their normal form, their words, and how well a name matches a search.

Shared by the label index, its tests and look-ups by SPARQL, so that a name means the same in all.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Final

_HAN_AND_KANA: Final = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
)
_WORD: Final = re.compile(f"[{_HAN_AND_KANA}]+|[^ {_HAN_AND_KANA}]+")
_UNSPACED: Final = re.compile(f"[{_HAN_AND_KANA}]")
_FIRST_UNSPACED: Final = _HAN_AND_KANA[0]

# Letters whose stroke or ligature Unicode does not take apart, as people type them without it.
_PLAIN_LETTERS: Final = {
    "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th",
    "ħ": "h", "ŧ": "t", "ı": "i",
}  # fmt: skip
_TATWEEL: Final = "\u0640"


class _Folding(dict[int, str]):
    """What each character becomes; filled in as characters are met."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold(chr(code))
        return folded


def _fold(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Mn", "Me") or character == _TATWEEL:
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category in ("Sc", "Sm", "So"):
        return f" {character} "  # "C++" is not "C": a symbol is a word of its own
    if category[0] in "LNM":
        return _PLAIN_LETTERS.get(character, character)
    return " "


_FOLDING: Final = _Folding()


def words(text: str) -> list[str]:
    """The words of a text, folded: no case, accents or punctuation.

    A run of Chinese characters (or kana) is one word, wherever it touches other letters; every
    symbol (``+``, ``€``, ``♥``) is a word; digits of any script are ASCII digits.
    """
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    # Case folding can bring back composed letters, and compatibility forms fold to upper case.
    decomposed = unicodedata.normalize("NFKD", decomposed).casefold()
    return _WORD.findall(decomposed.translate(_FOLDING))


def normalise(text: str) -> str:
    """The normal form of a name: two names are the same where their normal forms are equal.

    Words stand apart by one space, runs of Chinese characters by none ("约翰·史密斯" is
    "约翰史密斯"). Empty for a text of punctuation alone. ``normalise`` changes nothing that it has
    already normalised.
    """
    parts: list[str] = []
    after_unspaced = False
    for word in words(text):
        unspaced = is_unspaced(word)
        if parts and not (unspaced and after_unspaced):
            parts.append(" ")
        parts.append(word)
        after_unspaced = unspaced
    return "".join(parts)


def is_unspaced(word: str) -> bool:
    """Whether a word is a run of characters that are written without spaces (Chinese, kana)."""
    return word >= _FIRST_UNSPACED and _UNSPACED.match(word) is not None


def name_tokens(key: str) -> set[str]:
    """What a normalised name is found by: its words; of Chinese runs each character and pair."""
    tokens: set[str] = set()
    for word in _WORD.findall(key):
        if is_unspaced(word):
            tokens.update(word)
            tokens.update(map("".join, pairwise(word)))
        else:
            tokens.add(word)
    return tokens


class Grade(IntEnum):
    """How well a name matches a search, best first."""

    EXACT = 0
    PREFIX = 1
    WORDS = 2


@dataclass(frozen=True)
class NameSearch:
    """A search text, taken apart.

    Attributes:
        key: the text's normal form; empty where nothing can match.
        tokens: what a name must contain whole.
        prefix: what one of the name's words must begin with, or None: the last word, unless it
            is Chinese or one of ``tokens`` begins with it.
    """

    key: str
    tokens: frozenset[str]
    prefix: str | None

    def grade(self, key: str) -> Grade | None:
        """How well the name with normal form ``key`` matches, or None where it does not.

        An exact match and a prefix match are matches of all words as well.
        """
        if key == self.key:
            return Grade.EXACT
        if key.startswith(self.key):
            return Grade.PREFIX
        tokens = name_tokens(key)
        if not self.tokens <= tokens:
            return None
        if self.prefix is None or any(token.startswith(self.prefix) for token in tokens):
            return Grade.WORDS
        return None


def parse_search(text: str) -> NameSearch:
    """Take a search text apart; its last word is a prefix, Chinese runs become character pairs."""
    found = words(text)
    prefix = found.pop() if found and not is_unspaced(found[-1]) else None
    tokens: set[str] = set()
    for word in found:
        if is_unspaced(word) and len(word) > 1:
            tokens.update(map("".join, pairwise(word)))
        else:
            tokens.add(word)
    if prefix is not None and any(token.startswith(prefix) for token in tokens):
        prefix = None
    return NameSearch(normalise(text), frozenset(tokens), prefix)
