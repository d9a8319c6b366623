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
    from collections.abc import Callable, Iterator, Sequence

    from kg_functions.engines.protocol import SparqlEngine
    from kg_functions.label_index import LabelIndex
    from kg_functions.wikidata.later import LaterLabelIndex

Kind = Literal["item", "property"]
_Order = tuple[bool, bool, int, int, int]

EXACT_NAMES_ONLY: Final = (
    "This endpoint is searched by exact labels and aliases only: it has no label index. "
    "Give one with --labels GRAPH_FOLDER."
)

NAMED: Final = Query(
    """
SELECT ?entity ?predicate ?name ?sitelinks WHERE {
  VALUES (?predicate ?name) { $terms }
  ?entity ?predicate ?name .
  OPTIONAL { ?entity wikibase:sitelinks ?sitelinks }
}
""",
    order="?name ?predicate ?entity ?sitelinks",
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
        best: dict[str, tuple[_Order, Found]] = {}
        for order, hit in self._named(text.strip(), kind, language):
            if hit.id not in best or order < best[hit.id][0]:
                best[hit.id] = (order, hit)
        ordered = sorted(best.values(), key=lambda entry: entry[0])
        return len(ordered), [hit for _, hit in ordered[offset : offset + limit]]

    def _named(self, name: str, kind: Kind, language: str | None) -> Iterator[tuple[_Order, Found]]:
        """Each entity's names that are ``name``, with what they are ordered by."""
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
            sitelinks = int(row["sitelinks"].value) if "sitelinks" in row else 0
            order = (
                matched == "alias",
                # Among equal matches of properties English comes first.
                kind == "property" and code != "en",
                -sitelinks,
                number(identifier),
                STORED_LANGUAGES.index(code),
            )
            yield order, Found(identifier, matched, row["name"].value, code)


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
