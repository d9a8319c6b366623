"""Turtle as chunks of N-Triples, so that one path serves every RDF input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg_functions.build.chunks import CHUNK_BYTES, Chunk, Format
from kg_functions.errors import GraphSetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kg_functions.build.compression import ByteSource


def turtle_chunks(source: ByteSource, blocks: Iterable[bytes]) -> Iterator[Chunk]:
    """Parse Turtle and give its triples as N-Triples.

    Blank nodes are renamed, so that equal labels in two files stay two nodes. A syntax error ends
    the reading: what follows an error in Turtle cannot be trusted.

    Raises:
        GraphSetupError: naming the line of a syntax error, which may be the end of the file.
    """
    import pyoxigraph

    triples = pyoxigraph.parse(
        _Reader(blocks),  # type: ignore[arg-type]
        pyoxigraph.RdfFormat.TURTLE,
        rename_blank_nodes=True,
        lenient=True,
    )
    lines: list[str] = []
    size = 0
    try:
        for triple in triples:
            text = f"{triple} .\n"
            lines.append(text)
            size += len(text)
            if size >= CHUNK_BYTES:
                yield Chunk(source.name, source.input, 0, "".join(lines).encode(), Format.N_TRIPLES)
                lines.clear()
                size = 0
    except SyntaxError as error:
        reason = " ".join(str(error.msg).split())
        raise GraphSetupError(
            f"{source.path} ends early or is not Turtle: line {error.lineno or 0:,}: {reason}."
        ) from error
    yield Chunk(source.name, source.input, 0, "".join(lines).encode(), Format.N_TRIPLES)


class _Reader:
    """Blocks of bytes as the file object that a parser reads from."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._rest = memoryview(b"")

    def read(self, size: int = -1) -> bytes:
        """Up to ``size`` bytes; none at the end."""
        if size < 0:
            rest, self._rest = bytes(self._rest), memoryview(b"")
            return rest + b"".join(self._blocks)
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return b""
            self._rest = memoryview(block)
        part, self._rest = self._rest[:size], self._rest[size:]
        return bytes(part)
