"""What the graph functions need of a SPARQL engine, and the terms it answers with."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol


class Term(NamedTuple):
    """One RDF term of a result row.

    Attributes:
        kind: ``iri``, ``literal`` or ``blank``.
        value: the IRI, the lexical form or the blank node's label.
        datatype: a literal's datatype IRI; None for plain strings and texts with a language.
        language: a literal's language tag in lower case, or None.
    """

    kind: Literal["iri", "literal", "blank"]
    value: str
    datatype: str | None = None
    language: str | None = None


Row = dict[str, Term]
"""One solution: terms by variable name without ``?``; an unbound variable has no key."""


class SparqlEngine(Protocol):
    """Answers SPARQL queries. Safe to use from several threads.

    Failures are ``BackendError``: ``BackendDown``, ``QueryTimeout``, ``QueryTooLarge``,
    ``QuerySyntax`` or ``RateLimited`` where the reason is known.
    """

    @property
    def address(self) -> str:
        """Where the data is: a path or a URL without credentials."""
        ...

    def select(self, query: str) -> list[Row]:
        """The solutions of a SELECT query, in the engine's order."""
        ...

    def ask(self, query: str) -> bool:
        """The answer of an ASK query."""
        ...

    def close(self) -> None:
        """Release files and connections; a second call does nothing."""
        ...
