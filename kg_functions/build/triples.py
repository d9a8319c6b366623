"""N-Triples lines: which can be loaded, and what they say about links, entities and redirects."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kg_functions.build.problems import Problem
from kg_functions.rdf import OWL, RDF, SCHEMA, WDT, WIKIBASE, entity_id

if TYPE_CHECKING:
    from kg_functions.build.chunks import Chunk

_BLANK: Final = b"_:"
_TYPE: Final = f"{RDF}type"
_STATEMENT: Final = f"{WIKIBASE}Statement"
_ENTITY_TYPES: Final = frozenset(f"{WIKIBASE}{name}" for name in ("Item", "Property", "Lexeme"))
_WHOLE_ENTITY: Final = re.compile(r"[QPL][1-9][0-9]{0,9}")
_SAME_AS: Final = f"{OWL}sameAs"
_MODIFIED: Final = f"{SCHEMA}dateModified"


@dataclass
class FoundTriples:
    """What a chunk of N-Triples holds.

    Attributes:
        data: the lines that can be loaded, with blank nodes that are the file's own.
        entities: ids of the items, properties and lexemes that it types.
        links: truthy links between items, as numbers.
        statements: how many nodes it types as statements.
        redirects: how many entities it says are the same as another.
        modified: the latest change to any entity.
        problems: the lines that were left out.
    """

    data: bytes = b""
    entities: list[str] = field(default_factory=list)
    links: list[tuple[int, int, int]] = field(default_factory=list)
    statements: int = 0
    redirects: int = 0
    modified: str | None = None
    problems: list[Problem] = field(default_factory=list)


def read_triples(chunk: Chunk) -> FoundTriples:
    """Check every line of a chunk and note what the other parts of a graph need of it."""
    found = FoundTriples()
    try:
        triples = _parsed(chunk.data)
    except SyntaxError:
        _read_line_by_line(chunk, found)
    else:
        found.data = chunk.data if chunk.data.endswith(b"\n") else chunk.data + b"\n"
        for triple in triples:
            _note(triple, found)
    if _BLANK in found.data:
        lines = found.data.splitlines(keepends=True)
        found.data = b"".join(_with_own_nodes(line, chunk.input) for line in lines)
    return found


def _with_own_nodes(line: bytes, input: int) -> bytes:
    """A line with blank nodes named after their file: equal labels in two files are two nodes."""
    if _BLANK not in line:
        return line
    kept = []
    for triple in _parsed(line):
        subject, object = _own(triple.subject, input), _own(triple.object, input)
        kept.append(f"{subject} {triple.predicate} {object} .\n")
    return "".join(kept).encode()


def _own(term: Any, input: int) -> Any:
    import pyoxigraph

    if isinstance(term, pyoxigraph.BlankNode):
        # No hash that names a converted document's nodes has an x.
        return pyoxigraph.BlankNode(f"f{input}x{term.value}")
    return term


def _read_line_by_line(chunk: Chunk, found: FoundTriples) -> None:
    kept = []
    for number, line in enumerate(chunk.data.split(b"\n"), chunk.line):
        try:
            triples = _parsed(line)
        except SyntaxError as error:
            reason = str(error.msg).partition(": ")[2] or str(error.msg)
            found.problems.append(Problem("not N-Triples", chunk.source, number, None, reason))
            continue
        kept.append(line)
        for triple in triples:
            _note(triple, found)
    found.data = b"\n".join(kept) + b"\n"


def _parsed(data: bytes) -> list[Any]:
    import pyoxigraph

    return list(pyoxigraph.parse(data, pyoxigraph.RdfFormat.N_TRIPLES, lenient=True))


def _note(triple: Any, found: FoundTriples) -> None:
    predicate = triple.predicate.value
    if predicate == _TYPE:
        kind = triple.object.value
        if kind == _STATEMENT:
            found.statements += 1
        elif kind in _ENTITY_TYPES:
            identifier = entity_id(triple.subject.value)
            if identifier is not None and _WHOLE_ENTITY.fullmatch(identifier):
                found.entities.append(identifier)
    elif predicate.startswith(WDT):
        link = _link(triple)
        if link is not None:
            found.links.append(link)
    elif predicate == _SAME_AS:
        found.redirects += entity_id(triple.subject.value) is not None
    elif predicate == _MODIFIED:
        found.modified = max(found.modified or "", triple.object.value)


def _link(triple: Any) -> tuple[int, int, int] | None:
    """The numbers of a truthy link between items, or None for any other triple."""
    subject, object = _item_number(triple.subject), _item_number(triple.object)
    property = triple.predicate.value.removeprefix(WDT)
    if subject is None or object is None or not property[1:].isdigit():
        return None
    return subject, int(property[1:]), object


def _item_number(term: Any) -> int | None:
    import pyoxigraph

    identifier = entity_id(term.value) if isinstance(term, pyoxigraph.NamedNode) else None
    return int(identifier[1:]) if identifier and identifier[0] == "Q" else None
