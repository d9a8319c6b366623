"""The harness's end of the connection to one kernel: answers its requests with host functions.

A bounded pool of threads takes turns: one reads the next request, leaves the reading to another,
and runs the host function itself. Requests that have proved quick are run before reading on, for
taking turns costs more than they do. Whatever the kernel sends, only its own connection can
suffer: it is closed with a reason.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from kernel.headtail import shorten
from kernel.interpreter import HostError
from kernel.wire import HEADER, MAX_FRAME, WireError, decode, encode, frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernel.interpreter import HostFunction

_log = logging.getLogger(__name__)
_log.addHandler(logging.NullHandler())  # without it Python prints faults over the user's run
_READ: Final = 65_536
_LONGEST_BACKLOG: Final = 10_000
_KEPT_FAULTS: Final = 100
_QUICK: Final = 0.0005  # seconds: less than two threads need to take turns
_HELD_UP: Final = 0.05
_SMALL: Final = 32_768  # bytes: fits into the socket's buffer
_MOST_KINDS: Final = 1_000
_LONGEST_MESSAGE: Final = 100_000

_Request = tuple[int, str, dict[str, Any]]


class ProtocolError(Exception):
    """The kernel sent what is no request; the message is the reason the connection closes."""


class RpcServer:
    """Answers the requests of one kernel until its connection ends.

    Args:
        sock: the harness's end of a socket pair; the server owns it.
        methods: the host functions by method name; they run in the pool, several at once.
        immediate: quick host functions that are run by whichever thread reads, so that they are
            answered, in order, even where every host function is busy.
        workers: most host functions run at once; further requests wait.
    """

    def __init__(
        self,
        sock: socket.socket,
        methods: Mapping[str, HostFunction],
        *,
        immediate: Mapping[str, HostFunction] | None = None,
        workers: int = 16,
    ) -> None:
        self._socket = sock
        self._methods = dict(methods)
        self._immediate = dict(immediate or {})
        self._most_threads = workers + 1
        self._threads = 0
        self._idle = 0
        self._backlog: deque[_Request] = deque()
        self._buffer = bytearray()
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        self._reason: str | None = None
        self._seconds: dict[tuple[str, str], float] = {}
        self._held_up_since: float | None = None
        self.faults: deque[str] = deque(maxlen=_KEPT_FAULTS)
        """What went wrong in host functions, one line each, oldest first."""

    @property
    def closed_reason(self) -> str | None:
        """Why the connection ended, or None while it lasts."""
        return self._reason

    def start(self) -> None:
        """Begin to answer."""
        with self._lock:
            self._add_thread()

    def close(self, reason: str = "closed by the harness") -> None:
        """End the connection; the first reason stays. Host functions under way run on."""
        with self._lock:
            if self._reason is not None:
                return
            self._reason = reason
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def relieve(self, seconds: float = _HELD_UP) -> None:
        """Let another thread read where the reader has been held up by a host function.

        To be called now and then while an answer is awaited.

        Args:
            seconds: how long it must have been held up.
        """
        with self._lock:
            since = self._held_up_since
            if since is not None and time.monotonic() - since >= seconds and self._spare():
                self._held_up_since = None
                self._reading.release()

    def _add_thread(self) -> None:
        self._threads += 1
        self._idle += 1
        threading.Thread(target=self._serve, name="kernel-rpc", daemon=True).start()

    def _serve(self) -> None:
        while self._reason is None:
            request = self._lead()
            while request is not None:
                self._answer(*request)
                request = self._from_backlog()

    def _from_backlog(self) -> _Request | None:
        with self._lock:
            if self._backlog:
                return self._backlog.popleft()
            self._idle += 1
            return None

    def _lead(self) -> _Request | None:
        """Wait for the turn to read, and read.

        Returns:
            The request to run, with the reading left to another thread; or None where this thread
            is idle again or the connection has ended.
        """
        self._reading.acquire()
        with self._lock:
            self._idle -= 1
        try:
            while self._reason is None:
                request = self._next_request()
                if self._is_quick(request):
                    if not self._answer_while_reading(request):
                        return self._from_backlog()
                elif self._leave_reading(request):
                    self._reading.release()
                    return request
        except ProtocolError as error:
            self.close(str(error))
        except OSError as error:
            self.close(f"the connection to the kernel broke ({error})")
        self._reading.release()
        return None

    def _is_quick(self, request: _Request) -> bool:
        return self._seconds.get(_kind(request), 1.0) < _QUICK

    def _answer_while_reading(self, request: _Request) -> bool:
        """Run a request without leaving the reading; False where ``relieve`` gave it away."""
        self._held_up_since = time.monotonic()
        data = self._run(*request)
        if len(data) > _SMALL:  # to send it may have to wait for the kernel to read
            self.relieve(0)
        self._send(data)
        with self._lock:
            kept = self._held_up_since is not None
            self._held_up_since = None
            return kept

    def _spare(self) -> bool:
        """Whether there is, or now will be, another thread to read; under the lock."""
        if not self._idle and self._threads < self._most_threads:
            self._add_thread()
        return self._idle > 0

    def _leave_reading(self, request: _Request) -> bool:
        """Whether another thread can read on; if not, the request joins the backlog."""
        with self._lock:
            if self._spare():
                return True
            self._backlog.append(request)
            if len(self._backlog) > _LONGEST_BACKLOG:
                raise ProtocolError(f"the kernel left {_LONGEST_BACKLOG:,} requests open")
            return False

    def _next_request(self) -> _Request:
        """Read until there is a request for the pool; answer immediate ones on the way."""
        while True:
            number, payload = self._next_frame()
            method, params = _request(payload)
            if method in self._immediate:
                self._answer(number, method, params)
            elif method in self._methods:
                return number, method, params
            else:
                raise ProtocolError(f"the kernel called an unknown method {method!r:.80}")

    def _next_frame(self) -> tuple[int, bytes]:
        buffer = self._buffer
        needed = HEADER.size
        while True:
            if len(buffer) >= needed:
                length, number = HEADER.unpack_from(buffer)
                if length > MAX_FRAME:
                    raise ProtocolError(f"the kernel sent a message of {length:,} bytes")
                needed = HEADER.size + length
                if len(buffer) >= needed:
                    payload = bytes(memoryview(buffer)[HEADER.size : needed])
                    del buffer[:needed]
                    return number, payload
            chunk = self._socket.recv(_READ)
            if not chunk:
                where = "in the middle of a message" if buffer else "and its connection"
                raise ProtocolError(f"the kernel ended {where}")
            buffer += chunk

    def _answer(self, number: int, method: str, params: dict[str, Any]) -> None:
        self._send(self._run(number, method, params))

    def _send(self, data: bytes) -> None:
        with self._writing, contextlib.suppress(OSError):
            self._socket.sendall(data)

    def _run(self, number: int, method: str, params: dict[str, Any]) -> bytes:
        """Call the host function; return the frame that answers the request."""
        function = self._immediate.get(method) or self._methods[method]
        started = time.monotonic()
        try:
            data = frame(number, encode({"result": function(params)}))
        except HostError as error:
            data = frame(number, _error(error.kind, error.message))
        except WireError as error:
            self._record(method, error)
            data = frame(number, _error("HarnessFault", f"{method}: no usable answer: {error}"))
        except BaseException as error:
            self._record(method, error)
            data = frame(number, _error("HarnessFault", f"{method} failed in the harness"))
        seconds = time.monotonic() - started if len(data) <= _SMALL else 1.0
        self._learn(_kind((number, method, params)), seconds)
        return data

    def _learn(self, kind: tuple[str, str], seconds: float) -> None:
        """Keep a moving average of what a kind of request takes; long answers count as slow."""
        if len(self._seconds) > _MOST_KINDS:
            self._seconds.clear()
        self._seconds[kind] = 0.7 * self._seconds.get(kind, seconds) + 0.3 * seconds

    def _record(self, method: str, error: BaseException) -> None:
        self.faults.append(f"{method}: {type(error).__name__}: {error}")
        _log.error("host function %s failed", method, exc_info=error)


def _kind(request: _Request) -> tuple[str, str]:
    """What takes about the same time: the method, and the function it is to call."""
    _, method, params = request
    function = params.get("function")
    return method, function if isinstance(function, str) else ""


def _request(payload: bytes) -> tuple[str, dict[str, Any]]:
    try:
        request = decode(payload)
    except WireError as error:
        raise ProtocolError(f"the kernel sent garbage: {error}") from None
    if not isinstance(request, dict):
        raise ProtocolError("the kernel sent garbage: a request must be an object")
    method, params = request.get("method"), request.get("params")
    if not isinstance(method, str) or not isinstance(params, dict):
        raise ProtocolError("the kernel sent garbage: a request needs a method and parameters")
    return method, params


def _error(kind: str, message: str) -> bytes:
    return encode({"error": {"kind": kind, "message": shorten(message, _LONGEST_MESSAGE)}})
