"""Converting chunks in several processes at once.

Each process has a thread beside it that fetches a chunk, waits for the answer and queues it, so
reading, converting and loading go on at the same time with only a few chunks in memory.
"""

from __future__ import annotations

import multiprocessing
import queue
import signal
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kg_functions.build.staging import Converted, Stage, Staged
from kg_functions.errors import GraphSetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from pathlib import Path

    from kg_functions.build.chunks import Chunk

_FINISH: Final = None
_STOP_SECONDS: Final = 5
_THREAD_STOP_SECONDS: Final = 0.5
"""A thread may be waiting for a slow input; it ends by itself when it gets the next block."""


def converted(
    chunks: Iterable[Chunk], folder: Path, jobs: int, staged: list[Staged]
) -> Iterator[Converted]:
    """Convert chunks with ``jobs`` processes, or in this one where ``jobs`` is 1.

    Args:
        chunks: what to convert; they come back in no particular order.
        folder: where files of links and names may be written.
        jobs: how many processes.
        staged: takes what each process left behind, once everything has been converted.
    """
    if jobs > 1:
        yield from _in_processes(chunks, folder, jobs, staged)
        return
    stage = Stage(folder, "0")
    try:
        for chunk in chunks:
            yield stage.convert(chunk)
        staged.append(stage.finish())
    finally:
        stage.close()


@dataclass
class _Exchange:
    """What the threads share: chunks to fetch, results to hand on, and a sign to stop."""

    chunks: Iterator[Chunk]
    results: queue.Queue[Converted | Staged | BaseException]
    fetching: threading.Lock = field(default_factory=threading.Lock)
    stopped: threading.Event = field(default_factory=threading.Event)

    def fetch(self) -> Chunk | None:
        with self.fetching:
            return None if self.stopped.is_set() else next(self.chunks, None)

    def put(self, result: Converted | Staged | BaseException) -> None:
        while not self.stopped.is_set():
            try:
                self.results.put(result, timeout=0.1)
                return
            except queue.Full:
                continue


def _in_processes(
    chunks: Iterable[Chunk], folder: Path, jobs: int, staged: list[Staged]
) -> Iterator[Converted]:
    # "spawn" because the parent has threads, of which a forked child would inherit the locks.
    context = multiprocessing.get_context("spawn")
    exchange = _Exchange(iter(chunks), queue.Queue(maxsize=jobs))
    processes, connections, threads = [], [], []
    try:
        for number in range(jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, folder, str(number)), daemon=True)
            _start(process)
            theirs.close()
            thread = threading.Thread(target=_accompany, args=(ours, exchange), daemon=True)
            thread.start()
            processes.append(process)
            connections.append(ours)
            threads.append(thread)
        while len(staged) < jobs:
            result = exchange.results.get()
            if isinstance(result, BaseException):
                raise result
            if isinstance(result, Staged):
                staged.append(result)
            else:
                yield result
    finally:
        exchange.stopped.set()
        for process in processes:
            if len(staged) < jobs:
                process.terminate()
            process.join(_STOP_SECONDS)
        for thread in threads:
            thread.join(_THREAD_STOP_SECONDS)
        for connection in connections:
            connection.close()


def _start(process: BaseProcess) -> None:
    """Start a process that Ctrl-C does not reach, not even before it runs any code of ours.

    The signal is held back meanwhile: this process gets it afterwards, the new one never does.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _accompany(connection: Connection[Any, Any], exchange: _Exchange) -> None:
    """Bring chunks to one process and its answers to the queue, until there are no more."""
    try:
        while (chunk := exchange.fetch()) is not None:
            exchange.put(_answer(connection, chunk))
        exchange.put(_answer(connection, _FINISH))
    except BaseException as error:
        exchange.put(error)


def _answer(connection: Connection[Any, Any], question: Chunk | None) -> Converted | Staged:
    try:
        connection.send(question)
        answer = connection.recv()
    except (EOFError, OSError) as error:
        raise GraphSetupError(
            "A conversion process ended without a word (out of memory?): build with fewer --jobs."
        ) from error
    if isinstance(answer, BaseException):
        raise answer
    if not isinstance(answer, (Converted, Staged)):
        raise TypeError(f"a conversion process answered {type(answer).__name__}")
    return answer


def _work(connection: Connection[Any, Any], folder: Path, name: str) -> None:
    """What a conversion process does: answer every chunk, and the end with what was staged."""
    # Ctrl-C reaches every process of the terminal; the parent decides what becomes of this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stage = Stage(folder, name)
    try:
        while True:
            try:
                chunk = connection.recv()
            except EOFError:
                return
            if chunk is _FINISH:
                connection.send(stage.finish())
                return
            connection.send(stage.convert(chunk))
    except Exception as error:
        connection.send(error)
    finally:
        stage.close()
