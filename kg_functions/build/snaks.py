"""What a snak says about a node: the predicates of its property in every role, and its triples."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import md5
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kg_functions.build.ntriples import TYPE
from kg_functions.rdf import PQ, PQV, PR, PRV, PS, PSV, WDNO, WDT, P

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kg_functions.build.values import Term

_PROPERTY_ID: Final = re.compile(r"P[1-9][0-9]*")


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


class PropertyNames(NamedTuple):
    """The predicates of one property by role."""

    claim: str
    truthy: Predicates
    statement: Predicates
    qualifier: Predicates
    reference: Predicates


@lru_cache(maxsize=20_000)
def property_names(identifier: str) -> PropertyNames:
    """The predicates of a property.

    Raises:
        ValueError: ``identifier`` is no property's.
    """
    if not _PROPERTY_ID.fullmatch(identifier):
        raise ValueError(f"{identifier!r} is not a property id")
    novalue = f"<{WDNO}{identifier}>"
    return PropertyNames(
        claim=f"<{P}{identifier}>",
        truthy=Predicates(f"<{WDT}{identifier}>", None, novalue),
        statement=Predicates(f"<{PS}{identifier}>", f"<{PSV}{identifier}>", novalue),
        qualifier=Predicates(f"<{PQ}{identifier}>", f"<{PQV}{identifier}>", novalue),
        reference=Predicates(f"<{PR}{identifier}>", f"<{PRV}{identifier}>", novalue),
    )


def say(
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
