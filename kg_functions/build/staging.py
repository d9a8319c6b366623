"""What one process makes of chunks: triples to load, and links and names in files of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import merge
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import orjson

from kg_functions.adjacency_build import LinkWriter
from kg_functions.build.chunks import Chunk, Format
from kg_functions.build.convert import Converter, merged_id
from kg_functions.build.documents import Document, Redirect, documents
from kg_functions.build.problems import Problem
from kg_functions.build.statements import SHAPE_ERRORS, complaint, firmer
from kg_functions.build.triples import read_triples
from kg_functions.build.values import UnknownDatatypeError
from kg_functions.errors import GraphSetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from kg_functions.build.convert import Entity


@dataclass
class Converted:
    """What became of one chunk.

    Attributes:
        triples: N-Triples.
        entities: how many documents were converted.
        problems: what was left out.
    """

    triples: bytes
    entities: int = 0
    problems: list[Problem] = field(default_factory=list)


@dataclass
class Staged:
    """What one process leaves behind for the later steps of a build.

    Attributes:
        links: file of links, for ``build_adjacency``.
        names: file of names, one JSON array a line; see ``read_names``.
        deferred: file of documents that need datatypes of properties, see ``deferred_chunks``.
        datatypes: datatypes of properties as their documents state them.
        snak_datatypes: datatypes of properties as snaks with text values state them.
        statements: how many were converted.
        redirects: how many.
        modified: the latest change to any entity.
    """

    links: Path
    names: Path
    deferred: Path
    datatypes: dict[str, str] = field(default_factory=dict)
    snak_datatypes: dict[str, str] = field(default_factory=dict)
    statements: int = 0
    redirects: int = 0
    modified: str | None = None


class Stage:
    """Converts chunks, in one process of a build.

    Args:
        folder: where this process may write.
        name: distinguishes its files from those of other processes.
        datatypes: what is known about properties; where None, a document that needs it is put off.
    """

    def __init__(self, folder: Path, name: str, datatypes: Mapping[str, str] | None = None) -> None:
        self._staged = Staged(
            folder / f"{name}.links", folder / f"{name}.names", folder / f"{name}.deferred"
        )
        self._converter = Converter(datatypes, assume_text=datatypes is not None)
        self._links = LinkWriter(self._staged.links)
        self._names: BinaryIO = self._staged.names.open("wb", buffering=1 << 20)
        self._deferred: BinaryIO = self._staged.deferred.open("wb", buffering=1 << 20)

    def convert(self, chunk: Chunk) -> Converted:
        """Convert one chunk; links and names go to this stage's files."""
        if chunk.format is Format.JSON:
            return self._json(chunk)
        found = read_triples(chunk)
        result = Converted(found.data, len(found.entities), found.problems)
        self._add_links(found.links, chunk, 0, result)
        self._names.writelines(
            orjson.dumps([chunk.input, chunk.line, name]) + b"\n" for name in found.entities
        )
        self._count(found.statements, found.redirects, found.modified)
        return result

    def finish(self) -> Staged:
        """Close the files and say what is in them."""
        self.close()
        self._staged.snak_datatypes = self._converter.text_datatypes
        return self._staged

    def close(self) -> None:
        """Close the files; a second call does nothing."""
        self._links.close()
        self._names.close()
        self._deferred.close()

    def _json(self, chunk: Chunk) -> Converted:
        result = Converted(b"")
        lines: list[str] = []
        for document in documents(chunk):
            if isinstance(document, Problem):
                result.problems.append(document)
                continue
            try:
                if isinstance(document, Redirect):
                    self._converter.redirect(document.source, document.target, lines)
                    self._count(0, 1, None)
                else:
                    self._document(document, chunk, lines, result)
            except SHAPE_ERRORS as error:
                result.problems.append(_unreadable(document, chunk, error))
        result.triples = "".join(lines).encode()
        return result

    def _document(
        self, document: Document, chunk: Chunk, lines: list[str], result: Converted
    ) -> None:
        if document.asked_as is not None and document.asked_as != merged_id(document.content):
            self._converter.redirect(document.asked_as, document.content["id"], lines)
            self._count(0, 1, None)
        try:
            entity = self._converter.convert(document.content, lines)
        except UnknownDatatypeError:
            place = orjson.dumps([chunk.source, chunk.input, document.line])
            self._deferred.write(place + b"\t" + orjson.dumps(document.content) + b"\n")
            return
        result.entities += 1
        for reason, detail in entity.problems:
            problem = Problem(reason, chunk.source, document.line, entity.id, detail)
            result.problems.append(problem)
        if entity.datatype is not None:
            known = self._staged.datatypes.get(entity.id)
            self._staged.datatypes[entity.id] = firmer(known, entity.datatype)
        if entity.id[0] == "Q":
            subject = int(entity.id[1:])
            links = ((subject, property, object) for property, object in entity.links)
            self._add_links(links, chunk, document.line, result)
        self._names.write(name_line(entity, chunk.input, document.line))
        self._count(entity.statements, entity.redirects, entity.modified)

    def _add_links(
        self, links: Iterable[tuple[int, int, int]], chunk: Chunk, line: int, result: Converted
    ) -> None:
        for subject, property, object in links:
            try:
                self._links.add(subject, property, object)
            except GraphSetupError as error:
                problem = Problem(
                    "link out of range", chunk.source, line, f"Q{subject}", str(error)
                )
                result.problems.append(problem)

    def _count(self, statements: int, redirects: int, modified: str | None) -> None:
        staged = self._staged
        staged.statements += statements
        staged.redirects += redirects
        if modified is not None and (staged.modified is None or modified > staged.modified):
            staged.modified = modified


def merged_datatypes(staged: Sequence[Staged]) -> dict[str, str]:
    """What all processes of a build know of datatypes; which of them learnt it does not matter.

    Snaks outdo the documents of properties, whose datatype is that of today.
    """
    merged: dict[str, str] = {}
    for several in ([one.datatypes for one in staged], [one.snak_datatypes for one in staged]):
        settled: dict[str, str] = {}
        for datatypes in several:
            for identifier, datatype in datatypes.items():
                settled[identifier] = firmer(settled.get(identifier), datatype)
        merged |= settled
    return merged


def name_line(entity: Entity, input: int, line: int) -> bytes:
    """An entity's names, and where they come from, as a line of the names file."""
    parts = [entity.id, entity.labels, entity.aliases, entity.sitelinks, entity.datatype]
    return orjson.dumps([input, line, *parts]) + b"\n"


class StagedNames(NamedTuple):
    """The names of an entity as they lie in a names file."""

    id: str
    labels: dict[str, str]
    aliases: dict[str, list[str]]
    sitelinks: int
    datatype: str | None


Place = tuple[int, int]
"""An input's place among the inputs, and a line of it."""


def read_names(paths: Iterable[Path]) -> Iterator[tuple[Place, StagedNames | str]]:
    """The names in names files in the order of the inputs, whichever process staged them.

    Each comes with its place; where an entity came as triples there is only its id.
    """
    return merge(*map(_names_of_one, paths), key=itemgetter(0))


def _names_of_one(path: Path) -> Iterator[tuple[Place, StagedNames | str]]:
    with path.open("rb") as file:
        for text in file:
            input, line, *parts = orjson.loads(text)
            yield (input, line), StagedNames(*parts) if len(parts) > 1 else parts[0]


def deferred_chunks(paths: Iterable[Path]) -> Iterator[Chunk]:
    """The documents that were put off, in the order of the inputs, each a chunk with its place."""
    return merge(*map(_deferred_of_one, paths), key=attrgetter("input", "line"))


def _deferred_of_one(path: Path) -> Iterator[Chunk]:
    with path.open("rb") as file:
        for text in file:
            place, _, document = text.partition(b"\t")
            source, input, line = orjson.loads(place)
            yield Chunk(source, input, line, document, Format.JSON, one_document=True)


def _unreadable(document: Document | Redirect, chunk: Chunk, error: Exception) -> Problem:
    entity = str(document.content["id"]) if isinstance(document, Document) else None
    return Problem("unreadable entity", chunk.source, document.line, entity, complaint(error))
