"""How much a confined kernel may use of the machine."""

from __future__ import annotations

from dataclasses import dataclass

GIB = 1 << 30


@dataclass(frozen=True)
class Limits:
    """Bounds of one kernel with everything it starts.

    Attributes:
        memory: address space of each process, in bytes.
        total_memory: resident memory of all its processes, in bytes; looked at now and then.
        files: what it may keep in its scratch folder, in bytes; also the largest single file.
        outputs: what it may keep in the folders that the harness reads, in bytes; looked at now
            and then.
        processes: processes and threads at once.
        open_files: open file descriptors of each process.
    """

    memory: int = 2 * GIB
    total_memory: int = 3 * GIB
    files: int = GIB
    outputs: int = GIB
    processes: int = 512
    open_files: int = 1024
