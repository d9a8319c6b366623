"""Entity JSON to triples in the model of Wikidata's own RDF dumps."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kg_functions.build.lexemes import lexeme_triples, parts
from kg_functions.build.ntriples import DATE_TIME, INTEGER, TYPE, literal
from kg_functions.build.properties import property_triples
from kg_functions.build.statements import Statements
from kg_functions.build.terms import Sitelinks, mapping, stored_names, term_triples
from kg_functions.rdf import DATA, OWL, SCHEMA, WD, WIKIBASE

if TYPE_CHECKING:
    from collections.abc import Mapping

_ID: Final = re.compile(r"[QPL][1-9][0-9]{0,9}")
_TYPES: Final = {"Q": "Item", "P": "Property", "L": "Lexeme"}


@dataclass
class Entity:
    """What one document yields besides its triples.

    Attributes:
        id: such as ``Q42``.
        labels: by language, in the languages of the label index.
        aliases: likewise.
        sitelinks: how many.
        datatype: of a property.
        modified: time of the last change (ISO 8601), where the document says so.
        statements: how many were converted.
        redirects: how many other ids are said to be this entity.
        links: property and object numbers of truthy links to items.
        problems: complaints about parts that were left out, by reason.
    """

    id: str
    labels: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, list[str]] = field(default_factory=dict)
    sitelinks: int = 0
    datatype: str | None = None
    modified: str | None = None
    statements: int = 0
    redirects: int = 0
    links: list[tuple[int, int]] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)


class Converter:
    """Converts entity documents, one after the other.

    Nodes that several entities share (values, references, wikis) are written when they are first
    met, so the triples of one converter belong together.

    Args:
        datatypes: datatypes of properties, for old documents whose snaks do not state them.
        assume_text: whether a text of unknown datatype is taken for a plain string; otherwise it
            raises ``UnknownDatatypeError``.
    """

    def __init__(
        self, datatypes: Mapping[str, str] | None = None, *, assume_text: bool = False
    ) -> None:
        self._shared: list[str] = []
        self._statements = Statements(self._shared, datatypes or {}, assume_text=assume_text)
        self._sitelinks = Sitelinks(self._shared)

    @property
    def text_datatypes(self) -> dict[str, str]:
        """Datatypes of properties with text values, as the snaks met so far stated them."""
        return self._statements.text_datatypes

    def convert(self, document: Mapping[str, Any], lines: list[str]) -> Entity:
        """Append an entity's triples to ``lines``, each with its newline.

        Args:
            document: entity JSON of any generation.
            lines: where the triples go; unchanged where an error is raised.

        Raises:
            UnknownDatatypeError: where a text's datatype is nowhere stated.
            KeyError, TypeError, ValueError, AttributeError, IndexError: where the document does
                not have the shape of an entity.
        """
        own: list[str] = []
        try:
            entity = self._entity(document, own)
        finally:
            lines += self._shared
            self._shared.clear()
        lines += own
        return entity

    def redirect(self, source: str, target: str, lines: list[str]) -> None:
        """Append the triple that says that ``source`` was merged into ``target``."""
        lines.append(f"<{WD}{_checked(source)}> <{OWL}sameAs> <{WD}{_checked(target)}> .\n")

    def _entity(self, document: Mapping[str, Any], lines: list[str]) -> Entity:
        identifier = _checked(document["id"])
        subject = f"<{WD}{identifier}>"
        entity = Entity(identifier)
        lines.append(f"{subject} {TYPE} <{WIKIBASE}{_TYPES[identifier[0]]}> .\n")
        identifiers = self._add_statements(subject, document, entity, lines)
        if identifier[0] == "L":
            self._add_lexeme(subject, document, entity, lines)
        else:
            term_triples(subject, document, lines)
            entity.labels, entity.aliases = stored_names(document)
        if identifier[0] == "P" and document.get("datatype"):
            entity.datatype = str(document["datatype"])
            lines += property_triples(identifier, subject, entity.datatype)
        if identifier[0] == "Q":
            sitelinks = mapping(document.get("sitelinks"))
            unknown = self._sitelinks.convert(subject, sitelinks, lines)
            entity.sitelinks = len(sitelinks) - len(unknown)
            entity.problems += (("sitelink to an unknown wiki", name) for name in unknown)
        self._add_metadata(subject, document, entity, identifiers, lines)
        merged = merged_id(document)
        if merged:
            self.redirect(merged, identifier, lines)
            entity.redirects += 1
        return entity

    def _add_statements(
        self, subject: str, document: Mapping[str, Any], entity: Entity, lines: list[str]
    ) -> int:
        """Convert the statements about ``subject``; returns how many are external identifiers."""
        result = self._statements.convert(subject, mapping(document.get("claims")), lines)
        entity.statements += result.statements
        entity.links += result.links
        entity.problems += (
            ("unreadable statement", f"{name}: {reason}") for name, reason in result.problems
        )
        return result.identifiers

    def _add_lexeme(
        self, subject: str, document: Mapping[str, Any], entity: Entity, lines: list[str]
    ) -> None:
        lexeme_triples(subject, document, lines)
        for part in parts(document):
            self._add_statements(f"<{WD}{part['id']}>", part, entity, lines)

    def _add_metadata(
        self,
        subject: str,
        document: Mapping[str, Any],
        entity: Entity,
        identifiers: int,
        lines: list[str],
    ) -> None:
        data = f"<{DATA}{entity.id}>"
        lines.append(f"{data} {TYPE} <{SCHEMA}Dataset> .\n{data} <{SCHEMA}about> {subject} .\n")
        counts = [("statements", entity.statements)]
        if entity.id[0] == "Q":
            counts += [("sitelinks", entity.sitelinks), ("identifiers", identifiers)]
        lines += (f'{data} <{WIKIBASE}{name}> "{count}"{INTEGER} .\n' for name, count in counts)
        revision, modified = document.get("lastrevid"), document.get("modified")
        if revision is not None:
            lines.append(f'{data} <{SCHEMA}version> "{int(revision)}"{INTEGER} .\n')
        if modified is not None:
            entity.modified = str(modified)
            lines.append(f"{data} <{SCHEMA}dateModified> {literal(modified)}{DATE_TIME} .\n")


def merged_id(document: Mapping[str, Any]) -> Any:
    """The id under which a document was asked for and which was merged into its own, or None."""
    return mapping(document.get("redirects")).get("from")


def _checked(identifier: Any) -> str:
    if not _ID.fullmatch(identifier):
        raise ValueError(f"{identifier!r} is not an entity id")
    return str(identifier)
