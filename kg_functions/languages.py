"""The six languages of the graph functions, the Chinese variants, and ``mul``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    T = TypeVar("T")

LANGUAGES: Final = ("en", "fr", "de", "zh", "ar", "ru")
"""The languages that every function reports, in their fixed order."""

ZH_VARIANTS: Final = ("zh-hans", "zh-cn", "zh-sg", "zh-my", "zh-hant", "zh-tw", "zh-hk", "zh-mo")
"""Where Chinese text is looked for when there is none under ``zh`` itself, in this order."""

MUL: Final = "mul"
"""Wikidata's code for a name that is the same in many languages; labels and aliases only."""

STORED_LANGUAGES: Final = (*LANGUAGES, *ZH_VARIANTS, MUL)
"""Every language code whose labels, descriptions or aliases the functions may read."""


def pick(texts: Mapping[str, T], language: str, *, mul: bool) -> tuple[T, str] | None:
    """The text for one of the six languages and the code it was found under, or None.

    A language has its own text; Chinese then tries its variants; then, where ``mul`` is true,
    the text for many languages. No language falls back to another.
    """
    chain = (language, *ZH_VARIANTS) if language == "zh" else (language,)
    for code in (*chain, MUL) if mul else chain:
        if code in texts:
            return texts[code], code
    return None


def by_language(texts: Mapping[str, T], *, mul: bool) -> dict[str, T]:
    """The texts of the six languages that have one, in order; ``mul`` itself comes last.

    A language without a text of its own (or a variant's) is left out: ``mul`` is reported under
    its own name, so that a reader sees where a name comes from.
    """
    found = {}
    for language in LANGUAGES:
        hit = pick(texts, language, mul=False)
        if hit is not None:
            found[language] = hit[0]
    if mul and MUL in texts:
        found[MUL] = texts[MUL]
    return found
