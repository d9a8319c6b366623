"""Reads the demo tables: tab-separated text with a header line, comments and line numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kg_functions.errors import GraphSetupError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_REFERENCE: Final = re.compile(r"([QP][1-9][0-9]*)(?: \((.+)\))?")


class TableError(GraphSetupError):
    """A row that cannot be read; the message names the file and the line."""


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Attributes:
        place: ``file:line``, for messages.
        cells: text by column name; an absent or blank cell is ``""``.
    """

    place: str
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def error(self, message: str) -> TableError:
        """An error that says where it happened."""
        return TableError(f"{self.place}: {message}")


def read_rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of one table.

    Blank lines and lines that begin with ``#`` are skipped; the first other line is the header.
    Cells at the end of a row may be left out.

    Raises:
        TableError: for text that is not UTF-8, another header than ``columns``, or too many cells.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TableError(f"{path.name}: not UTF-8 text ({error.reason})") from error
    header_seen = False
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        place = f"{path.name}:{number}"
        if not header_seen:
            if cells != list(columns):
                raise TableError(f"{place}: the header must be {' '.join(columns)}, tab-separated")
            header_seen = True
            continue
        if len(cells) > len(columns):
            raise TableError(f"{place}: {len(cells)} cells, but only {len(columns)} columns")
        cells += [""] * (len(columns) - len(cells))
        yield Row(place, dict(zip(columns, cells, strict=True)))
    if not header_seen:
        raise TableError(f"{path.name}: no header line")


def entries(cell: str, separator: str = "|") -> list[str]:
    """The parts of a cell that holds several, without blank ones: ``a | b``."""
    return [part.strip() for part in f" {cell} ".split(f" {separator} ") if part.strip()]


class Names:
    """The ids that the tables define and the English label of each (None where it has none)."""

    def __init__(self) -> None:
        self._labels: dict[str, str | None] = {}

    def define(self, identifier: str, label: str | None, row: Row) -> None:
        """Take an id.

        Raises:
            TableError: if it was defined before.
        """
        if identifier in self._labels:
            raise row.error(f"{identifier} is defined twice")
        self._labels[identifier] = label

    def resolve(self, text: str, row: Row) -> str:
        """The id in ``Q183`` or ``Q183 (Germany)``; a label in brackets must be the right one.

        Raises:
            TableError: for another form, an id that no table defines, or a wrong label.
        """
        found = _REFERENCE.fullmatch(text)
        if found is None:
            raise row.error(f"{text!r} is not an id such as Q183 or Q183 (Germany)")
        identifier, label = found.groups()
        if identifier not in self._labels:
            raise row.error(f"{identifier} is not defined in items/ or properties.tsv")
        if label is not None and label != self._labels[identifier]:
            raise row.error(f"{identifier} is {self._labels[identifier]!r}, not {label!r}")
        return identifier
