"""The scratch folder of one run: where its kernels live, removed with them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

_LONGEST_SOCKET_FOLDER: Final = 80
"""A Unix socket's path holds about 100 bytes; the folder must leave room for the file's name."""

_LARGEST_KEPT: Final = 256 << 20
"""Bytes of an output that a kernel reads back: more than ``kernel.inside`` writes of one cell."""


class Scratch:
    """A temporary folder with a short path.

    Attributes:
        folder: the whole.
        home: the kernel's home and working folder.
        spool: the whole outputs of cells, until they are collected.
        sockets: Jupyter's sockets and connection files.
        log: what a kernel prints before it is ready.
    """

    def __init__(self) -> None:
        parent = tempfile.gettempdir()
        if len(os.fsencode(parent)) > _LONGEST_SOCKET_FOLDER:
            parent = "/tmp"
        self.folder = Path(tempfile.mkdtemp(prefix="wrlm-", dir=parent))
        self.home = self.folder / "home"
        self.spool = self.folder / "spool"
        self.sockets = self.folder / "s"
        self.log = self.folder / "kernel.log"
        for folder in (self.home, self.spool, self.sockets):
            folder.mkdir(mode=0o700)

    def remove(self) -> None:
        """Remove the folder and what is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def clear_shared(self, keep: Path | None) -> None:
        """Remove what earlier kernels left in the folders of sockets and outputs.

        Args:
            keep: a file of outputs that the next kernel needs; removed all the same where it is
                larger than any kernel may leave.
        """
        for folder in (self.sockets, self.spool):
            for path in folder.iterdir():
                if path == keep and path.lstat().st_size <= _LARGEST_KEPT:
                    continue
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)

    def environment(self) -> dict[str, str]:
        """The kernel's whole environment."""
        return {
            "PATH": os.defpath,
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "IPYTHONDIR": str(self.home / ".ipython"),
        }
