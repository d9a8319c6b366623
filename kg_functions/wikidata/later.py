"""Parts of a graph folder that are opened at first use: many calls need neither of them.

Opening them loads numpy and tantivy, which takes longer than answering most calls.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from kg_functions.errors import GraphSetupError

if TYPE_CHECKING:
    from pathlib import Path

    from kg_functions.adjacency import Adjacency
    from kg_functions.label_index import LabelIndex, NamePage


class LaterAdjacency:
    """An adjacency that opens itself.

    Args:
        folder: where the arrays lie.

    Raises:
        GraphSetupError: there is no such folder. A damaged one is found at first use.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = _existing(folder)

    @cached_property
    def opened(self) -> Adjacency:
        """The adjacency itself."""
        from kg_functions.adjacency import Adjacency

        return Adjacency.open(self._folder)

    def degree(self, entity: int) -> tuple[int, int]:
        """See ``Adjacency``."""
        return self.opened.degree(entity)

    def counts(self, entity: int, property: int | None = None) -> dict[int, tuple[int, int]]:
        """See ``Adjacency``."""
        return self.opened.counts(entity, property)

    def page(
        self,
        entity: int,
        *,
        direction: Literal["out", "in", "both"],
        property: int | None,
        limit: int,
        offset: int,
    ) -> tuple[int, list[tuple[str, int, int]]]:
        """See ``Adjacency``."""
        return self.opened.page(
            entity, direction=direction, property=property, limit=limit, offset=offset
        )


class LaterLabelIndex:
    """A label index that opens itself.

    Args:
        folder: where the index lies.

    Raises:
        GraphSetupError: there is no such folder. A damaged one is found at first use.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = _existing(folder)

    @cached_property
    def opened(self) -> LabelIndex:
        """The label index itself."""
        from kg_functions.label_index import LabelIndex

        return LabelIndex.open(self._folder)

    def search(
        self,
        text: str,
        kind: Literal["item", "property"] = "item",
        limit: int = 20,
        offset: int = 0,
        language: str | None = None,
    ) -> NamePage:
        """See ``LabelIndex``."""
        return self.opened.search(text, kind=kind, limit=limit, offset=offset, language=language)


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise GraphSetupError(f"{folder} is missing: build the graph again.")
    return folder
