"""The whole output of a cell: from the kernel's spool file to the run's folder."""

from __future__ import annotations

import codecs
import os
import shutil
import stat
from typing import TYPE_CHECKING, BinaryIO, Final

from kernel.headtail import HeadTail

if TYPE_CHECKING:
    from pathlib import Path

_CHUNK: Final = 1 << 20


def collect(spool: Path, target: Path) -> bool:
    """Copy a cell's whole output; the spool file stays, for ``last_output``.

    Args:
        spool: the kernel's file. The kernel may have put anything there: only a regular file is
            read, links are not followed.
        target: where the output goes.

    Returns:
        Whether there was output; without any, no file is made.
    """
    source = _open(spool)
    if source is None:
        return False
    with source:
        if os.fstat(source.fileno()).st_size == 0:
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".part")
        with partial.open("wb") as copy:
            shutil.copyfileobj(source, copy, _CHUNK)
        partial.replace(target)
    return True


def shorten_file(path: Path, limit: int, hint: str) -> HeadTail:
    """Head and tail of a text file, read in pieces; broken UTF-8 and NUL become escapes."""
    shown = HeadTail(limit, hint)
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            shown.add(decoder.decode(chunk).replace("\0", "\\x00"))
        shown.add(decoder.decode(b"", final=True))
    return shown


def _open(path: Path) -> BinaryIO | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb")
