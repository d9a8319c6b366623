"""Writes a run's folder while it goes on: ``events.jsonl``, ``results.zst``, ``trace.json``."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from kg_functions.results import ResultStore
from traces.errors import TraceError
from traces.events import RunEnded, TurnEnded, fold
from traces.records import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from traces.events import Event
    from traces.records import Judgement

    Listener = Callable[[Event], None]

EVENTS_FILE = "events.jsonl"
RESULTS_FILE = "results.zst"
TRACE_FILE = "trace.json"
OUTPUTS_FOLDER = "outputs"


class Recorder:
    """Records one run; events may come from several threads.

    The file is synced to disk at the end of each turn, so that a crash loses at most the turn in
    flight.

    Args:
        folder: the run's folder; made here, and refused where it holds a run already.
        listeners: called with each event after it was written (a live display, a test).

    Raises:
        TraceError: where the folder cannot be used.
    """

    def __init__(self, folder: Path, listeners: Sequence[Listener] = ()) -> None:
        self.folder = folder
        self._listeners = list(listeners)
        self._events: list[Event] = []
        self._lock = threading.Lock()
        if (folder / EVENTS_FILE).exists():
            raise TraceError(f"{folder} holds a run already: choose another --out.")
        try:
            (folder / OUTPUTS_FOLDER).mkdir(parents=True, exist_ok=True)
            self._file = (folder / EVENTS_FILE).open("xb")
        except OSError as error:
            raise TraceError(f"Cannot write the run to {folder}: {error.strerror}.") from None
        self.results = ResultStore(folder / RESULTS_FILE)

    @property
    def outputs(self) -> Path:
        """Where the whole outputs of cells are kept."""
        return self.folder / OUTPUTS_FOLDER

    def record(self, event: Event) -> None:
        """Write one event and tell the listeners.

        What comes after the end of the run (a helper call that was still under way) is dropped. A
        listener that fails is told nothing more: a closed terminal must not cost a run.
        """
        line = event.model_dump_json().encode() + b"\n"
        with self._lock:
            if self._file.closed:
                return
            self._events.append(event)
            self._file.write(line)
            self._file.flush()
            if isinstance(event, (TurnEnded, RunEnded)):
                os.fsync(self._file.fileno())
        if isinstance(event, (TurnEnded, RunEnded)):
            self.results.flush()
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:
                self._listeners.remove(listener)

    def finish(self) -> Trace:
        """Close the files, write ``trace.json`` and give the validated trace.

        The record is read back from the bytes that were stored, so that what is on disk is known
        to be valid.
        """
        with self._lock:
            self._file.close()
        self.results.close()
        encoded = fold(self._events).model_dump_json(indent=1).encode()
        trace = Trace.model_validate_json(encoded)
        write_atomically(self.folder / TRACE_FILE, encoded)
        return trace


def attach_judgement(folder: Path, trace: Trace, judgement: Judgement) -> Trace:
    """Store gold answer and score beside a finished run; the run itself stays as it was."""
    judged = trace.model_copy(update={"judgement": judgement})
    write_atomically(folder / TRACE_FILE, judged.model_dump_json(indent=1).encode())
    return judged


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file in one step: a reader sees the old content or the new, never a part."""
    temporary = path.with_name(path.name + ".part")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
