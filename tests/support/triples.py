"""Comparing sets of triples by what they say, whatever their nodes are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pyoxigraph as ox

from kg_functions.build.convert import Converter
from kg_functions.rdf import WDREF, WDV

if TYPE_CHECKING:
    from collections.abc import Iterable


class Said(NamedTuple):
    """A triple in which hashed and blank nodes are replaced by what is said of them."""

    subject: str
    predicate: str
    object: str


def parse(text: str | bytes, format: ox.RdfFormat = ox.RdfFormat.TURTLE) -> set[ox.Triple]:
    """The triples of a text."""
    data = text.encode() if isinstance(text, str) else text
    return set(ox.parse(data, format, lenient=True))  # type: ignore[arg-type]


def converted(document: dict[str, Any]) -> set[ox.Triple]:
    """The triples that the converter makes of one entity document."""
    lines: list[str] = []
    Converter().convert(document, lines)
    return parse("".join(lines), ox.RdfFormat.N_TRIPLES)


def said(triples: Iterable[ox.Triple]) -> set[Said]:
    """Triples with value and reference nodes replaced by their content, blank nodes by one mark."""
    about: dict[Any, list[ox.Triple]] = {}
    for triple in triples:
        about.setdefault(triple.subject, []).append(triple)
    known: dict[Any, str] = {}

    def name(term: Any) -> str:
        if isinstance(term, ox.BlankNode):
            return "[]"
        if not is_hashed(term):
            return str(term)
        if term not in known:
            facts = sorted(f"{t.predicate} {name(t.object)}" for t in about.get(term, ()))
            known[term] = f"[{'; '.join(facts)}]"
        return known[term]

    return {
        Said(name(t.subject), t.predicate.value, name(t.object))
        for group in about.values()
        for t in group
    }


def is_hashed(term: Any) -> bool:
    """Whether a term is a value or reference node, which is named after a hash."""
    return isinstance(term, ox.NamedNode) and term.value.startswith((WDV, WDREF))


def without_orphans(triples: set[ox.Triple]) -> set[ox.Triple]:
    """Triples without those about value and reference nodes to which none of them leads."""
    kept = triples
    while True:
        objects = {t.object for t in kept if t.subject != t.object}
        left = {t for t in kept if not is_hashed(t.subject) or t.subject in objects}
        if len(left) == len(kept):
            return left
        kept = left
