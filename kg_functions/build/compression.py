"""Input files as streams of plain bytes: decompressed, hashed, checked for truncation."""

from __future__ import annotations

import bz2
import errno
import hashlib
import os
import zlib
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol

from kg_functions.errors import GraphSetupError
from kg_functions.manifest import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Self

_BLOCK: Final = 1 << 17
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE: Final = b"\x2a\x4d\x18"
"""What follows the first byte of a zstd frame that holds no data."""

SUFFIXES: Final = (".gz", ".bz2", ".zst")


class _Decoder(Protocol):
    """One compressed stream; a file may hold several, one after the other."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


class ByteSource:
    """One input file, read once from start to end.

    Iteration yields blocks of decompressed bytes.

    Args:
        path: the file; the kind of compression is seen from its content.
        input: its place among the inputs of a build, counted from 0.

    Raises:
        GraphSetupError: where the file cannot be read, is damaged, or ends early.
    """

    def __init__(self, path: Path, input: int = 0) -> None:
        self.path = path
        self.name = source_name(path)
        self.input = input
        try:
            self._file: BinaryIO = path.open("rb")
            self._head = self._file.read(_BLOCK)
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from error
        self._hash = hashlib.sha256()
        self.done = 0
        """Bytes of the file, as it lies on disk, that have been read so far."""

    def source(self) -> Source:
        """What the manifest says about this file, once it has been read to its end."""
        return Source(name=self.name, size=self.done, sha256=self._hash.hexdigest())

    def __iter__(self) -> Iterator[bytes]:
        name, decoder = _decoder(self._head)
        return self._raw() if decoder is None else self._decoded(name, decoder)

    def _raw(self) -> Iterator[bytes]:
        block = self._head
        while block:
            self._hash.update(block)
            self.done += len(block)
            yield block
            block = self._file.read(_BLOCK)

    def _decoded(self, name: str, new: Callable[[], _Decoder]) -> Iterator[bytes]:
        decoder = new()
        inside = False
        for block in self._raw():
            while block:
                try:
                    data = decoder.decompress(block)
                except Exception as error:  # zlib, bz2 and zstandard each have their own
                    raise GraphSetupError(
                        f"{self.path} is damaged near byte {self.done:,}: {name} says "
                        f"{' '.join(str(error).split())!r}. Download it again."
                    ) from error
                if data:
                    yield data
                inside = not decoder.eof
                if inside:
                    break
                block = decoder.unused_data.lstrip(b"\0")  # padding is allowed between streams
                decoder = new()
        if inside:
            raise GraphSetupError(
                f"{self.path} ends early, after {self.done:,} bytes: its last {name} stream is "
                "incomplete. Download it again."
            )

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def source_name(path: Path) -> str:
    """A file's name as text that can be written; a name need not be text."""
    return path.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def check_readable(path: Path) -> None:
    """Let a file through that can be opened; a pipe is not opened, as that would start it.

    Raises:
        GraphSetupError: it is missing, a folder, or may not be read.
    """
    try:
        if path.is_file():
            path.open("rb").close()
        elif path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        elif not os.access(path, os.R_OK):
            path.stat()
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError | ValueError) -> GraphSetupError:
    reason = error.strerror if isinstance(error, OSError) else None
    return GraphSetupError(f"{printable(path)} cannot be read: {reason or error}.")


def printable(path: Path) -> str:
    """A path as it may stand in a line for a person."""
    text = str(path)
    return text if text.isprintable() else repr(text)


def _decoder(head: bytes) -> tuple[str, Callable[[], _Decoder] | None]:
    """The name of the compression that a file begins with, and what undoes it."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip", lambda: zlib.decompressobj(zlib.MAX_WBITS | 16)
    if head.startswith(b"BZh"):
        return "bzip2", bz2.BZ2Decompressor
    if head.startswith(_ZSTD_MAGIC) or head[1:4] == _ZSTD_SKIPPABLE:
        import zstandard

        return "zstd", lambda: zstandard.ZstdDecompressor().decompressobj()
    return "", None
