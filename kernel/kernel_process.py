"""One kernel process from its start to its end: channel, connection, cells, liveness."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import socket
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from kernel.interpreter import HostFunction, KernelError
from kernel.launcher import KernelProcess, Launcher, LaunchRequest
from kernel.reports import check_report
from kernel.rpc import RpcServer

if TYPE_CHECKING:
    from collections.abc import Mapping

    import zmq
    from jupyter_client.session import Session

    from kernel.scratch import Scratch

_START_SECONDS: Final = 60.0
_LET_GO_SECONDS: Final = 5.0
_POLL: Final = 0.1  # seconds between looks at the process
GRACE: Final = 2.0
"""Seconds a cell has to end after it was interrupted."""

_numbers = itertools.count(1)


@dataclass(frozen=True)
class CellEnd:
    """How a cell ended, seen from outside.

    Attributes:
        how: ``finished``: the kernel replied and reported; ``died``: the process ended by itself;
            ``killed``: it did not yield to an interrupt; ``broken``: it lives but cannot be used.
        interrupted: why it was interrupted: it passed its ``limit``, somebody ``asked``, or not.
        report: what the kernel reported, where it finished.
        detail: how it died or what is broken, for the model.
    """

    how: Literal["finished", "died", "killed", "broken"]
    interrupted: Literal["limit", "asked"] | None = None
    report: dict[str, Any] | None = None
    detail: str = ""


class RunningKernel:
    """A kernel process, ready for cells.

    Args:
        host: what the kernel may ask, by method name.
        scratch: the run's folder.
        launcher: starts the process.

    Raises:
        KernelError: where the kernel does not start.
    """

    def __init__(
        self, host: Mapping[str, HostFunction], scratch: Scratch, launcher: Launcher
    ) -> None:
        self._ready = threading.Event()
        self._reports: dict[int, dict[str, Any]] = {}
        self._using_channel = threading.RLock()
        self._channel: zmq.Socket[bytes] | None = None
        self._number = next(_numbers)
        self.connection_file = scratch.sockets / f"kernel-{self._number}.json"
        self._info = self._write_connection_file(scratch)
        ours, theirs = socket.socketpair()
        own = {"ready": self._on_ready, "cell_done": self._on_cell_done}
        self._rpc = RpcServer(ours, host, immediate=own)
        self._rpc.start()
        try:
            self._process = self._launch(launcher, scratch, theirs)
        except OSError as error:
            self._rpc.close()
            raise KernelError(f"the kernel cannot be started: {error}") from error
        finally:
            theirs.close()
        try:
            self._wait_until_ready(scratch)
            self._session, self._channel = self._connect()
        except BaseException:
            self.end()
            raise

    @property
    def faults(self) -> list[str]:
        """Host functions that failed, one line each."""
        return list(self._rpc.faults)

    def execute(
        self, code: str, request: dict[str, Any], seconds: float, stop: threading.Event
    ) -> CellEnd:
        """Run one cell.

        Args:
            code: its code.
            request: ``{"cell": number, "previous": path or None}``.
            seconds: its time limit.
            stop: set by whoever wants it interrupted.

        Returns:
            How it ended. After anything but ``finished`` the process is gone.
        """
        with self._using_channel:
            try:
                return self._execute(code, request, seconds, stop)
            except BaseException:
                # The caller was interrupted: leave no cell running behind its back.
                self._stop_or_end(request)
                raise

    def end(self) -> None:
        """End the process with everything it started; from any thread."""
        self._rpc.close()
        self._process.kill()
        with contextlib.suppress(OSError):
            self.connection_file.unlink()
        # A socket belongs to one thread at a time; one that runs a cell sees the process's end.
        if self._using_channel.acquire(timeout=_LET_GO_SECONDS):
            try:
                self._close_channel()
            finally:
                self._using_channel.release()

    def _close_channel(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            context = channel.context
            channel.close(linger=0)
            context.term()

    def interrupt(self) -> None:
        """Send SIGINT."""
        self._process.interrupt()

    def alive(self) -> bool:
        """Whether the process runs and its connection stands."""
        return self._process.poll() is None and self._rpc.closed_reason is None

    def _write_connection_file(self, scratch: Scratch) -> dict[str, Any]:
        from jupyter_client.connect import write_connection_file

        _, info = write_connection_file(
            str(self.connection_file),
            transport="ipc",
            ip=str(scratch.sockets / f"k{self._number}"),
            key=os.urandom(16).hex().encode(),
        )
        return dict(info)

    def _launch(self, launcher: Launcher, scratch: Scratch, theirs: socket.socket) -> KernelProcess:
        entry = str(Path(__file__).parent / "inside" / "__main__.py")
        command = [sys.executable, entry, str(self.connection_file)]
        command += [str(theirs.fileno()), str(scratch.spool)]
        with scratch.log.open("wb") as log:
            return launcher(
                LaunchRequest(
                    command=command,
                    folder=scratch.folder,
                    work_folder=scratch.home,
                    environment=scratch.environment(),
                    connection=theirs.fileno(),
                    log=log,
                    shared_folders=(scratch.spool, scratch.sockets),
                )
            )

    def _wait_until_ready(self, scratch: Scratch) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self._ready.wait(_POLL):
            if self._process.poll() is not None or self._rpc.closed_reason:
                lines = scratch.log.read_text(errors="replace").strip().splitlines()
                faults = "; ".join(self._rpc.faults)
                why = (
                    self._process.why or faults or (lines[-1] if lines else self._rpc.closed_reason)
                )
                raise KernelError(f"the kernel ended while it started: {why}")
            if time.monotonic() > deadline:
                raise KernelError(f"the kernel did not start within {_START_SECONDS:.0f} s")

    def _connect(self) -> tuple[Session, zmq.Socket[bytes]]:
        import zmq
        from jupyter_client.session import Session

        session = Session(
            key=self._info["key"].encode(),
            signature_scheme="hmac-sha256",
            digest_mod=hashlib.sha256,
        )
        channel = zmq.Context(io_threads=1).socket(zmq.DEALER)
        channel.linger = 0
        channel.connect(f"ipc://{self._info['ip']}-{self._info['shell_port']}")
        return session, channel

    def _on_ready(self, params: dict[str, Any]) -> None:
        self._ready.set()

    def _on_cell_done(self, params: dict[str, Any]) -> None:
        check_report(params)
        self._reports[params["cell"]] = params

    def _execute(
        self, code: str, request: dict[str, Any], seconds: float, stop: threading.Event
    ) -> CellEnd:
        message = self._send(code, request)
        limit = time.monotonic() + seconds
        kill_at: float | None = None
        interrupted: Literal["limit", "asked"] | None = None
        resent = False
        while True:
            status = self._reply_to(message, _POLL)
            if status == "aborted" and not resent:  # never ran: a failed cell of somebody attached
                resent = True
                message = self._send(code, request)
                continue
            if status is not None:
                return self._finished(request["cell"], interrupted)
            self._rpc.relieve()
            exit_code = self._process.poll()
            if exit_code is not None:
                why = self._process.why
                self.end()
                return CellEnd("died", interrupted, detail=why or _how_it_ended(exit_code))
            now = time.monotonic()
            if kill_at is None and (now >= limit or stop.is_set()):
                interrupted = "asked" if stop.is_set() else "limit"
                kill_at = now + GRACE
            if kill_at is not None:
                if now >= kill_at:
                    self.end()
                    return CellEnd("killed", interrupted)
                self.interrupt()  # again and again: it may come before the cell has begun

    def _finished(self, cell: int, interrupted: Literal["limit", "asked"] | None) -> CellEnd:
        report = self._reports.pop(cell, None)
        self._reports.clear()
        if report is None:
            reason = self._rpc.closed_reason or "the block's report is missing"
            self.end()
            return CellEnd("broken", interrupted, detail=reason)
        return CellEnd("finished", interrupted, report)

    def _stop_or_end(self, request: dict[str, Any]) -> None:
        try:
            deadline = time.monotonic() + GRACE
            while time.monotonic() < deadline:
                if request["cell"] in self._reports or self._process.poll() is not None:
                    return
                self.interrupt()
                time.sleep(_POLL)
            self.end()
        except BaseException:
            self.end()
            raise

    def _send(self, code: str, request: dict[str, Any]) -> str:
        content = {
            # A lone surrogate cannot be sent; in a string literal its escape means the same.
            "code": code.encode("utf-8", "backslashreplace").decode(),
            "silent": False,
            "store_history": False,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        assert self._channel is not None
        sent = self._session.send(
            self._channel, "execute_request", content=content, metadata=request
        )
        assert sent is not None
        message_id: str = sent["header"]["msg_id"]
        return message_id

    def _reply_to(self, message_id: str, seconds: float) -> str | None:
        """The status of the reply to a request, or None where there is none in time."""
        if self._channel is None or not self._channel.poll(round(seconds * 1000)):
            return None
        _, reply = self._session.recv(self._channel)
        if reply is None or reply["parent_header"].get("msg_id") != message_id:
            return None
        status: str = reply["content"]["status"]
        return status


def _how_it_ended(exit_code: int) -> str:
    if exit_code < 0:
        import signal

        return f"killed by {signal.Signals(-exit_code).name}"
    return f"exit code {exit_code}"
