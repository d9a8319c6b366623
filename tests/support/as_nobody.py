"""Runs Python as an unprivileged user who can read this interpreter and project.

``as_nobody.py ARGUMENTS...``, as root. A folder on the way that is closed to others is covered, in
a mount namespace of its own, by an open one that holds nothing but what is needed.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from pathlib import Path

NOBODY = 65534
CLONE_NEWNS = 0x20000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str]) -> None:
    """Become nobody and run Python with the arguments."""
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(
        source: str, target: Path, kind: bytes | None, flags: int, data: bytes | None
    ) -> None:
        if libc.mount(source.encode(), os.fsencode(target), kind, flags, data) != 0:
            raise OSError(ctypes.get_errno(), f"mount {target}")

    if libc.unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    mount("none", Path("/"), None, MS_REC | MS_PRIVATE, None)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as held:
        for number, path in enumerate((Path(sys.prefix), Path(sys.base_prefix), ROOT)):
            closed = [up for up in path.parents if not up.stat().st_mode & 1]
            if closed:
                place = Path(held, str(number))
                place.mkdir()
                mount(str(path), place, None, MS_BIND, None)
                mount("tmpfs", closed[-1], b"tmpfs", 0, b"mode=755")
                path.mkdir(parents=True)
                mount(str(place), path, None, MS_BIND, None)
                libc.umount2(os.fsencode(place), 0)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    os.chdir("/")
    environment = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    os.execve(sys.executable, [sys.executable, *arguments], environment)


if __name__ == "__main__":
    main(sys.argv[1:])
