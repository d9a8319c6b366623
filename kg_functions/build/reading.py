"""Entity documents and triples from files: what a file holds, and its lines in numbered chunks."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

import orjson

from kg_functions.build.chunks import CHUNK_BYTES, Chunk, Format
from kg_functions.build.compression import SUFFIXES
from kg_functions.build.turtle import turtle_chunks
from kg_functions.errors import GraphSetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from kg_functions.build.compression import ByteSource

_LONGEST_LINE: Final = 1 << 28
_LARGEST_DOCUMENT: Final = 1 << 28
_HEAD: Final = 1 << 16
_LINES_SUFFIXES: Final = (".jsonl", ".ndjson")
_LINES_LOOKED_AT: Final = 20
_DOCUMENT_KEYS: Final = frozenset({"id", "entities", "redirect"})
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_BY_SUFFIX: Final = {
    ".json": Format.JSON,
    ".jsonl": Format.JSON,
    ".ndjson": Format.JSON,
    ".nt": Format.N_TRIPLES,
    ".ttl": Format.TURTLE,
}


def find_format(path: Path, head: bytes) -> Format:
    """What a file holds, by its name or else by its first bytes (after decompression).

    Raises:
        GraphSetupError: where neither tells.
    """
    name = _plain_name(path)
    for suffix, format in _BY_SUFFIX.items():
        if name.endswith(suffix):
            return format
    text = head.lstrip()
    if text[:1] in (b"{", b"["):
        return Format.JSON
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(b"#")]
    first = lines[0].lower() if lines else b""
    if first.startswith((b"@prefix", b"@base", b"prefix ", b"base ")):
        return Format.TURTLE
    if first.startswith((b"<", b"_:")):
        return Format.N_TRIPLES if first.rstrip().endswith(b".") else Format.TURTLE
    raise GraphSetupError(
        f"{path} is neither Wikidata entity JSON nor Turtle or N-Triples: it begins with "
        f"{text[:20].decode('utf-8', 'replace')!r}."
    )


def _plain_name(path: Path) -> str:
    """A file's name in lower case without the suffix of a compression."""
    name = path.name.lower()
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def read_chunks(source: ByteSource) -> Iterator[Chunk]:
    """The lines of a file in chunks; Turtle is turned into N-Triples on the way.

    Entity JSON may be a dump array (one entity a line, commas between), one document a line, or a
    single document over several lines. The name or a later line that is a document tells lines
    where the first one is damaged.

    Raises:
        GraphSetupError: where the file is empty, damaged, or ends early.
    """
    blocks = iter(source)
    head = b"".join(_until_line_end(blocks)).removeprefix(_BYTE_ORDER_MARK)
    if not head.strip():
        raise GraphSetupError(f"{source.path} is empty: nothing can be built from it.")
    format = find_format(source.path, head)
    blocks = chain((head,), blocks)
    if format is Format.TURTLE:
        yield from turtle_chunks(source, blocks)
        return
    if format is Format.N_TRIPLES:
        yield from _line_chunks(source, blocks, format)
        return
    first_line = head.lstrip().partition(b"\n")[0].strip()
    if first_line.startswith(b"["):
        yield from _array_chunks(source, blocks)
    elif first_line.endswith((b"}", b"},")) or _plain_name(source.path).endswith(_LINES_SUFFIXES):
        yield from _line_chunks(source, blocks, format)
    else:
        yield from _document_or_lines(source, blocks)


def _until_line_end(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The first blocks, up to one that ends a line which is not blank."""
    seen = 0
    begun = ended = False
    for block in blocks:
        yield block
        seen += len(block)
        text = block if begun else block.lstrip()
        begun = begun or bool(text)
        ended = ended or b"\n" in text
        if seen >= _HEAD and (ended or seen > _LONGEST_LINE):
            return


def _line_chunks(source: ByteSource, blocks: Iterable[bytes], format: Format) -> Iterator[Chunk]:
    """Chunks of whole lines; a last line without newline must be complete."""
    chunk = None
    for chunk in _chunks(source, blocks, format):
        yield chunk
    if chunk is None or chunk.data.endswith(b"\n"):
        return
    last = chunk.data.rpartition(b"\n")[2].strip()
    complete = last.endswith(b".") if format is Format.N_TRIPLES else _is_json(last.strip(b","))
    if last and not complete:
        line = chunk.line + chunk.data.count(b"\n")
        raise GraphSetupError(f"{source.path} ends early: its last line, {line:,}, is cut off.")


def _array_chunks(source: ByteSource, blocks: Iterable[bytes]) -> Iterator[Chunk]:
    """Chunks of a dump array: the brackets are taken off, and the closing one must be there."""
    first = True
    tail = b""
    line = 1
    for chunk in _chunks(source, blocks, Format.JSON):
        data = chunk.data
        if first:
            data = data.replace(b"[", b"", 1)
            first = False
        stripped = data.rstrip()
        if stripped:
            tail = stripped[-2:]
            line = chunk.line + stripped.count(b"\n")
        if tail.endswith(b"]"):
            data = stripped[:-1]
        yield replace(chunk, data=data)
    if not tail.endswith(b"]"):
        raise GraphSetupError(
            f"{source.path} ends early: the array is not closed after line {line:,}."
        )


def _document_or_lines(source: ByteSource, blocks: Iterator[bytes]) -> Iterator[Chunk]:
    """A single document as one chunk; lines, where it is none and one of its next lines is."""
    parts = []
    size = 0
    for block in blocks:
        parts.append(block)
        size += len(block)
        if size > _LARGEST_DOCUMENT:
            break
    data = b"".join(parts)
    parts.clear()
    try:
        if size > _LARGEST_DOCUMENT:
            raise ValueError("its first line is not JSON by itself")
        orjson.loads(data)
    except ValueError as error:
        if any(map(_is_document, _next_lines(data))):
            yield from _line_chunks(source, chain((data,), blocks), Format.JSON)
            return
        reason = (
            f"is neither one entity a line nor a single document: {error}"
            if size > _LARGEST_DOCUMENT
            else f"ends early or is not JSON: {error}"
        )
        raise GraphSetupError(f"{source.path} {reason}.") from error
    yield Chunk(source.name, source.input, 1, data, Format.JSON, one_document=True)


def _next_lines(data: bytes) -> Iterator[bytes]:
    """Some whole lines after the first one."""
    lines = (line.strip() for line in io.BytesIO(data) if line.endswith(b"\n"))
    return islice(lines, 1, _LINES_LOOKED_AT)


def _is_document(line: bytes) -> bool:
    """Whether a line is an entity document or a redirect by itself."""
    try:
        parsed = orjson.loads(line.strip(b","))
    except ValueError:
        return False
    return isinstance(parsed, dict) and not _DOCUMENT_KEYS.isdisjoint(parsed)


def _chunks(source: ByteSource, blocks: Iterable[bytes], format: Format) -> Iterator[Chunk]:
    """Cut a stream at line ends; only the last chunk may lack its newline."""
    line = 1
    parts: list[bytes] = []
    size = 0
    for block in blocks:
        parts.append(block)
        size += len(block)
        if size < CHUNK_BYTES:
            continue
        cut = block.rfind(b"\n") + 1
        if not cut:
            if size > _LONGEST_LINE:
                raise GraphSetupError(
                    f"{source.path}: line {line:,} is longer than {_LONGEST_LINE:,} bytes."
                )
            continue
        parts[-1] = block[:cut]
        data = b"".join(parts)
        yield Chunk(source.name, source.input, line, data, format)
        line += data.count(b"\n")
        parts = [block[cut:]]
        size = len(parts[0])
    if size:
        yield Chunk(source.name, source.input, line, b"".join(parts), format)


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True
