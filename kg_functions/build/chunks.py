"""What input files are cut into: runs of whole lines that say where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

CHUNK_BYTES: Final = 1 << 20
"""About how much text a chunk holds; a line that is longer makes a chunk of its own."""


class Format(Enum):
    """What an input file holds."""

    JSON = "Wikidata entity JSON"
    N_TRIPLES = "N-Triples"
    TURTLE = "Turtle"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some whole lines of one file.

    Attributes:
        source: the file's name.
        input: the file's place among the inputs of a build, counted from 0.
        line: the number of the first line, counted from 1.
        data: the lines, with or without a newline at the end.
        format: what the lines hold.
        one_document: whether ``data`` is a single JSON document that may have several lines.
    """

    source: str
    input: int
    line: int
    data: bytes
    format: Format
    one_document: bool = False
