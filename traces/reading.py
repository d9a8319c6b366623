"""Reads what a run left behind, finished or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from pydantic import ValidationError

from traces.errors import TraceError
from traces.events import EVENT, fold
from traces.recorder import EVENTS_FILE, TRACE_FILE
from traces.records import SCHEMA_VERSION, Trace

if TYPE_CHECKING:
    from pathlib import Path

    from traces.events import Event


def read_events(folder: Path) -> list[Event]:
    """A run's events; a last line that was cut off by a crash is left out.

    Raises:
        TraceError: where there is no run, or a line in the middle is damaged.
    """
    path = folder / EVENTS_FILE
    if not path.is_file():
        raise TraceError(f"{folder} holds no run: there is no {EVENTS_FILE}.")
    lines = path.read_bytes().split(b"\n")
    _check_version(path, lines[0])
    events = []
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            events.append(EVENT.validate_json(line))
        except ValidationError as error:
            if number == len(lines):
                break
            reason = error.errors()[0]["msg"]
            raise TraceError(f"{path}, line {number} is damaged: {reason}.") from None
    return events


def read_trace(folder: Path) -> Trace:
    """A run's trace: the stored record, or what the events tell where the run was cut short.

    Raises:
        TraceError: where there is no run, it is damaged, or a newer version wrote it.
    """
    path = folder / TRACE_FILE
    if not path.is_file():
        try:
            return fold(read_events(folder))
        except ValueError as error:
            raise TraceError(f"{folder} holds no run: {error}.") from None
    content = path.read_bytes()
    _check_version(path, content)
    try:
        return Trace.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise TraceError(f"{path} is not a valid trace: {where}: {first['msg']}.") from None


def _check_version(path: Path, record: bytes) -> None:
    """Refuse what a newer version wrote before its new fields are taken for damage."""
    try:
        version = orjson.loads(record)["header"]["schema_version"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise TraceError(
            f"{path} was written by a newer version (schema {version}, this one reads "
            f"{SCHEMA_VERSION}): update wikidata-rlm."
        )
