"""The entity documents in a chunk of JSON lines, in every shape in which Wikidata gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from kg_functions.build.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg_functions.build.chunks import Chunk


@dataclass(frozen=True, slots=True)
class Document:
    """One entity document and where it stands.

    Attributes:
        line: its line in the file, counted from 1.
        content: the entity JSON.
        asked_as: the id under which Special:EntityData was asked for it, where that differs.
    """

    line: int
    content: dict[str, Any]
    asked_as: str | None = None


@dataclass(frozen=True, slots=True)
class Redirect:
    """A document that says that one id was merged into another."""

    line: int
    source: str
    target: str


def documents(chunk: Chunk) -> Iterator[Document | Redirect | Problem]:
    """Every document of a chunk in order; what cannot be read is given as a problem."""
    for line, text in _texts(chunk):
        text = text.strip().rstrip(b",")
        if not text:
            continue
        try:
            parsed = _parsed(text)
        except ValueError as error:
            yield Problem("not JSON", chunk.source, line, None, str(error))
            continue
        for item in parsed if isinstance(parsed, list) else (parsed,):
            yield from _unwrapped(chunk.source, line, item)


def _texts(chunk: Chunk) -> Iterator[tuple[int, bytes]]:
    if chunk.one_document:
        yield chunk.line, chunk.data
    else:
        yield from enumerate(chunk.data.split(b"\n"), chunk.line)


def _parsed(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        # A dump array may stand on one line, where its brackets have been taken off.
        if text.startswith(b"{") and b"},{" in text.replace(b" ", b""):
            return orjson.loads(b"[" + text + b"]")
        raise


def _unwrapped(source: str, line: int, item: Any) -> Iterator[Document | Redirect | Problem]:
    """The documents in one JSON value: an entity, a redirect, or what Special:EntityData gives."""
    if not isinstance(item, dict):
        found = f"a JSON {type(item).__name__}"
        yield Problem("not an entity", source, line, None, f"found {found}, expected an object")
    elif isinstance(item.get("entities"), dict):
        for key, entity in item["entities"].items():
            yield _entity(source, line, entity, key)
    elif "redirect" in item and "entity" in item:
        yield Redirect(line, item["entity"], item["redirect"])
    else:
        yield _entity(source, line, item, None)


def _entity(source: str, line: int, item: Any, key: str | None) -> Document | Problem:
    if not isinstance(item, dict) or "id" not in item:
        detail = "it has no id" if isinstance(item, dict) else "it is not an object"
        return Problem("not an entity", source, line, key, detail)
    if "missing" in item:
        return Problem("missing entity", source, line, str(item["id"]), "Wikidata has no such id")
    return Document(line, item, key if key != item["id"] else None)
