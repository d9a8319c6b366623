"""Statements as RDF: truthy triples, statement nodes, ranks, qualifiers and references."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import md5
from typing import TYPE_CHECKING, Any, Final

from kg_functions.build.ntriples import TYPE
from kg_functions.build.snaks import grouped, property_names, say
from kg_functions.build.values import Term, UnknownDatatypeError, Values
from kg_functions.rdf import PROV, WD, WDREF, WDS, WIKIBASE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_RANKS: Final = {
    "preferred": f"<{WIKIBASE}rank> <{WIKIBASE}PreferredRank>",
    "normal": f"<{WIKIBASE}rank> <{WIKIBASE}NormalRank>",
    "deprecated": f"<{WIKIBASE}rank> <{WIKIBASE}DeprecatedRank>",
}
_STATEMENT: Final = f"{TYPE} <{WIKIBASE}Statement> .\n"
_BEST: Final = f"{TYPE} <{WIKIBASE}BestRank> .\n"
_REFERENCE: Final = f"{TYPE} <{WIKIBASE}Reference> .\n"
_DERIVED_FROM: Final = f"<{PROV}wasDerivedFrom>"

_NOT_IN_A_NAME: Final = re.compile(r"[^0-9A-Za-z_-]")
_HASH: Final = re.compile(r"[0-9a-f]{40}")
_CACHED_REFERENCES: Final = 200_000

SHAPE_ERRORS: Final = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    IndexError,
    OverflowError,
)
"""What reading a document of the wrong shape raises."""


_Named = tuple[str, dict[str, Any]]
"""A statement with the local name of its IRI."""


@dataclass
class StatementsResult:
    """What converting an entity's statements yields besides triples.

    Attributes:
        statements: how many were converted.
        identifiers: how many of them have an external identifier as value.
        links: property and object numbers of truthy links to items.
        problems: id and complaint for each statement that was left out.
    """

    statements: int = 0
    identifiers: int = 0
    links: list[tuple[int, int]] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)


class Statements:
    """Converts the statements of one entity after the other.

    Args:
        shared: where the triples of references and value nodes are put. Each is written once and
            then only referred to, so these lines must be kept whatever becomes of the entity.
        datatypes: what is known about properties, for snaks that do not state their datatype.
        assume_text: whether a text of unknown datatype is taken for a plain string; otherwise
            it raises ``UnknownDatatypeError``.
    """

    def __init__(
        self, shared: list[str], datatypes: Mapping[str, str], *, assume_text: bool = False
    ) -> None:
        self.text_datatypes: dict[str, str] = {}
        """The datatypes that snaks with text values stated, by property; see ``firmer``."""
        self._shared = shared
        self._values = Values(shared)
        self._datatypes = datatypes
        self._assume_text = assume_text
        self._references: set[str] = set()

    def convert(
        self, subject: str, claims: Mapping[str, Any], lines: list[str]
    ) -> StatementsResult:
        """Append the triples of all statements about ``subject``, an IRI in angle brackets.

        Raises:
            UnknownDatatypeError: where a text has no datatype; ``lines`` is then incomplete.
        """
        result = StatementsResult()
        owner = subject[len(WD) + 1 : -1]
        names: set[str] = set()
        for statements in claims.values():
            own = []
            for statement in statements:
                try:
                    own.append(_named(statement, owner, names))
                except SHAPE_ERRORS as error:
                    result.problems.append((_shown_id(statement), complaint(error)))
            self._group(subject, own, lines, result)
        return result

    def _group(
        self, subject: str, statements: list[_Named], lines: list[str], result: StatementsResult
    ) -> None:
        """Convert the statements of one property; the best are the best of those that convert."""
        best = best_rank([statement.get("rank", "normal") for _, statement in statements])
        made = StatementsResult()
        own: list[str] = []
        readable = []
        for name, statement in statements:
            of_one: list[str] = []
            try:
                self._statement(subject, name, statement, best, of_one, made)
            except SHAPE_ERRORS as error:
                result.problems.append((_shown_id(statement), complaint(error)))
            else:
                readable.append((name, statement))
                own += of_one
        if best_rank([statement.get("rank", "normal") for _, statement in readable]) != best:
            self._group(subject, readable, lines, result)
            return
        lines += own
        result.statements += made.statements
        result.identifiers += made.identifiers
        result.links += made.links

    def _statement(
        self,
        subject: str,
        name: str,
        statement: dict[str, Any],
        best: str,
        lines: list[str],
        result: StatementsResult,
    ) -> None:
        snak = statement["mainsnak"]
        rank = statement.get("rank", "normal")
        names = property_names(snak["property"])
        node = f"<{WDS}{name}>"
        is_best = rank == best
        head = f"{subject} {names.claim} {node} .\n{node} {_STATEMENT}{node} {_RANKS[rank]} .\n"
        term = self._term(snak)
        if is_best and term is not None and term.node is None:
            # Most statements are of this kind: one string is half as much work as five.
            lines.append(
                f"{head}{node} {_BEST}{node} {names.statement.simple} {term.simple} .\n"
                f"{subject} {names.truthy.simple} {term.simple} .\n"
            )
        else:
            lines.append(head)
            say(node, name, snak, term, names.statement, lines)
            if is_best:
                lines.append(f"{node} {_BEST}")
                say(subject, name, snak, term, names.truthy, lines)
        qualifiers = statement.get("qualifiers")
        for group in grouped(qualifiers) if qualifiers else ():
            for qualifier in group:
                predicates = property_names(qualifier["property"]).qualifier
                say(node, name, qualifier, self._term(qualifier), predicates, lines)
        for reference in statement.get("references") or ():
            lines.append(f"{node} {_DERIVED_FROM} {self._reference(reference)} .\n")
        result.statements += 1
        if (snak.get("datatype") or self._datatypes.get(snak["property"])) == "external-id":
            result.identifiers += 1
        if is_best and term is not None and term.item is not None:
            result.links.append((int(snak["property"][1:]), term.item))

    def _reference(self, reference: dict[str, Any]) -> str:
        """Write a reference's triples, unless that was done before, and give its IRI."""
        snaks = [snak for group in grouped(reference["snaks"]) for snak in group]
        given = reference.get("hash")
        if isinstance(given, str) and _HASH.fullmatch(given):
            name = given
        else:
            name = md5(repr(snaks).encode(), usedforsecurity=False).hexdigest()
        node = f"<{WDREF}{name}>"
        if name in self._references:
            return node
        lines = [f"{node} {_REFERENCE}"]
        for snak in snaks:
            predicates = property_names(snak["property"]).reference
            say(node, name, snak, self._term(snak), predicates, lines)
        self._shared += lines
        if len(self._references) >= _CACHED_REFERENCES:
            self._references.clear()
        self._references.add(name)
        return node

    def _term(self, snak: dict[str, Any]) -> Term | None:
        """The value of a snak, or None where it is unknown or there is none."""
        if snak["snaktype"] != "value":
            return None
        value = snak["datavalue"]
        datatype = snak.get("datatype")
        if value["type"] == "string":
            datatype = self._text_datatype(snak["property"], datatype)
        return self._values.term(value, datatype)

    def _text_datatype(self, identifier: str, stated: str | None) -> str:
        if stated is not None:
            known = self.text_datatypes.get(identifier)
            if known != stated:
                self.text_datatypes[identifier] = firmer(known, stated)
            return stated
        known = self._datatypes.get(identifier)
        if known is not None:
            return known
        if self._assume_text:
            return "string"
        raise UnknownDatatypeError


def _named(statement: dict[str, Any], owner: str, names: set[str]) -> _Named:
    """A statement with its local name, which is new among ``names`` and added to them.

    Raises:
        ValueError: the id is another entity's or none, or an earlier statement has it.
        KeyError, TypeError, AttributeError: there is no id, or it is no text.
    """
    identifier = statement["id"]
    entity, _, rest = identifier.partition("$")
    if entity.upper() != owner or not rest:
        raise ValueError(f"its id is not one of {owner}'s")
    name = statement_name(identifier)
    if name in names:
        raise ValueError("an earlier statement has the same id")
    names.add(name)
    return name, statement


def _shown_id(statement: Any) -> str:
    return str(statement.get("id")) if isinstance(statement, dict) else "a statement"


def firmer(known: str | None, stated: str) -> str:
    """Which of two datatypes counts where a property is said to have both.

    The plain string is what other datatypes of text fall back to, so any other outdoes it; between
    others only the name decides, so that the order in which they are met does not matter.
    """
    if known is None:
        return stated
    return min(known, stated, key=lambda datatype: (datatype == "string", datatype))


def best_rank(ranks: Collection[str]) -> str:
    """The rank of a property's best statements: preferred where there is any, else normal."""
    return "preferred" if "preferred" in ranks else "normal"


def statement_name(identifier: str) -> str:
    """The local part of a statement's IRI: ``Q42$A-1`` gives ``Q42-A-1``."""
    return _NOT_IN_A_NAME.sub("-", identifier)


def complaint(error: Exception) -> str:
    """What was wrong with a document, in a few words."""
    if isinstance(error, KeyError):
        return f"no {error.args[0]!r}"
    return str(error) or type(error).__name__
