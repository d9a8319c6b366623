"""Which of the machine's folders a confined kernel sees, read-only."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGE: Final = Path(__file__).resolve().parents[1]
"""The folder of the package ``kernel``, the only one of ours that a kernel needs."""

_OTHER_PACKAGES: Final = (
    "kg_functions",
    "model_client",
    "questions",
    "traces",
    "rlm",
    "wikidata_rlm",
)
_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")
_SETTINGS: Final = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives")
_MOST_LINKS: Final = 40


def readable_paths() -> list[Path]:
    """What the interpreter needs: the system's programs and libraries, itself, this package.

    Returns:
        Folders and files that exist, none below another, outer ones first. A path that is a link
        to a folder stands there beside the folder it leads to.
    """
    wanted = [Path(path) for path in (*_SYSTEM, *_SETTINGS, sys.prefix, sys.base_prefix)]
    wanted += [Path(sys.exec_prefix), Path(sys.base_exec_prefix), PACKAGE]
    wanted += [path.resolve() for path in wanted]
    found = outermost(path for path in wanted if path.exists() and path != Path("/"))
    links = [link for link in _links(Path(sys.executable)) if not is_below(link, found)]
    return found + links


def hidden_paths(readable: Iterable[Path]) -> list[Path]:
    """Our other packages where they are installed below something readable.

    They hold questions with their answers, which are nothing for a kernel to see.
    """
    shown = list(readable)
    others = [PACKAGE.parent / name for name in _OTHER_PACKAGES]
    return [path for path in others if path.is_dir() and is_below(path, shown)]


def outermost(paths: Iterable[Path]) -> list[Path]:
    """The paths that lie below no other, each once."""
    found: list[Path] = []
    for path in sorted(set(paths), key=lambda path: len(path.parts)):
        if not is_below(path, found):
            found.append(path)
    return found


def is_below(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a path is one of the folders or lies in one."""
    return any(path.is_relative_to(folder) for folder in folders)


def _links(path: Path) -> Iterator[Path]:
    """A path and what it leads to, link by link."""
    for _ in range(_MOST_LINKS):
        yield path
        if not path.is_symlink():
            return
        path = Path(os.path.normpath(path.parent / path.readlink()))
