"""How much of the machine a kernel uses, seen from within its namespaces. Standard library only."""

from __future__ import annotations

import os
import resource
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DISK_FLOOR: Final = 256 << 20
"""Free bytes below which a disk counts as full."""

_SMALLEST: Final = 4096  # bytes that an entry of a folder counts for, empty or not
_DEEPEST: Final = 64  # folders deeper than this count as too much: their paths get too long


def excess(processes: Sequence[Path], shared: Sequence[str], limits: dict[str, int]) -> str | None:
    """Which bound is passed, as a phrase that goes on from "the kernel": None where none is.

    Args:
        processes: the kernel's processes, as folders of /proc.
        shared: folders on the machine's disk that it writes to.
        limits: as in ``kernel.confinement.limits``.
    """
    if len(processes) > limits["processes"]:
        return f"it started more than {limits['processes']} processes"
    if _memory(processes, limits["total_memory"]) > limits["total_memory"]:
        return f"its processes used more than {_size(limits['total_memory'])} of memory"
    most = limits["outputs"]
    if used_bytes(shared, most) + _unlinked(processes, shared) > most:
        return f"it put more than {_size(most)} into the folder of outputs"
    for folder in shared:
        disk = os.statvfs(folder)
        if disk.f_bavail * disk.f_frsize < DISK_FLOOR:
            return "the disk that takes its outputs is full"
    return None


def used_bytes(folders: Iterable[str], most: int) -> int:
    """What lies in folders, in bytes; counting stops at the first number above ``most``."""
    total = 0
    ahead = [(folder, 0) for folder in folders]
    while ahead and total <= most:
        folder, depth = ahead.pop()
        if depth > _DEEPEST:
            return most + 1
        try:
            for entry in os.scandir(folder):
                about = entry.stat(follow_symlinks=False)
                total += max(about.st_blocks * 512, _SMALLEST)
                if stat.S_ISDIR(about.st_mode):
                    ahead.append((entry.path, depth + 1))
        except OSError:
            continue
    return total


def _unlinked(processes: Iterable[Path], folders: Iterable[str]) -> int:
    """Bytes of open files on the disk of some folders that stand in no folder any more."""
    devices = {Path(folder).stat().st_dev for folder in folders}
    found: dict[int, int] = {}
    for process in processes:
        try:
            for entry in (process / "fd").iterdir():
                about = entry.stat()
                if not about.st_nlink and about.st_dev in devices and stat.S_ISREG(about.st_mode):
                    found[about.st_ino] = about.st_blocks * 512
        except OSError:
            continue
    return sum(found.values())


def _memory(processes: Iterable[Path], most: int) -> int:
    """Memory of processes in bytes; what they share counts once, which is slow to find out."""
    listed = list(processes)
    resident = sum(map(_resident, listed))
    return resident if resident <= most else sum(map(_proportional, listed))


def _resident(process: Path) -> int:
    try:
        _, resident, shared, *_ = (process / "statm").read_text().split()
    except OSError:
        return 0
    return (int(resident) - int(shared)) * resource.getpagesize()


def _proportional(process: Path) -> int:
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()
    except OSError:
        return _resident(process)
    sizes = [int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:")]
    return sizes[0] * 1024 if sizes else _resident(process)


def _size(number: int) -> str:
    return f"{number / (1 << 30):g} GiB"
