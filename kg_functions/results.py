"""Each distinct result of a run, stored once by content hash in one compressed file.

The file is a row of zstd frames; each frame holds JSON lines ``{"hash", "result"}``. A frame that
was being written when the process died is left out on reading; everything before it is whole.
"""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import orjson

if TYPE_CHECKING:
    from pathlib import Path

HASH_CHARACTERS: Final = 32


def encode(result: Any) -> bytes:
    """The canonical JSON of a result: sorted keys, UTF-8, no white space."""
    return orjson.dumps(result, option=orjson.OPT_SORT_KEYS)


def content_hash(encoded: bytes) -> str:
    """The hash under which a result is stored (hexadecimal, 128 bits)."""
    return hashlib.blake2b(encoded, digest_size=HASH_CHARACTERS // 2).hexdigest()


class ResultStore:
    """Keeps a run's results; with no path it only hashes them.

    Args:
        path: the file to append to, made at the first flush.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: set[str] = set()
        self._pending: list[bytes] = []
        self._file: BinaryIO | None = None
        self._lock = threading.Lock()

    def put(self, encoded: bytes) -> str:
        """Store an encoded result unless it is there already; gives its hash."""
        key = content_hash(encoded)
        with self._lock:
            if key not in self._known:
                self._known.add(key)
                if self._path is not None:
                    self._pending.append(b'{"hash":"%s","result":%s}\n' % (key.encode(), encoded))
        return key

    def flush(self) -> None:
        """Write what is pending as one frame; call it at the end of a turn."""
        import zstandard

        with self._lock:
            if not self._pending or self._path is None:
                return
            if self._file is None:
                self._file = self._path.open("ab")
            self._file.write(zstandard.ZstdCompressor(level=3).compress(b"".join(self._pending)))
            self._file.flush()
            self._pending.clear()

    def close(self) -> None:
        """Flush and close; a second call does nothing."""
        self.flush()
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def read_results(path: Path) -> dict[str, Any]:
    """All results of a run by hash; a torn last frame is left out."""
    import zstandard

    results: dict[str, Any] = {}
    data = path.read_bytes()
    while data:
        frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            lines = frame.decompress(data)
        except zstandard.ZstdError:
            break
        if not frame.eof:
            break
        for line in lines.splitlines():
            record = orjson.loads(line)
            results[record["hash"]] = record["result"]
        data = frame.unused_data
    return results
