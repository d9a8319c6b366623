"""What a graph folder says about itself: ``manifest.json``."""

from __future__ import annotations

import json
import os
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kg_functions.errors import GraphSetupError

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST_NAME: Final = "manifest.json"
STORE_NAME: Final = "store"
LABELS_NAME: Final = "labels"
ADJACENCY_NAME: Final = "adjacency"

FORMAT_VERSION: Final = 1
"""The layout of a graph folder; raised whenever an older program could misread a newer one."""

Part = Literal["store", "labels", "adjacency"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Counts(_Model):
    """How much of everything a graph holds."""

    items: int = 0
    """Distinct items with a document of their own."""
    properties: int = 0
    """Distinct properties with a document of their own."""
    lexemes: int = 0
    """Distinct lexemes with a document of their own."""
    redirects: int = 0
    """Merged ids that answer as another entity."""
    statements: int = 0
    """Statements of every rank."""
    links: int = 0
    """Distinct truthy links between items: the edges of the adjacency."""
    labels: int = 0
    """Labels and aliases in the languages that the label index keeps."""
    triples: int = 0
    """Distinct triples in the store."""


class Source(_Model):
    """One input file."""

    name: str
    """The file's name, without its folder."""
    size: int
    """In bytes, as it lies on disk."""
    sha256: str
    """Of the file as it lies on disk."""


class SkippedExample(_Model):
    """One line that was left out."""

    source: str
    line: int
    """Counted from 1."""
    entity: str | None = None
    detail: str


class Skipped(_Model):
    """Everything that was left out for one reason."""

    count: int
    examples: tuple[SkippedExample, ...] = ()
    """The first few."""


class Manifest(_Model):
    """What is in a graph folder and where it came from."""

    format_version: int = FORMAT_VERSION
    code_version: str
    """The version of wikidata-rlm that built the folder."""
    snapshot: str
    """A short name of the data, written into traces."""
    snapshot_date: str | None = None
    """The latest change to any entity in the data (ISO 8601), where the input says so."""
    built_at: datetime
    counts: Counts
    parts: tuple[Part, ...]
    """The parts that are there; each has a subfolder of this name."""
    endpoint: str | None = None
    """The SPARQL endpoint that stands in for a store, if any."""
    sources: tuple[Source, ...] = ()
    skipped: dict[str, Skipped] = Field(default_factory=dict)
    """What was left out, by reason."""


def save_manifest(manifest: Manifest, folder: Path) -> None:
    """Write ``manifest`` into ``folder``; the file appears whole or not at all."""
    partial = folder / f".{MANIFEST_NAME}.partial"
    with partial.open("w", encoding="utf-8") as file:
        file.write(manifest.model_dump_json(indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    partial.rename(folder / MANIFEST_NAME)


def is_graph_folder(folder: Path) -> bool:
    """Whether ``folder`` has a manifest, readable or not."""
    return (folder / MANIFEST_NAME).is_file()


def load_manifest(folder: Path) -> Manifest:
    """Read the manifest of a graph folder.

    Raises:
        GraphSetupError: one line, where ``folder`` is not a folder, has no manifest, has a damaged
            one, or was made by a newer version.
    """
    path = folder / MANIFEST_NAME
    try:
        text = path.read_text(encoding="utf-8")
        raw = json.loads(text)
    except OSError as error:
        raise GraphSetupError(_unreadable(folder, error)) from error
    except ValueError as error:
        raise GraphSetupError(f"{path} is damaged ({_first_line(error)}): {_REBUILD}") from error
    version = raw.get("format_version") if isinstance(raw, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise GraphSetupError(f"{path} is damaged (it states no format version): {_REBUILD}")
    if version > FORMAT_VERSION:
        raise GraphSetupError(
            f"{folder} was made by a newer version of wikidata-rlm (graph format {version}; this "
            f"one reads up to {FORMAT_VERSION}): update wikidata-rlm."
        )
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in problem["loc"])
        raise GraphSetupError(
            f"{path} is damaged ({where}: {problem['msg']}): {_REBUILD}"
        ) from error


_REBUILD: Final = "build the graph again with `wikidata-rlm graph build`."


def _unreadable(folder: Path, error: OSError) -> str:
    if not folder.exists():
        return f"{folder} does not exist: give a graph folder made by `wikidata-rlm graph build`."
    if not folder.is_dir():
        return f"{folder} is a file, not a graph folder: make one with `wikidata-rlm graph build`."
    if isinstance(error, FileNotFoundError):
        return f"{folder} is not a graph folder (no {MANIFEST_NAME}): {_REBUILD}"
    return f"{folder / MANIFEST_NAME} cannot be read: {error.strerror or error}."


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
