"""Finds items and properties by name in the label index of a graph folder.

The index is exact where full-text indexes usually are not: every page has its place in one total
order, and ``total`` counts entities, not names. Two kinds of tantivy documents make that cheap:

- One document an entity holds the normal forms of its labels and aliases (fields ``label`` and
  ``alias``) and the union of their words. It answers exact matches, prefixes and single words by
  itself: tantivy counts, and sorts by ``order``, the place of the entity among equals (sitelinks,
  in-degree, id) that was fixed when the index was built. A page costs a page, whatever matches.
- One document a name holds that name's words alone, because several words must stand in one name.
  A search for several words collects all that match there; they are few beside single letters.

Every term stands in the index once for all languages and once for each language it has, behind
that language's scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import orjson
import tantivy

from kg_functions.errors import BackendDown, BackendError, GraphSetupError, InvalidArgument
from kg_functions.label_index_layout import (
    KINDS,
    LAYOUT,
    META_FILE,
    NAME_LANGUAGES,
    Kind,
    Name,
    file_sizes,
    languages_of,
    open_tantivy,
    scope,
)
from kg_functions.text_matching import Grade, parse_search

if TYPE_CHECKING:
    from pathlib import Path

    from kg_functions.text_matching import NameSearch


@dataclass(frozen=True)
class NameHit:
    """An entity that was found, and the name it was found by.

    Attributes:
        id: item or property id.
        matched: whether the name is a label or an alias.
        matched_text: the name as Wikidata has it.
        language: the code the name stands under, such as ``en``, ``zh-hant`` or ``mul``.
        datatype: of a property; None for an item.
    """

    id: str
    matched: Literal["label", "alias"]
    matched_text: str
    language: str
    datatype: str | None = None


@dataclass(frozen=True)
class NamePage:
    """One page of hits and the number of entities that match in all."""

    total: int
    hits: list[NameHit]


class LabelIndex:
    """The label index of a graph folder, open for reading; searches may run in several threads."""

    def __init__(self, sides: dict[Kind, _Side]) -> None:
        self._sides = sides

    @classmethod
    def open(cls, folder: Path) -> LabelIndex:
        """Open the index that ``LabelIndexWriter`` wrote into ``folder``.

        Raises:
            GraphSetupError: there is none, it is damaged, or its layout is another one.
        """
        try:
            meta = orjson.loads((folder / META_FILE).read_bytes())
            if meta["layout"] != LAYOUT:
                raise ValueError(f"its layout is {meta['layout']}, this program reads {LAYOUT}")
            if meta["files"] != file_sizes(folder):
                raise ValueError("its files are not those that were written")
            sides = {kind: _Side(folder / kind, kind) for kind in KINDS}
        except (OSError, ValueError, KeyError, TypeError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise GraphSetupError(
                f"The label index {folder} cannot be read ({reason}); build the graph again."
            ) from error
        return cls(sides)

    def search(
        self, text: str, *, kind: Kind, limit: int, offset: int, language: str | None = None
    ) -> NamePage:
        """Find the entities that have a name with every word of ``text``, the last as a prefix.

        Case, accents, punctuation and white space do not matter; Chinese is matched by character
        pairs. Best first: exact label, exact alias, label prefix, alias prefix, all words in a
        label, all words in an alias; then by sitelinks, in-degree and number of the id. An entity
        is found once, by its best name; among equal names by the first in NAME_LANGUAGES, then by
        the text.

        Args:
            text: what to look for.
            kind: where to look.
            limit: hits on the page, at least 0.
            offset: hits before the page, at least 0.
            language: look at names in this language only; ``zh`` has its variants with it.

        Raises:
            InvalidArgument: a language that no name is stored in, or a negative number.
            BackendDown: the index is closed.
        """
        if language is not None and language not in NAME_LANGUAGES:
            raise InvalidArgument(
                f"{language!r} is not a language of this graph's names: use None for all or one "
                f"of {', '.join(NAME_LANGUAGES)}."
            )
        if limit < 0 or offset < 0:
            raise InvalidArgument("limit and offset must be 0 or more.")
        side = self._sides.get(kind)
        if side is None:
            raise BackendDown("The label index is closed.")
        search = parse_search(text)
        if not search.key:
            return NamePage(0, [])
        return side.search(search, limit, offset, language)

    def close(self) -> None:
        """Let go of the files; a second call does nothing."""
        self._sides = {}


class _Rank(NamedTuple):
    """One way to match; ``language`` is the only one whose names count, None for all."""

    matched: Literal["label", "alias"]
    grade: Grade
    language: str | None


def _ranks(kind: Kind, language: str | None) -> list[_Rank]:
    """What a match can be, best first; properties' English names come before equal others."""
    languages = ("en", None) if kind == "property" and language is None else (language,)
    return [
        _Rank(matched, grade, of)
        for grade in Grade
        for matched in ("label", "alias")
        for of in languages
    ]


_LISTED_FROM: Final = 3
_LISTED_TERMS: Final = 256
"""Prefixes of so many bytes are looked up as the terms they begin, if these are fewer."""

_FIRST_PLACES: Final = 256
"""How many matches are asked for before their number is known."""

_Found = tuple[_Rank, tantivy.DocAddress]


class _Side:
    """The index of one kind of entity."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        self._kind = kind
        self._schema, self._searcher = open_tantivy(folder)

    def search(self, search: NameSearch, limit: int, offset: int, language: str | None) -> NamePage:
        one_word = len(search.tokens) + (search.prefix is not None) == 1
        words = "{}_words" if one_word else "one_{}_words"
        queries = {
            rank: self._query(rank, search, words.format(rank.matched))
            for rank in _ranks(self._kind, language)
        }
        find = self._search_entities if one_word else self._search_names
        total, found = find(queries, limit, offset)
        return NamePage(total, [self._hit(rank, address, search) for rank, address in found])

    def _query(self, rank: _Rank, search: NameSearch, words_field: str) -> tantivy.Query:
        """What matches as well as ``rank`` says or better."""
        before = scope(rank.language)
        if rank.grade is Grade.EXACT:
            return self._term(rank.matched, before + search.key)
        if rank.grade is Grade.PREFIX:
            return self._prefix(rank.matched, before, search.key)
        parts = [self._term(words_field, before + token) for token in sorted(search.tokens)]
        if search.prefix is not None:
            parts.append(self._prefix(words_field, before, search.prefix))
        return _all_of(parts)

    def _term(self, field: str, term: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, term, index_option="basic")

    def _prefix(self, field: str, before: str, start: str) -> tantivy.Query:
        # At distance 0 a fuzzy query is a prefix query. Where few terms begin so, naming them is
        # ten times faster; where many do, listing them would cost more than it saves.
        if len(start.encode()) >= _LISTED_FROM:
            terms = self._searcher.terms_with_prefix(field, before + start, limit=_LISTED_TERMS)
            if len(terms) < _LISTED_TERMS:
                return _any_of([self._term(field, term) for term, _ in terms])
        return tantivy.Query.fuzzy_term_query(
            self._schema, field, before + start, distance=0, prefix=True
        )

    def _search_entities(
        self, queries: dict[_Rank, tantivy.Query], limit: int, offset: int
    ) -> tuple[int, list[_Found]]:
        """The total and a page by counting: each rank's query without those of better ranks."""
        everything = [query for rank, query in queries.items() if rank.grade is Grade.WORDS]
        total = self._ordered(_any_of(everything), "order", limit=1).count
        found: list[_Found] = []
        better: list[tantivy.Query] = []
        for rank, query in queries.items():
            if len(found) == limit or offset >= total:
                break
            wanted = limit - len(found)
            result = self._ordered(_without(query, better), "order", wanted, offset)
            found += [(rank, address) for _, address in result.hits]
            offset = max(0, offset - result.count)
            better.append(query)
        return total, found

    def _search_names(
        self, queries: dict[_Rank, tantivy.Query], limit: int, offset: int
    ) -> tuple[int, list[_Found]]:
        """The total and a page by collecting the places of all entities that match."""
        ranks: dict[int, _Rank] = {}
        for rank, query in queries.items():
            field = "name_order" if rank.grade is Grade.WORDS else "order"
            result = self._ordered(query, field, _FIRST_PLACES)
            if result.count > _FIRST_PLACES:
                result = self._ordered(query, field, result.count)
            for place, _ in result.hits:
                ranks.setdefault(place, rank)
        page = list(islice(ranks, offset, offset + limit))
        addresses = self._addresses(page)
        return len(ranks), [(ranks[place], addresses[place]) for place in page]

    def _addresses(self, places: list[int]) -> dict[int, tantivy.DocAddress]:
        """The documents of the entities at these places in the order of equals."""
        if not places:
            return {}
        query = tantivy.Query.term_set_query(self._schema, "order", places)
        return dict(self._ordered(query, "order", len(places)).hits)

    def _ordered(
        self, query: tantivy.Query, field: str, limit: int, offset: int = 0
    ) -> tantivy.SearchResult:
        return self._searcher.search(
            query, limit=limit, offset=offset, order_by_field=field, order=tantivy.Order.Asc
        )

    def _hit(self, rank: _Rank, address: tantivy.DocAddress, search: NameSearch) -> NameHit:
        """The hit with the first of the entity's names that matches as ``rank`` says."""
        record = orjson.loads(self._searcher.doc(address)["record"][0])
        for name in map(Name._make, record[rank.matched]):
            in_language = rank.language is None or rank.language in languages_of(name.language)
            if in_language and search.grade(name.key) is rank.grade:
                return NameHit(
                    record["id"], rank.matched, name.text, name.language, record["datatype"]
                )
        raise BackendError(
            f"The label index contradicts itself about {record['id']}; build the graph again."
        )


def _all_of(queries: list[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])


def _any_of(queries: list[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def _without(query: tantivy.Query, others: list[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query(
        [(tantivy.Occur.Must, query), *((tantivy.Occur.MustNot, other) for other in others)]
    )
