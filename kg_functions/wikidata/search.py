"""Finding entities by name: through the label index where there is one, else by exact names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from kg_functions.errors import InvalidArgument
from kg_functions.identifiers import is_item, is_property, number
from kg_functions.languages import LANGUAGES, MUL, STORED_LANGUAGES, ZH_VARIANTS, pick
from kg_functions.rdf import entity_id
from kg_functions.wikidata import queries, texts
from kg_functions.wikidata.paging import next_offset
from kg_functions.wikidata.queries import Query

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from kg_functions.engines.protocol import SparqlEngine
    from kg_functions.label_index import LabelIndex
    from kg_functions.wikidata.later import LaterLabelIndex

Kind = Literal["item", "property"]
_Order = tuple[bool, bool, int, int, int]

EXACT_NAMES_ONLY: Final = (
    "This graph is searched by exact labels and aliases only: it has no label index."
)

NAMED: Final = Query(
    """
SELECT ?entity ?predicate ?name WHERE {
  VALUES (?predicate ?name) { $terms }
  ?entity ?predicate ?name .
}
""",
    order="?name ?predicate ?entity",
)
# Dumps count an item's sitelinks on its data page, the query service on the item itself.
PAGE_SITELINKS: Final = Query(
    """
SELECT ?entity ?sitelinks WHERE {
  VALUES ?entity { $terms }
  ?page schema:about ?entity .
  ?page wikibase:sitelinks ?sitelinks .
}
""",
    order="?entity ?sitelinks",
)
ITEM_SITELINKS: Final = Query(
    """
SELECT ?entity ?sitelinks WHERE {
  VALUES ?entity { $terms }
  ?entity wikibase:sitelinks ?sitelinks .
}
""",
    order="?entity ?sitelinks",
)


class Found(NamedTuple):
    """One entity with the name that was matched.

    Attributes:
        id: the entity.
        matched: ``label`` or ``alias``.
        text: the name itself.
        language: the code of the six languages or ``mul``, as the graph stores it.
    """

    id: str
    matched: str
    text: str
    language: str


class NameSearch(Protocol):
    """A way to find entities by name."""

    def search(
        self, text: str, kind: Kind, limit: int, offset: int, language: str | None
    ) -> tuple[int, list[Found]]:
        """How many distinct entities match, and one page of them, best first."""
        ...


class IndexSearch:
    """Search through a graph folder's label index."""

    def __init__(self, index: LabelIndex | LaterLabelIndex) -> None:
        self._index = index

    def search(
        self, text: str, kind: Kind, limit: int, offset: int, language: str | None
    ) -> tuple[int, list[Found]]:
        """See ``NameSearch``."""
        page = self._index.search(text, kind=kind, limit=limit, offset=offset, language=language)
        found = [Found(hit.id, hit.matched, hit.matched_text, hit.language) for hit in page.hits]
        return page.total, found


class ExactSearch:
    """Look-ups of exact labels and aliases by SPARQL.

    Args:
        engine: what to ask.
        notice: called once, with a line for the user, at the first search.
    """

    def __init__(self, engine: SparqlEngine, notice: Callable[[str], None] | None = None) -> None:
        self._engine = engine
        self._notice = notice

    def search(
        self, text: str, kind: Kind, limit: int, offset: int, language: str | None
    ) -> tuple[int, list[Found]]:
        """See ``NameSearch``."""
        notice, self._notice = self._notice, None
        if notice is not None:
            notice(EXACT_NAMES_ONLY)
        hits = list(self._named(text.strip(), kind, language))
        sitelinks = self._sitelinks({hit.id for hit in hits}) if kind == "item" else {}
        best: dict[str, tuple[_Order, Found]] = {}
        for hit in hits:
            order = _order(hit, kind, sitelinks.get(hit.id, 0))
            if hit.id not in best or order < best[hit.id][0]:
                best[hit.id] = (order, hit)
        ordered = sorted(best.values(), key=lambda entry: entry[0])
        return len(ordered), [hit for _, hit in ordered[offset : offset + limit]]

    def _named(self, name: str, kind: Kind, language: str | None) -> Iterator[Found]:
        """Each entity's names that are ``name``."""
        terms = [
            f"({queries.iri(predicate)} {queries.literal(name, code)})"
            for predicate in (texts.LABEL, texts.ALIAS)
            for code in _codes(language)
        ]
        right_kind = is_item if kind == "item" else is_property
        for row in queries.fetch(self._engine, NAMED, terms):
            identifier = entity_id(row["entity"].value)
            code = row["name"].language
            if identifier is None or not right_kind(identifier) or code is None:
                continue
            matched = "label" if row["predicate"].value == texts.LABEL else "alias"
            yield Found(identifier, matched, row["name"].value, code)

    def _sitelinks(self, items: Collection[str]) -> dict[str, int]:
        """How many sitelinks items have; one item alone has no rival to be counted against."""
        found: dict[str, int] = {}
        if len(items) < 2:
            return found
        for query in (PAGE_SITELINKS, ITEM_SITELINKS):
            terms = [queries.entity(one) for one in sorted(items) if one not in found]
            for row in queries.fetch(self._engine, query, terms):
                identifier = entity_id(row["entity"].value)
                if identifier is not None:
                    found[identifier] = int(row["sitelinks"].value)
        return found


def _order(hit: Found, kind: Kind, sitelinks: int) -> _Order:
    """What decides which of an entity's names counts, and the order of entities."""
    return (
        hit.matched == "alias",
        # Among equal matches of properties English comes first.
        kind == "property" and hit.language != "en",
        -sitelinks,
        number(hit.id),
        STORED_LANGUAGES.index(hit.language),
    )


def matches(
    engine: SparqlEngine, total: int, found: Sequence[Found], offset: int
) -> dict[str, Any]:
    """A page of entities, with English label (``mul`` as fallback) and English description."""
    said = texts.texts(engine, [hit.id for hit in found], (texts.LABEL, texts.DESCRIPTION))
    shown = []
    for hit in found:
        label = pick(said[hit.id][texts.LABEL], "en", mul=True)
        description = pick(said[hit.id][texts.DESCRIPTION], "en", mul=False)
        shown.append(
            {
                "id": hit.id,
                "label": label[0][0] if label else None,
                "description": description[0][0] if description else None,
                "matched": hit.matched,
                "matched_text": hit.text,
                "language": hit.language,
            }
        )
    return {
        "total": total,
        "matches": shown,
        "next_offset": next_offset(offset, len(found), total),
    }


def check_language(language: str) -> str:
    """Return a language code that the functions know.

    Raises:
        InvalidArgument: listing those there are.
    """
    if language in LANGUAGES or language == MUL:
        return language
    raise InvalidArgument(
        f"language must be one of {', '.join((*LANGUAGES, MUL))}, not {language!r}."
    )


def _codes(language: str | None) -> Sequence[str]:
    if language is None:
        return STORED_LANGUAGES
    return ("zh", *ZH_VARIANTS) if language == "zh" else (language,)
