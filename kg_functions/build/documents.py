"""The entity documents in a chunk of JSON lines, in every shape in which Wikidata gives them."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from kg_functions.build.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg_functions.build.chunks import Chunk


_BETWEEN: Final = b", \t\r\n"
_BRACKETS: Final = b"[]" + _BETWEEN


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
        text = text.strip(_BETWEEN)
        if not text.strip(_BRACKETS):
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
        # A line may begin or end an array; several documents of one may stand on it.
        inner = text.strip(_BRACKETS)
        if inner.startswith(b"{") and inner.endswith(b"}"):
            with suppress(ValueError):
                return orjson.loads(b"[" + inner + b"]")
            with suppress(ValueError):
                return list(_objects(inner.decode()))
        raise


def _objects(text: str) -> Iterator[Any]:
    """JSON objects with commas and brackets of arrays between them, however these stand."""
    decoder = json.JSONDecoder()
    between = _BRACKETS.decode()
    while text := text.lstrip(between):
        item, end = decoder.raw_decode(text)
        yield item
        text = text[end:]


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
