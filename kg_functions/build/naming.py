"""From staged names to the label index, with the counts of entities on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kg_functions.adjacency import Adjacency
from kg_functions.build.problems import Problem
from kg_functions.build.staging import StagedNames, read_names
from kg_functions.datatypes import datatype_name
from kg_functions.label_index_build import LabelIndexWriter, NameRecord
from kg_functions.languages import STORED_LANGUAGES
from kg_functions.rdf import DATA, RDFS, SCHEMA, SKOS, WIKIBASE, entity_iri

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import pyoxigraph

REPEATED: Final = "repeated entity"
_REPEATED_DETAIL: Final = (
    "its statements were merged with those met earlier, its names left out of the label index"
)
_LANGUAGES: Final = frozenset(STORED_LANGUAGES)


@dataclass
class NameCounts:
    """What the names of a graph add up to; the fields are those of the manifest."""

    items: int = 0
    properties: int = 0
    lexemes: int = 0
    labels: int = 0


class _Numbers:
    """A set of whole numbers, one bit each, in pages that are made when they are needed."""

    def __init__(self) -> None:
        self._pages: dict[int, bytearray] = {}

    def add(self, number: int) -> bool:
        """Take a number in; whether it is new."""
        page = self._pages.get(number >> 16)
        if page is None:
            page = self._pages[number >> 16] = bytearray(1 << 13)
        place, bit = (number & 0xFFFF) >> 3, 1 << (number & 7)
        new = not page[place] & bit
        page[place] |= bit
        return new


def build_labels(
    name_files: Iterable[Path],
    store: Callable[[], pyoxigraph.Store],
    adjacency: Path,
    out: Path,
    progress: Callable[[int, int], None],
    sources: Sequence[str],
    report: Callable[[Problem], None],
) -> NameCounts:
    """Write the label index.

    Args:
        name_files: what the stages of a build left; a repeated entity counts once, with the names
            of its first document.
        store: gives the finished store, which knows the names of entities that came as triples;
            called only where there are such.
        adjacency: folder of the finished adjacency, for the number of incoming links.
        out: the new folder.
        progress: called with (names done, names in all).
        sources: the names of the inputs.
        report: called with every repetition of an entity. Triples may be spread over files: an
            entity that came as triples several times is no repetition.
    """
    links = Adjacency.open(adjacency)
    counts = NameCounts()
    seen = {"Q": _Numbers(), "P": _Numbers(), "L": _Numbers()}
    seen_as_triples = {kind: _Numbers() for kind in seen}
    with LabelIndexWriter(out, progress=progress) as index:
        for (input, line), names in read_names(name_files):
            as_triples = isinstance(names, str)
            identifier = names if isinstance(names, str) else names.id
            kind, number = identifier[0], int(identifier[1:])
            spread = as_triples and not seen_as_triples[kind].add(number)
            if not seen[kind].add(number):
                if not spread:
                    report(Problem(REPEATED, sources[input], line, identifier, _REPEATED_DETAIL))
                continue
            if kind == "L":
                counts.lexemes += 1
                continue
            if isinstance(names, str):
                names = _names_from_store(store(), identifier)
            in_degree = 0
            if kind == "Q":
                counts.items += 1
                in_degree = links.degree(number)[1]
            else:
                counts.properties += 1
            _, labels, aliases, sitelinks, datatype = names
            counts.labels += len(labels) + sum(map(len, aliases.values()))
            index.add(NameRecord(identifier, labels, aliases, sitelinks, in_degree, datatype))
    return counts


def _names_from_store(store: pyoxigraph.Store, identifier: str) -> StagedNames:
    """The names of an entity as the store has them."""
    import pyoxigraph

    node = pyoxigraph.NamedNode(entity_iri(identifier))

    def objects(predicate: str) -> list[Any]:
        quads = store.quads_for_pattern(node, pyoxigraph.NamedNode(predicate), None)
        return [quad.object for quad in quads]

    def texts(predicate: str) -> list[tuple[str, str]]:
        found = [
            (term.language, term.value)
            for term in objects(predicate)
            if isinstance(term, pyoxigraph.Literal) and term.language in _LANGUAGES
        ]
        return sorted(found)

    aliases: dict[str, list[str]] = {}
    for code, text in texts(f"{SKOS}altLabel"):
        aliases.setdefault(code, []).append(text)
    about = store.quads_for_pattern(None, pyoxigraph.NamedNode(f"{SCHEMA}about"), node)
    datatypes = [term.value for term in objects(f"{WIKIBASE}propertyType")]
    return StagedNames(
        identifier,
        labels=dict(texts(f"{RDFS}label")),
        aliases=aliases,
        # The entity's own data page is about it as well; every other page is an article.
        sitelinks=sum(not str(quad.subject).startswith(f"<{DATA}") for quad in about),
        datatype=datatype_name(datatypes[0]) if datatypes else None,
    )
