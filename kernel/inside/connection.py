"""The kernel's one connection to the harness: blocking calls from any thread, by request id.

There is no reader thread: of the threads that wait for an answer one reads for all, so that a lone
call costs one send and one receive. The main thread may be left at any moment by an exception of a
signal handler (an interrupt, an alarm that the model's code set). Therefore every step that moves
bytes or takes the reader's place is a single C call, ``deque.extend(map(function, args))``: an
exception comes before it or after its result is stored, never between, and the next call goes on
where an interrupted one stopped.
"""

from __future__ import annotations

import itertools
import os
import select
import socket
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from kernel.inside.errors import HarnessFault, from_wire
from kernel.wire import HEADER, decode, encode, frame

if TYPE_CHECKING:
    from collections.abc import Callable

_READ: Final = 65_536
_READ_LARGE: Final = 4 * 1024 * 1024
_FOLLOWER_WAIT: Final = 0.2  # seconds after which a waiting thread looks for itself


class _Call:
    """One request under way, and whoever waits for its answer."""

    __slots__ = ("_wake", "payload")

    def __init__(self) -> None:
        self.payload: bytes | None = None
        self._wake: threading.Lock | None = None

    def sleep(self) -> None:
        """Wait to be roused; for a while only, since a call may come just before."""
        if self._wake is None:
            wake = threading.Lock()
            wake.acquire()
            self._wake = wake
        if self.payload is None:
            self._wake.acquire(timeout=_FOLLOWER_WAIT)

    def rouse(self) -> None:
        """Let the waiting thread look."""
        wake = self._wake
        if wake is not None and wake.locked():
            try:
                wake.release()
            except RuntimeError:  # another thread was quicker
                return


class Connection:
    """Calls the harness over an inherited stream socket.

    Args:
        sock: the connected socket; this object owns it.
    """

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(True)
        self._socket = sock
        self._send = sock.send
        self._receive = sock.recv
        self._numbers = itertools.count(1)
        self._waiting: dict[int, _Call] = {}
        self._writing = threading.Lock()
        self._reading = threading.Lock()
        self._outgoing: tuple[bytes, deque[int]] = (b"", deque())
        self._incoming: tuple[deque[bytes], int] = (deque(), HEADER.size)
        self._lost: str | None = None
        os.register_at_fork(after_in_child=self._forbid)

    def call(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Ask the harness and wait for its answer.

        Raises:
            WireError: for parameters that cannot be sent.
            HarnessFault: where the connection is gone.
            Exception: the class in ``kernel.inside.errors`` that the harness named.
        """
        payload = encode({"method": method, "params": params or {}})
        number = next(self._numbers)
        data = frame(number, payload)
        call = _Call()
        self._waiting[number] = call
        try:
            self._write(data)
            while call.payload is None:
                self._wait(call)
        except OSError as error:
            self._lost = self._lost or f"the connection to the harness broke ({error})"
            raise HarnessFault(self._lost) from None
        finally:
            self._waiting.pop(number, None)
        answer = decode(call.payload)
        if "error" in answer:
            raise from_wire(answer["error"])
        return answer["result"]

    def _forbid(self) -> None:
        self._lost = (
            "a forked process cannot call the harness: use threads, or graph_map, in this process"
        )

    def _check(self) -> None:
        if self._lost is not None:
            raise HarnessFault(self._lost)

    def _write(self, data: bytes) -> None:
        self._check()
        with self._writing:
            self._finish_frame()
            self._outgoing = (data, deque())
            self._send_rest()

    def _finish_frame(self) -> None:
        """Complete a frame that an interrupted call had begun; drop one not begun."""
        if self._outgoing[1]:
            self._send_rest()

    def _send_rest(self) -> None:
        data, sent = self._outgoing
        done = sum(sent)
        while done < len(data):
            try:
                rest = memoryview(data)[done:] if done else data
                sent.extend(map(self._send, (rest,), (socket.MSG_DONTWAIT,)))
            except BlockingIOError:
                self._make_room()
            done = sum(sent)
        self._outgoing = (b"", deque())

    def _make_room(self) -> None:
        """Wait until the socket takes more; read meanwhile, for the harness may wait for that."""
        if not self._lead(self._read_what_is_there, None):
            self._poll(select.POLLOUT)

    def _read_what_is_there(self) -> None:
        if self._poll(select.POLLIN | select.POLLOUT) & select.POLLIN:
            self._read()

    def _poll(self, events: int) -> int:
        poller = select.poll()
        poller.register(self._socket, events)
        ready = poller.poll(_FOLLOWER_WAIT * 1000)
        return ready[0][1] if ready else 0

    def _wait(self, call: _Call) -> None:
        """Read for all if nobody does, else wait to be roused."""
        self._check()
        if not self._lead(lambda: self._read_until(call), call):
            call.sleep()

    def _lead(self, step: Callable[[], None], leaving: _Call | None) -> bool:
        """Do something as the one thread that reads; False where another thread is that."""
        leads: deque[bool] = deque()
        try:
            leads.extend(map(self._reading.acquire, (False,)))
            if leads[0]:
                step()
            return leads[0]
        finally:
            if leads and leads[0]:
                self._reading.release()
                self._rouse_next(leaving)

    def _read_until(self, call: _Call) -> None:
        while call.payload is None:
            self._read()

    def _rouse_next(self, leaving: _Call | None) -> None:
        if len(self._waiting) < 2:
            return
        for call in list(self._waiting.values()):
            if call is not leaving and call.payload is None:
                call.rouse()
                return

    def _read(self) -> None:
        """Receive once, unless an interrupted reader left enough, and hand over the answers."""
        chunks, needed = self._incoming
        missing = needed - sum(map(len, chunks)) if chunks else needed
        if missing > 0:
            chunks.extend(map(self._receive, (max(_READ, min(missing, _READ_LARGE)),)))
            if not chunks[-1]:
                self._lost = "the harness closed the connection"
                raise HarnessFault(self._lost)
            missing -= len(chunks[-1])
        if missing <= 0:
            self._deliver(chunks[0] if len(chunks) == 1 else b"".join(chunks))

    def _deliver(self, data: bytes) -> None:
        """Hand over complete frames. Repeating it does no harm; the last line commits it."""
        position = 0
        needed = HEADER.size
        while len(data) - position >= HEADER.size:
            length, number = HEADER.unpack_from(data, position)
            end = position + HEADER.size + length
            if end > len(data):
                needed = end - position
                break
            call = self._waiting.get(number)
            if call is not None:
                call.payload = data[position + HEADER.size : end]
                call.rouse()
            position = end
        rest = data[position:]
        self._incoming = (deque((rest,)) if rest else deque(), needed)
