"""Names to build label indexes of, and their comparison with a plain search."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from kg_functions.errors import BackendError
from kg_functions.label_index import LabelIndex, NameHit
from kg_functions.label_index_build import LabelIndexWriter, NameRecord
from tests.support import plain_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

WORDS = (
    "a", "ab", "Abc", "ÄB", "é", "E\u0301", "É", "élan", "Łab", "straße", "STRASSE", "b", "bc",
    "c++", "c", "1", "٢", "2", "O'Neil", "o’neil", "new-york", "new", "york", "ﬁn",
    "北京", "北", "京大", "北京大学", "大学", "約翰", "カード",
    "القاهرة", "القا", "أحمد", "احمد", "Москва", "моск", "Ёлка", "елка", "й",
    "😂", "...", "'",
)  # fmt: skip
GAPS = (" ", "  ", "-", ", ", "·", ".", "\u00a0", "")
CODES = ("en", "fr", "de", "zh", "zh-hans", "zh-tw", "ar", "ru", "mul", "it")

Query = tuple[str, str, str | None]


def build(folder: Path, names: Iterable[NameRecord]) -> LabelIndex:
    with LabelIndexWriter(folder / "labels", memory_bytes=1) as writer:
        for record in names:
            writer.add(record)
    return LabelIndex.open(folder / "labels")


def all_pages(index: LabelIndex, query: Query, size: int) -> tuple[int, list[list[NameHit]]]:
    """The total and every page up to the first empty one."""
    text, kind, language = query
    pages: list[list[NameHit]] = []
    while True:
        page = index.search(
            text, kind=kind, limit=size, offset=size * len(pages), language=language
        )
        if not page.hits:
            return page.total, pages
        pages.append(page.hits)


def disagreements(
    folder: Path, names: Sequence[NameRecord], asked: Iterable[Query], size: int = 3
) -> list[Query]:
    """The queries for which the index and the plain search differ in anything."""
    index = build(folder, names)
    differ = []
    for query in asked:
        expected = plain_names.search(names, *query)
        try:
            total, pages = all_pages(index, query, size)
        except BackendError:  # found by a name that the entity does not have
            differ.append(query)
            continue
        seen = [[(h.id, h.matched, h.matched_text, h.language) for h in page] for page in pages]
        if total != len(expected) or seen != plain_names.pages(expected, size):
            differ.append(query)
    return differ


def sample() -> tuple[list[NameRecord], list[Query]]:
    """A fixed set of names and queries in which every rule decides something."""
    rng = random.Random(3)

    def text() -> str:
        return "".join(rng.choice(WORDS) + rng.choice(GAPS) for _ in range(rng.randint(1, 3)))

    names = [
        NameRecord(
            id=f"{'QP'[number % 3 == 0]}{number}",
            labels={code: text() for code in rng.sample(CODES, 2)},
            aliases={code: [text(), text()] for code in rng.sample(CODES, 2)},
            sitelinks=rng.randrange(3),
            in_degree=rng.randrange(3),
        )
        for number in range(1, 120)
    ]
    asked: list[Query] = [
        (word, kind, language)
        for word in (*WORDS, *(text() for _ in range(15)))
        for kind in ("item", "property")
        for language in (None, "zh")
    ]
    return names, asked
