"""SPARQL servers for tests: a real oxigraph process, and an endpoint that answers by script."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator

YES = b'{"head":{},"boolean":true}'
NO = b'{"head":{},"boolean":false}'
START_SECONDS = 20.0


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def oxigraph_binary() -> str:
    """The server's executable: beside this interpreter, else on the path."""
    beside = Path(sys.executable).parent / "oxigraph"
    found = str(beside) if beside.is_file() else shutil.which("oxigraph")
    assert found is not None, "the development package `oxigraph` brings the server"
    return found


@contextlib.contextmanager
def oxigraph_server(store: Path) -> Iterator[str]:
    """Serve a store read-only on a free loopback port; gives the query endpoint's URL."""
    port = free_port()
    command = [
        oxigraph_binary(),
        "serve-read-only",
        "--location",
        str(store),
        "--bind",
        f"127.0.0.1:{port}",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until_open(port, process)
        yield f"http://127.0.0.1:{port}/query"
    finally:
        process.terminate()
        process.wait(timeout=10)


def _wait_until_open(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, "the oxigraph server ended at once"
        with contextlib.suppress(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{port}/", timeout=2.0)
            return
        time.sleep(0.02)
    raise AssertionError("the oxigraph server did not start")


@dataclass
class Scripted:
    """One reply of a scripted endpoint.

    Attributes:
        status: the HTTP status.
        body: the body.
        headers: further headers.
        delay: seconds before the reply begins.
        drop: close the connection instead of replying.
        cut: announce the whole body, send this many bytes of it and close the connection.
        drip: seconds to wait before each byte of the body.
    """

    status: int = 200
    body: bytes = YES
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    cut: int | None = None
    drip: float = 0.0


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is what some tests are about."""


class ScriptedEndpoint:
    """An HTTP/1.1 endpoint that gives its replies in order, then says yes to everything.

    Args:
        replies: what to answer.
        nodelay: with False the server leaves Nagle's algorithm on and writes header and body
            separately, as QLever does.

    Attributes:
        forms: the form fields of each request, in order.
        connections: how many connections were opened.
    """

    def __init__(self, replies: list[Scripted] | None = None, *, nodelay: bool = True) -> None:
        self.forms: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self._replies = deque(replies or [])
        self._lock = threading.Lock()
        self._server = _QuietServer(("127.0.0.1", 0), self._handler(nodelay))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/sparql"

    def __enter__(self) -> ScriptedEndpoint:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _next(self, form: dict[str, str], headers: dict[str, str]) -> Scripted:
        with self._lock:
            self.forms.append(form)
            self.headers.append(headers)
            return self._replies.popleft() if self._replies else Scripted()

    def _handler(self, nodelay: bool) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = nodelay

            def setup(self) -> None:
                super().setup()
                with endpoint._lock:
                    endpoint.connections += 1

            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                fields = parse_qs(self.rfile.read(size).decode(), keep_blank_values=True)
                form = {name: values[0] for name, values in fields.items()}
                self._send(endpoint._next(form, dict(self.headers.items())))

            def _send(self, reply: Scripted) -> None:
                time.sleep(reply.delay)
                if reply.drop:
                    self.close_connection = True
                    return
                self.send_response(reply.status)
                self.send_header("Content-Type", "application/sparql-results+json")
                self.send_header("Content-Length", str(len(reply.body)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if reply.cut is not None:
                    self.wfile.write(reply.body[: reply.cut])
                    self.close_connection = True
                elif reply.drip:
                    self._drip(reply)
                else:
                    self.wfile.write(reply.body)

            def _drip(self, reply: Scripted) -> None:
                with contextlib.suppress(OSError):
                    for byte in reply.body:
                        time.sleep(reply.drip)
                        self.wfile.write(bytes([byte]))

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
