"""Reading what an endpoint replied: rows, an answer, or the typed error that the reply means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import orjson

from kg_functions.engines.protocol import Row, Term
from kg_functions.errors import (
    BackendDown,
    BackendError,
    QuerySyntax,
    QueryTimeout,
    QueryTooLarge,
    RateLimited,
)
from kg_functions.rdf import RDF, XSD

ACCEPT: Final = "application/sparql-results+json"

_PLAIN: Final = frozenset({XSD + "string", RDF + "langString"})
_TORN: Final = "!!!!>># An error has occurred"
"""How QLever ends a reply that failed after its 200 had been sent."""
_TIMEOUT_WORDS: Final = re.compile(r"time[d\- ]*out|timeout|time limit|cancell?ed", re.IGNORECASE)
_MEMORY_WORDS: Final = re.compile(r"memory|bad_alloc|allocat|too large|OutOfMemory", re.IGNORECASE)
_COLLISION: Final = "cache key already present"
_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP reply.

    Attributes:
        status: the HTTP status.
        body: the whole body.
        retry_after: the value of the ``Retry-After`` header, or None.
    """

    status: int
    body: bytes
    retry_after: str | None = None

    @property
    def text(self) -> str:
        """The message in the body: the ``exception`` of a JSON reply, else the text itself."""
        return exception_text(self.body) or self.body.decode("utf-8", "replace")


def exception_text(body: bytes) -> str | None:
    """The ``exception`` that QLever puts into its JSON error replies, or None."""
    try:
        reply = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    message = reply.get("exception") if isinstance(reply, dict) else None
    return message if isinstance(message, str) else None


def is_cache_collision(reply: Reply) -> bool:
    """Whether two equal queries met in QLever's cache: the same query succeeds when sent again."""
    return reply.status >= 400 and _COLLISION in reply.text.lower()


def refuses_timeout(reply: Reply) -> bool:
    """Whether the server refuses the time-out we asked for because its own is shorter."""
    return reply.status == 403 and "timeout" in reply.text.lower()


def failure(reply: Reply, address: str) -> BackendError | None:
    """The error that a reply's status and text mean, or None for a success."""
    status = reply.status
    if 200 <= status < 300:
        return None
    shown = _shorten(reply.text)
    said = f"{address} answered {status}" + (f": {shown}" if shown else "")
    if status == 429:
        # QLever answers 429 with a JSON exception when it gives up on a query.
        message = exception_text(reply.body)
        if message is not None and _TIMEOUT_WORDS.search(message):
            return QueryTimeout(said)
        return RateLimited(said)
    if status == 400:
        return QuerySyntax(said)
    if status in (413, 414):
        return QueryTooLarge(said)
    if status in (408, 504):
        return QueryTimeout(said)
    if status >= 500:
        return _by_text(reply.text, said, BackendDown if status in (502, 503) else BackendError)
    return BackendError(said)


def read_rows(body: bytes, address: str) -> list[Row]:
    """The rows of a SELECT reply in SPARQL JSON.

    Raises:
        BackendError: the body is no such reply; typed by its text where QLever tore it.
    """
    reply = _json(body, address)
    try:
        bindings = reply["results"]["bindings"]
        return [{name: _term(cell) for name, cell in row.items()} for row in bindings]
    except (KeyError, TypeError, AttributeError) as error:
        raise _no_sparql(body, address) from error


def read_answer(body: bytes, address: str) -> bool:
    """The answer of an ASK reply in SPARQL JSON.

    Raises:
        BackendError: the body is no such reply.
    """
    reply = _json(body, address)
    answer = reply.get("boolean") if isinstance(reply, dict) else None
    if isinstance(answer, bool):
        return answer
    raise _no_sparql(body, address)


def _json(body: bytes, address: str) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        text = body.decode("utf-8", "replace")
        cut = text.rfind(_TORN)
        if cut >= 0:
            message = text[cut + len(_TORN) :]
            _, _, reason = message.partition("\n")
            shown = _shorten(reason or message)
            said = f"{address} broke off its answer: {shown}"
            raise _by_text(reason or message, said, BackendError) from error
        raise _no_sparql(body, address) from error


def _by_text(text: str, said: str, otherwise: type[BackendError]) -> BackendError:
    """The error that an endpoint's own words name."""
    if _MEMORY_WORDS.search(text):
        return QueryTooLarge(said)
    if _TIMEOUT_WORDS.search(text):
        return QueryTimeout(said)
    return otherwise(said)


def _no_sparql(body: bytes, address: str) -> BackendError:
    start = _shorten(body.decode("utf-8", "replace"))
    return BackendError(f"{address} did not answer in SPARQL JSON; its answer starts: {start}")


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."


def _term(cell: dict[str, str]) -> Term:
    kind = cell["type"]
    value = cell["value"]
    if kind == "uri":
        return Term("iri", value)
    if kind == "bnode":
        return Term("blank", value)
    language = cell.get("xml:lang")
    if language:
        return Term("literal", value, None, language.lower())
    datatype = cell.get("datatype")
    return Term("literal", value, None if datatype in _PLAIN else datatype)
