"""Attacks on the harness through the kernel's own connection to it.

Each succeeds where the harness answers as if nothing were wrong. What they must not do is end or
hold up the harness; whoever runs them sees that from outside.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HEADER: Final = struct.Struct(">IQ")
_REPLY_SECONDS: Final = 2.0
_UNUSED: Final = 1 << 40
"""The first request number of ours; the kernel's own are far below."""


def garbage(target: dict[str, Any]) -> str:
    """Send bytes that are no frame of a request."""
    return _send(_HEADER.pack(64, _UNUSED) + os.urandom(64))


def huge_frame(target: dict[str, Any]) -> str:
    """Announce a frame of 1 GB."""
    return _send(_HEADER.pack(1 << 30, _UNUSED) + b"x" * 4096)


def half_frame(target: dict[str, Any]) -> str:
    """Send half a frame and no more."""
    return _send(_HEADER.pack(64, _UNUSED) + b"{", ends=True)


def unknown_method(target: dict[str, Any]) -> str:
    """Call something that the harness does not offer."""
    return _send(_request(_UNUSED, "read_gold", {"run": "another"}))


def forged_report(target: dict[str, Any]) -> str:
    """Report a cell that never ran, without what a report holds."""
    return _send(_request(_UNUSED, "cell_done", {"counts": {"graph": 0}}))


def _request(number: int, method: str, params: dict[str, Any]) -> bytes:
    payload = json.dumps({"method": method, "params": params}).encode()
    return _HEADER.pack(len(payload), number) + payload


def _send(data: bytes, *, ends: bool = False) -> str:
    """Send bytes on the kernel's connection and wait for a frame that is a result.

    Raises:
        OSError: where the harness closes the connection or reports an error.
    """
    with _connection() as sock:
        sock.sendall(data)
        if ends:
            sock.shutdown(socket.SHUT_WR)
        reply = sock.recv(1 << 16)
    if not reply:
        raise ConnectionResetError("the harness closed the connection")
    if b'"error"' in reply:
        raise ConnectionRefusedError(f"the harness answered {reply[_HEADER.size :][:200]!r}")
    return f"the harness answered {reply[:200]!r}"


@contextlib.contextmanager
def _connection() -> Iterator[socket.socket]:
    """The connection that this kernel was started with: its third argument."""
    with socket.socket(fileno=os.dup(int(sys.argv[2]))) as sock:
        sock.settimeout(_REPLY_SECONDS)
        yield sock


ATTACKS: Final[tuple[tuple[str, str, Callable[[dict[str, Any]], str]], ...]] = (
    ("garbage", "garbage", garbage),
    ("huge-frame", "a frame of 1 GB", huge_frame),
    ("half-frame", "half a frame", half_frame),
    ("unknown-method", "a method outside the protocol", unknown_method),
    ("forged-report", "a forged report", forged_report),
)
