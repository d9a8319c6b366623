"""Parts of a graph folder that are opened at first use: many calls need neither of them.

Opening them loads numpy and tantivy, which takes longer than answering most calls. Damage is found
only then, when the graph is in use already: it is the graph's failure (``BackendDown``).
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from kg_functions.errors import BackendDown, GraphSetupError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kg_functions.adjacency import Adjacency
    from kg_functions.label_index import LabelIndex, NamePage


class LaterAdjacency:
    """An adjacency that opens itself.

    Args:
        folder: where the arrays lie.

    Raises:
        GraphSetupError: there is no such folder. A damaged one is found at first use
            (``BackendDown``).
    """

    def __init__(self, folder: Path) -> None:
        self._folder = _existing(folder)

    @cached_property
    def opened(self) -> Adjacency:
        """The adjacency itself."""
        from kg_functions.adjacency import Adjacency

        with _failing_as_backend(self._folder):
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
        GraphSetupError: there is no such folder. A damaged one is found at first use
            (``BackendDown``).
    """

    def __init__(self, folder: Path) -> None:
        self._folder = _existing(folder)

    @cached_property
    def opened(self) -> LabelIndex:
        """The label index itself."""
        from kg_functions.label_index import LabelIndex

        with _failing_as_backend(self._folder):
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
        index = self.opened
        with _failing_as_backend(self._folder):
            return index.search(text, kind=kind, limit=limit, offset=offset, language=language)

    def close(self) -> None:
        """Let go of the files, where they were opened; a second call does nothing."""
        if "opened" in self.__dict__:
            self.opened.close()


@contextmanager
def _failing_as_backend(folder: Path) -> Iterator[None]:
    """Raise ``BackendDown`` where a part turns out to be damaged or gone."""
    try:
        yield
    except GraphSetupError as error:
        raise BackendDown(str(error)) from error
    except (OSError, ValueError) as error:  # tantivy's own failures are ValueError
        reason = " ".join(str(error).split())
        raise BackendDown(f"{folder} cannot be read ({reason}); build the graph again.") from error


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise GraphSetupError(f"{folder} is missing: build the graph again.")
    return folder
