"""Statements as RDF: truthy triples, statement nodes, ranks, qualifiers and references."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import md5
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kg_functions.build.ntriples import TYPE
from kg_functions.build.values import Term, UnknownDatatypeError, Values
from kg_functions.rdf import (
    PQ,
    PQV,
    PR,
    PROV,
    PRV,
    PS,
    PSV,
    WDNO,
    WDREF,
    WDS,
    WDT,
    WIKIBASE,
    P,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

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
_PROPERTY_ID: Final = re.compile(r"P[1-9][0-9]*")
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


class Predicates(NamedTuple):
    """The predicates that one property has in one role, and its no-value class.

    Attributes:
        simple: leads to the simple value.
        node: leads to the value node; None for truthy triples, which have none.
        novalue: the class of what has no value.
    """

    simple: str
    node: str | None
    novalue: str


class _PropertyNames(NamedTuple):
    claim: str
    truthy: Predicates
    statement: Predicates
    qualifier: Predicates
    reference: Predicates


@lru_cache(maxsize=20_000)
def _property_names(identifier: str) -> _PropertyNames:
    if not _PROPERTY_ID.fullmatch(identifier):
        raise ValueError(f"{identifier!r} is not a property id")
    novalue = f"<{WDNO}{identifier}>"
    return _PropertyNames(
        claim=f"<{P}{identifier}>",
        truthy=Predicates(f"<{WDT}{identifier}>", None, novalue),
        statement=Predicates(f"<{PS}{identifier}>", f"<{PSV}{identifier}>", novalue),
        qualifier=Predicates(f"<{PQ}{identifier}>", f"<{PQV}{identifier}>", novalue),
        reference=Predicates(f"<{PR}{identifier}>", f"<{PRV}{identifier}>", novalue),
    )


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
        """The datatypes that snaks with text values stated, by property."""
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
        for statements in claims.values():
            best = best_rank([statement.get("rank") for statement in statements])
            for statement in statements:
                own: list[str] = []
                try:
                    self._statement(subject, statement, best, own, result)
                except SHAPE_ERRORS as error:
                    result.problems.append((str(statement.get("id")), complaint(error)))
                else:
                    lines += own
        return result

    def _statement(
        self,
        subject: str,
        statement: dict[str, Any],
        best: str,
        lines: list[str],
        result: StatementsResult,
    ) -> None:
        snak = statement["mainsnak"]
        rank = statement.get("rank", "normal")
        names = _property_names(snak["property"])
        name = statement_name(statement["id"])
        node = f"<{WDS}{name}>"
        is_best = rank == best
        lines.append(
            f"{subject} {names.claim} {node} .\n{node} {_STATEMENT}{node} {_RANKS[rank]} .\n"
        )
        term = self._term(snak)
        _say(node, name, snak, term, names.statement, lines)
        if is_best:
            lines.append(f"{node} {_BEST}")
            _say(subject, name, snak, term, names.truthy, lines)
        qualifiers = statement.get("qualifiers")
        for group in grouped(qualifiers) if qualifiers else ():
            for qualifier in group:
                predicates = _property_names(qualifier["property"]).qualifier
                _say(node, name, qualifier, self._term(qualifier), predicates, lines)
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
            predicates = _property_names(snak["property"]).reference
            _say(node, name, snak, self._term(snak), predicates, lines)
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
            self.text_datatypes[identifier] = stated
            return stated
        known = self._datatypes.get(identifier)
        if known is not None:
            return known
        if self._assume_text:
            return "string"
        raise UnknownDatatypeError


def best_rank(ranks: Collection[str]) -> str:
    """The rank of a property's best statements: preferred where there is any, else normal."""
    return "preferred" if "preferred" in ranks else "normal"


def statement_name(identifier: str) -> str:
    """The local part of a statement's IRI: ``Q42$A-1`` gives ``Q42-A-1``."""
    return _NOT_IN_A_NAME.sub("-", identifier)


def _say(
    node: str,
    name: str,
    snak: dict[str, Any],
    term: Term | None,
    predicates: Predicates,
    lines: list[str],
) -> None:
    """Append what a snak says about ``node``; ``name`` makes blank nodes stable."""
    if term is not None:
        lines.append(f"{node} {predicates.simple} {term.simple} .\n")
        if term.node is not None and predicates.node is not None:
            lines.append(f"{node} {predicates.node} {term.node} .\n")
        return
    kind = snak["snaktype"]
    if kind == "somevalue":
        label = md5(f"{name} {predicates.simple}".encode(), usedforsecurity=False).hexdigest()
        lines.append(f"{node} {predicates.simple} _:{label} .\n")
    elif kind == "novalue":
        lines.append(f"{node} {TYPE} {predicates.novalue} .\n")
    else:
        raise ValueError(f"unknown kind of snak {kind!r}")


def grouped(snaks: Any) -> Iterable[list[dict[str, Any]]]:
    """Snaks grouped by property; older documents have ``[]`` for none, or one flat list."""
    if not snaks:
        return ()
    return snaks.values() if isinstance(snaks, dict) else (snaks,)


def complaint(error: Exception) -> str:
    """What was wrong with a document, in a few words."""
    if isinstance(error, KeyError):
        return f"no {error.args[0]!r}"
    return str(error) or type(error).__name__
