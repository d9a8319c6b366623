"""Labels, descriptions, aliases and sitelinks, by language."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from kg_functions.languages import LANGUAGES, MUL, STORED_LANGUAGES, by_language
from kg_functions.lru import Lru
from kg_functions.rdf import RDFS, SCHEMA, SKOS, entity_id
from kg_functions.wikidata import queries
from kg_functions.wikidata.queries import Query

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from kg_functions.engines.protocol import SparqlEngine

LABEL: Final = RDFS + "label"
DESCRIPTION: Final = SCHEMA + "description"
ALIAS: Final = SKOS + "altLabel"

_NAME_CAPACITY: Final = 200_000
_CODES: Final = ", ".join(f'"{code}"' for code in STORED_LANGUAGES)
_WIKIPEDIAS: Final = {f"https://{code}.wikipedia.org/": code for code in LANGUAGES}
_SITES: Final = ", ".join(f"<{site}>" for site in _WIKIPEDIAS)

NAMES: Final = Query(
    # A merged item has lost its label; where a value still names it, its target's label serves.
    """
SELECT ?entity ?label WHERE {
  VALUES ?entity { $terms }
  { ?entity rdfs:label ?label }
  UNION { ?entity owl:sameAs ?target . ?target rdfs:label ?label }
  FILTER(LCASE(LANG(?label)) IN ("en", "mul"))
}
""",
    order="?entity ?label",
)

TEXTS: Final = Query(
    f"""
SELECT ?entity ?predicate ?text WHERE {{
  VALUES (?entity ?predicate) {{ $terms }}
  ?entity ?predicate ?text .
  FILTER(LCASE(LANG(?text)) IN ({_CODES}))
}}
""",
    order="?entity ?predicate ?text",
)

SITELINKS: Final = Query(
    f"""
SELECT ?entity ?site ?title WHERE {{
  VALUES ?entity {{ $terms }}
  ?page schema:about ?entity .
  ?page schema:isPartOf ?site .
  FILTER(?site IN ({_SITES}))
  ?page schema:name ?title .
}}
""",
    order="?entity ?site ?title",
)

TextsByLanguage = dict[str, list[str]]


class Names:
    """English labels (``mul`` as fallback) behind a cache that all calls share.

    Args:
        engine: what to ask.
        capacity: how many names are kept.
    """

    def __init__(self, engine: SparqlEngine, capacity: int = _NAME_CAPACITY) -> None:
        self._engine = engine
        self._cache: Lru[str, str | None] = Lru(capacity)

    def get(self, ids: Iterable[str]) -> dict[str, str | None]:
        """The name of each id; None for one that has none or that the graph lacks."""
        wanted = set(ids)
        names = self._cache.get_many(wanted)
        missing = sorted(wanted - set(names))
        if missing:
            fresh = self._ask(missing)
            self._cache.put_many(fresh)
            names.update(fresh)
        return names

    def _ask(self, ids: Sequence[str]) -> dict[str, str | None]:
        found: dict[str, dict[str, str]] = {identifier: {} for identifier in ids}
        terms = [queries.entity(identifier) for identifier in ids]
        for row in queries.fetch(self._engine, NAMES, terms):
            identifier = entity_id(row["entity"].value)
            label = row["label"]
            if identifier in found and label.language is not None:
                found[identifier][label.language] = label.value
        return {identifier: texts.get("en", texts.get(MUL)) for identifier, texts in found.items()}


def texts(
    engine: SparqlEngine, ids: Sequence[str], predicates: Sequence[str]
) -> dict[str, dict[str, TextsByLanguage]]:
    """Texts of entities in every stored language.

    Args:
        engine: what to ask.
        ids: which entities.
        predicates: some of ``LABEL``, ``DESCRIPTION``, ``ALIAS``.

    Returns:
        By id, predicate and language; each list is sorted.
    """
    found: dict[str, dict[str, TextsByLanguage]] = {
        identifier: {one: defaultdict(list) for one in predicates} for identifier in ids
    }
    terms = [
        f"({queries.entity(identifier)} {queries.iri(one)})"
        for identifier in ids
        for one in predicates
    ]
    for row in queries.fetch(engine, TEXTS, terms):
        identifier = entity_id(row["entity"].value)
        text = row["text"]
        if identifier in found and text.language is not None:
            found[identifier][row["predicate"].value][text.language].append(text.value)
    for by_predicate in found.values():
        for by_code in by_predicate.values():
            for entries in by_code.values():
                entries.sort()
    return found


def labels_by_language(by_code: TextsByLanguage) -> dict[str, str]:
    """The labels of the six languages, then ``mul``."""
    return by_language(_first(by_code), mul=True)


def descriptions_by_language(by_code: TextsByLanguage) -> dict[str, str]:
    """The descriptions of the six languages."""
    return by_language(_first(by_code), mul=False)


def aliases_by_language(by_code: TextsByLanguage) -> dict[str, list[str]]:
    """The aliases of the six languages, then ``mul``."""
    return by_language(by_code, mul=True)


def sitelinks(engine: SparqlEngine, ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Titles in the six Wikipedias by id and language."""
    found: dict[str, dict[str, str]] = {identifier: {} for identifier in ids}
    terms = [queries.entity(identifier) for identifier in ids]
    for row in queries.fetch(engine, SITELINKS, terms):
        identifier = entity_id(row["entity"].value)
        if identifier in found:
            found[identifier][_WIKIPEDIAS[row["site"].value]] = row["title"].value
    return {identifier: by_language(titles, mul=False) for identifier, titles in found.items()}


def _first(by_code: TextsByLanguage) -> dict[str, Any]:
    return {code: entries[0] for code, entries in by_code.items()}
