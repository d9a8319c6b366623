"""Building queries safely and reading their answers whole.

Each question asked of the graph is a ``Query`` constant beside the code that asks it. What goes
into one is a list of terms made by the functions here: checked ids and escaped texts, nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kg_functions.errors import InvalidArgument
from kg_functions.identifiers import check_entity, check_property
from kg_functions.rdf import NAMESPACES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kg_functions.engines.protocol import Row, SparqlEngine

CHUNK: Final = 500
"""How many terms go into one VALUES block."""
ROW_LIMIT: Final = 50_000
"""The explicit LIMIT of every query; an answer that reaches it is asked for in parts."""

_PREFIX: Final = re.compile(r"\b([a-z]+):(?!//)")
_UNSAFE_IN_IRI: Final = re.compile(r"[\x00-\x20<>\"{}|^`\\]")
_ESCAPED: Final = re.compile(r'[\x00-\x1f\x7f"\\]')


@dataclass(frozen=True)
class Query:
    """One question asked of the graph.

    Attributes:
        text: SPARQL without prefixes and LIMIT, with ``$terms`` where the VALUES go and, where
            there is one, ``$option`` for a part that depends on the call. One VALUES block and no
            more: engines multiply two of them out with everything else first.
        order: variables that order its rows totally; used only to read a very long answer in
            pages.
    """

    text: str
    order: str
    prefixes: str = field(init=False, repr=False, default="")

    def __post_init__(self) -> None:
        used = sorted({name for name in _PREFIX.findall(self.text) if name in NAMESPACES})
        declared = "".join(f"PREFIX {name}: <{NAMESPACES[name]}>\n" for name in used)
        object.__setattr__(self, "prefixes", declared)

    def fill(self, terms: Sequence[str], option: str = "") -> str:
        """The query for these terms, with prefixes but without LIMIT."""
        body = self.text.replace("$option", option).replace("$terms", " ".join(terms))
        return self.prefixes + body.strip()


def fetch(
    engine: SparqlEngine,
    query: Query,
    terms: Iterable[str],
    option: str = "",
) -> Iterator[Row]:
    """Every row of a query for all the terms, however many of either there are.

    Args:
        engine: what to ask.
        query: the question.
        terms: SPARQL terms, or tuples of them in parentheses; repeated ones are asked once.
        option: text for the query's ``$option``; made of constants and checked ids only.
    """
    distinct = list(dict.fromkeys(terms))
    for start in range(0, len(distinct), CHUNK):
        yield from _fetch_part(engine, query, distinct[start : start + CHUNK], option)


def _fetch_part(
    engine: SparqlEngine, query: Query, terms: Sequence[str], option: str
) -> Iterator[Row]:
    """Ask for the terms at once; where the answer may be cut, in halves, then page by page."""
    filled = query.fill(terms, option)
    rows = engine.select(f"{filled}\nLIMIT {ROW_LIMIT}")
    if len(rows) < ROW_LIMIT:
        yield from rows
    elif len(terms) > 1:
        half = len(terms) // 2
        yield from _fetch_part(engine, query, terms[:half], option)
        yield from _fetch_part(engine, query, terms[half:], option)
    else:
        yield from _pages(engine, f"{filled}\nORDER BY {query.order}")


def _pages(engine: SparqlEngine, ordered: str) -> Iterator[Row]:
    offset = 0
    while True:
        rows = engine.select(f"{ordered}\nLIMIT {ROW_LIMIT} OFFSET {offset}")
        yield from rows
        if len(rows) < ROW_LIMIT:
            return
        offset += ROW_LIMIT


def entity(identifier: str) -> str:
    """The term of an item or property: ``wd:Q42``, spelt out."""
    return f"<{NAMESPACES['wd']}{check_entity(identifier)}>"


def predicate(namespace: str, identifier: str) -> str:
    """The term of a property in one of its roles: ``predicate("wdt", "P31")``."""
    return f"<{NAMESPACES[namespace]}{check_property(identifier)}>"


def iri(address: str) -> str:
    """The term of an IRI that the graph itself answered with.

    Raises:
        InvalidArgument: it holds a character that no IRI may hold.
    """
    if _UNSAFE_IN_IRI.search(address):
        raise InvalidArgument(f"{address!r} is not an IRI.")
    return f"<{address}>"


def literal(text: str, language: str) -> str:
    """The term of a text in a language (one of ``STORED_LANGUAGES``), escaped.

    Raises:
        InvalidArgument: the text holds half a surrogate pair.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"{text!r} is not text: it holds half a character.") from error
    escaped = _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04X}", text)
    return f'"{escaped}"@{language}'
