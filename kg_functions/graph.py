"""What a graph is to everything above this package: 13 functions, each taking a list of ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from kg_functions.errors import CallError

Result = dict[str, Any]
Batch = Mapping[str, Any]
"""One answer an id: the function's result, or the ``CallError`` that this id alone met."""


class Graph(Protocol):
    """A knowledge graph.

    Every method that takes ids answers all of them with a few engine queries and gives a mapping
    with one entry for each distinct id asked; an id that fails has its ``CallError`` as value. An
    id that was redirected answers as its target, under the id that was asked. Errors of the graph
    itself are raised (``BackendError``). Methods may be called from several threads at once.
    """

    @property
    def kind(self) -> str:
        """``wikidata`` or ``stark``."""
        ...

    @property
    def snapshot(self) -> str:
        """What data this is, for traces: the manifest's snapshot id, or the endpoint's address."""
        ...

    def check_id(self, identifier: object) -> str:
        """Return a well-formed entity or property id, or raise ``InvalidIdentifier``."""
        ...

    def check_property(self, identifier: object) -> str:
        """Return a well-formed property id, or raise ``InvalidIdentifier``."""
        ...

    def search_entity(
        self, name: str, limit: int = 20, offset: int = 0, language: str | None = None
    ) -> Result: ...

    def search_property(self, name: str, limit: int = 20, offset: int = 0) -> Result: ...

    def claims(
        self,
        entities: Sequence[str],
        property: str | None = None,
        rank: str = "best",
        limit: int = 200,
        offset: int = 0,
    ) -> Batch: ...

    def references(
        self,
        entities: Sequence[str],
        property: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> Batch: ...

    def describe(self, entities: Sequence[str]) -> Batch: ...

    def labels(self, entities: Sequence[str]) -> Batch: ...

    def label(self, entities: Sequence[str], language: str = "en") -> Batch: ...

    def descriptions(self, entities: Sequence[str]) -> Batch: ...

    def edges(
        self,
        entities: Sequence[str],
        direction: str = "both",
        property: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> Batch: ...

    def count_edges(self, entities: Sequence[str], property: str | None = None) -> Batch: ...

    def degree(self, entities: Sequence[str]) -> Batch: ...

    def name(self, ids: Sequence[str]) -> Batch: ...

    def has(self, ids: Sequence[str]) -> Batch: ...

    def close(self) -> None:
        """Release files and connections; a second call does nothing."""
        ...


def error_value(error: CallError) -> dict[str, str]:
    """How an id's failure stands in the result of a list call."""
    return {"error": str(error)}
