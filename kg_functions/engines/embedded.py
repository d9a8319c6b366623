"""The embedded engine: a pyoxigraph store, opened read-only from a folder or given in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyoxigraph

from kg_functions.engines.protocol import Row, Term
from kg_functions.errors import BackendDown, BackendError, GraphSetupError, QuerySyntax
from kg_functions.rdf import XSD

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_STRING: Final = XSD + "string"
_STORE_MARK: Final = "CURRENT"
"""A file that every RocksDB folder has."""


class EmbeddedEngine:
    """Answers queries from a pyoxigraph store in this process.

    Args:
        store: an open store.
        address: what to call it in messages.
    """

    def __init__(self, store: pyoxigraph.Store, address: str = "memory") -> None:
        self._store: pyoxigraph.Store | None = store
        self._address = address

    @classmethod
    def open(cls, folder: Path) -> EmbeddedEngine:
        """Open the store in a folder for reading.

        Raises:
            GraphSetupError: there is no such folder, or it is not a store.
        """
        if not folder.is_dir():
            raise GraphSetupError(f"{folder} is not there: a graph's RDF store was expected.")
        if not (folder / _STORE_MARK).is_file():
            raise GraphSetupError(f"{folder} is not an RDF store: build the graph again.")
        try:
            return cls(pyoxigraph.Store.read_only(str(folder)), str(folder))
        except (OSError, RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise GraphSetupError(
                f"{folder} cannot be opened as an RDF store ({reason}): build the graph again."
            ) from error

    @classmethod
    def from_store(cls, store: pyoxigraph.Store) -> EmbeddedEngine:
        """An engine over a store that is open already, for instance in memory."""
        return cls(store)

    @property
    def address(self) -> str:
        """The store's folder, or ``memory``."""
        return self._address

    def select(self, query: str) -> list[Row]:
        """The solutions of a SELECT query.

        Raises:
            BackendError: the query is wrong or the store cannot be read.
        """
        solutions = self._query(query)
        if not isinstance(solutions, pyoxigraph.QuerySolutions):
            raise QuerySyntax("Expected a SELECT query.")
        names = [variable.value for variable in solutions.variables]
        try:
            return [dict(_bindings(names, solution)) for solution in solutions]
        except (OSError, RuntimeError) as error:
            raise BackendError(f"{self._address}: {error}") from error

    def ask(self, query: str) -> bool:
        """The answer of an ASK query.

        Raises:
            BackendError: the query is wrong or the store cannot be read.
        """
        answer = self._query(query)
        if not isinstance(answer, pyoxigraph.QueryBoolean):
            raise QuerySyntax("Expected an ASK query.")
        return bool(answer)

    def close(self) -> None:
        """Let the store go; a second call does nothing."""
        self._store = None

    def _query(self, query: str) -> Any:
        store = self._store
        if store is None:
            raise BackendDown(f"The graph {self._address} is closed.")
        try:
            return store.query(query)
        except SyntaxError as error:
            raise QuerySyntax(f"The store refused the query: {error}") from error
        except (OSError, RuntimeError) as error:
            raise BackendError(f"{self._address}: {error}") from error


def _bindings(names: list[str], solution: Any) -> Iterator[tuple[str, Term]]:
    for index, name in enumerate(names):
        value = solution[index]
        if value is not None:
            yield name, _term(value)


def _term(value: Any) -> Term:
    if isinstance(value, pyoxigraph.NamedNode):
        return Term("iri", value.value)
    if isinstance(value, pyoxigraph.BlankNode):
        return Term("blank", value.value)
    if value.language:
        return Term("literal", value.value, None, value.language.lower())
    datatype = value.datatype.value
    return Term("literal", value.value, None if datatype == _STRING else datatype)
