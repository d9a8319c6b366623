"""System calls without Python's or the C library's functions for them; Linux only."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import socket
import struct
from typing import Any, Final

AT_FDCWD: Final = -100
CLONE_NEWUSER: Final = 0x10000000

_NUMBERS: Final[dict[str, dict[str, int]]] = {
    "x86_64": {
        "openat": 257, "kill": 62, "socket": 41, "connect": 42, "process_vm_readv": 310,
        "unshare": 272, "mmap": 9, "munmap": 11,
    },
    "aarch64": {
        "openat": 56, "kill": 129, "socket": 198, "connect": 203, "process_vm_readv": 270,
        "unshare": 97, "mmap": 222, "munmap": 215,
    },
}  # fmt: skip


class Refused(OSError):
    """The attack came to nothing, though no system call failed."""


def call(name: str, *arguments: Any) -> int:
    """Make a system call.

    Args:
        name: its name; only a few are known.
        arguments: numbers, bytes or ctypes objects.

    Raises:
        OSError: where it fails, and where the machine's numbers of system calls are not known.
    """
    numbers = _NUMBERS.get(platform.machine())
    if numbers is None:
        raise OSError(f"system calls of {platform.machine()} are not known")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    plain = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = libc.syscall(ctypes.c_long(numbers[name]), *plain)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def internet_address(host: str, port: int) -> bytes:
    """A ``struct sockaddr_in``."""
    return struct.pack("=H2s4s8x", socket.AF_INET, port.to_bytes(2, "big"), socket.inet_aton(host))


def read_memory(pid: int, address: int, size: int) -> bytes:
    """Read another process's memory.

    Raises:
        OSError: where that is refused.
    """
    buffer = ctypes.create_string_buffer(size)
    ours = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), size)
    theirs = (ctypes.c_size_t * 2)(address, size)
    call("process_vm_readv", pid, ours, 1, theirs, 1, 0)
    return buffer.raw


def map_memory(size: int) -> int:
    """Map writable memory and give it back.

    Returns:
        Its size in bytes.

    Raises:
        OSError: where that is refused.
    """
    protection, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    address = call("mmap", 0, size, protection, flags, -1, 0)
    call("munmap", address, size)
    return size


def unshare(flags: int) -> None:
    """Leave namespaces for new ones, in a process that ends at once.

    Raises:
        OSError: where that is refused.
    """
    pid = os.fork()
    if pid == 0:
        try:
            call("unshare", flags)
        except OSError as error:
            os._exit(error.errno or 1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        raise OSError(code, os.strerror(code))
