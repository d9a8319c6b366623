"""Kept-alive connections that are not stalled by a server's Nagle algorithm.

A server that writes header and body separately without TCP_NODELAY waits with the body until the
header is acknowledged, and a client's kernel delays that by some 40 ms. Quick acknowledgement ends
it, but Linux forgets the option again and again, so it is set before each read.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any, Final

import httpcore

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable

_QUICK_ACK: Final[int | None] = getattr(socket, "TCP_QUICKACK", None)

KEEPS_CONNECTIONS: Final = _QUICK_ACK is not None
"""Without the option a new connection for each query is the faster way."""


class _QuickAckStream(httpcore.NetworkStream):
    """A connection that acknowledges at once whatever it reads."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream
        self._socket: Any = stream.get_extra_info("socket")

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if _QUICK_ACK is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, _QUICK_ACK, 1)
        return self._stream.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        return _QuickAckStream(self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class QuickAckBackend(httpcore.SyncBackend):
    """Opens TCP connections that acknowledge at once."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = super().connect_tcp(host, port, timeout, local_address, socket_options)
        return _QuickAckStream(stream)
