"""The engine over HTTP endpoints: one query, one reply, and the rules for asking again.

How the bytes travel is a ``Poster``'s business; httpx and SPARQLWrapper are the two there are.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import unquote, urlsplit, urlunsplit

from kg_functions.engines import answers
from kg_functions.errors import BackendDown, BackendError, GraphSetupError, RateLimited

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kg_functions.engines.protocol import Row

DEFAULT_TIMEOUT: Final = 30.0
"""Seconds after which the server is to give up on a query; QLever's own default."""
GRACE: Final = 5.0
"""Seconds that the client waits longer than the server, so that the server's error arrives."""
LONGEST_WAIT: Final = 20.0
"""The longest ``Retry-After`` (seconds) that is honoured."""
_DEFAULT_WAIT: Final = 1.0
_TRIES_WHEN_LIMITED: Final = 3


class ConnectionDropped(Exception):
    """A kept connection turned out to be closed before any of the reply came."""


class Poster(Protocol):
    """Posts one form to the endpoint. Safe to use from several threads."""

    def post(self, form: Mapping[str, str], seconds: float) -> answers.Reply:
        """Send the form and read the whole reply within ``seconds``.

        Raises:
            ConnectionDropped: sending again over a new connection may help.
            BackendError: the endpoint cannot be reached or did not answer in time.
        """
        ...

    def close(self) -> None:
        """Release connections; a second call does nothing."""
        ...


class RemoteEngine:
    """Answers queries at an HTTP endpoint.

    Args:
        poster: how requests travel.
        url: the endpoint's address.
        timeout: seconds after which the server is to give up on a query; the client waits a
            little longer.
        sleep: how to wait before asking again.
    """

    def __init__(
        self,
        poster: Poster,
        url: str,
        timeout: float = DEFAULT_TIMEOUT,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._poster = poster
        self._address = without_credentials(url)
        self._timeout = timeout
        self._sleep = sleep
        self._closed = threading.Event()
        self._send_timeout = True

    @property
    def address(self) -> str:
        """The endpoint's URL without user name and password."""
        return self._address

    def select(self, query: str) -> list[Row]:
        """The solutions of a SELECT query.

        Raises:
            BackendError: see ``SparqlEngine``.
        """
        return answers.read_rows(self._converse(query), self._address)

    def ask(self, query: str) -> bool:
        """The answer of an ASK query.

        Raises:
            BackendError: see ``SparqlEngine``.
        """
        return answers.read_answer(self._converse(query), self._address)

    def close(self) -> None:
        """Close the connections; a second call does nothing."""
        self._closed.set()
        self._poster.close()

    def _converse(self, query: str) -> bytes:
        """Send a query until it is answered or asking again is pointless."""
        if self._closed.is_set():
            raise BackendDown(f"The connection to {self._address} is closed.")
        deadline = time.monotonic() + self._timeout + GRACE
        may_reconnect = may_collide = True
        tries = 1
        while True:
            try:
                reply = self._poster.post(self._form(query), deadline - time.monotonic())
            except ConnectionDropped as error:
                if not may_reconnect:
                    raise BackendDown(f"{self._address} closed the connection.") from error
                may_reconnect = False
                continue
            problem = answers.failure(reply, self._address)
            if problem is None:
                return reply.body
            if self._send_timeout and answers.refuses_timeout(reply):
                self._send_timeout = False
            elif may_collide and answers.is_cache_collision(reply):
                may_collide = False
            else:
                self._wait_or_raise(problem, reply, tries, deadline)
                tries += 1

    def _wait_or_raise(
        self, problem: BackendError, reply: answers.Reply, tries: int, deadline: float
    ) -> None:
        """Wait as a rate limit asks; raise what waiting does not mend."""
        wait = _seconds(reply.retry_after)
        left = deadline - time.monotonic()
        limited = isinstance(problem, RateLimited) and tries < _TRIES_WHEN_LIMITED
        if not limited or wait > min(LONGEST_WAIT, left):
            raise problem
        self._sleep(wait)

    def _form(self, query: str) -> dict[str, str]:
        if self._send_timeout:
            return {"query": query, "timeout": f"{max(1, round(self._timeout))}s"}
        return {"query": query}


def check_url(url: str) -> str:
    """Return an endpoint's URL if it is one.

    Raises:
        GraphSetupError: saying what is wrong with it.
    """
    if not url.isascii() or any(character <= " " for character in url):
        raise GraphSetupError(f"{url!r} is not a URL: it may hold plain ASCII characters only.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise GraphSetupError(f"{url} is not a URL: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise GraphSetupError(f"{url} is not an endpoint: expected http://host:port/path.")
    return url


def credentials(url: str) -> tuple[str, str] | None:
    """The user name and password in a URL, or None."""
    parts = urlsplit(url)
    if parts.username is None:
        return None
    return unquote(parts.username), unquote(parts.password or "")


def without_credentials(url: str) -> str:
    """A URL as it may be shown and stored: no user name, no password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _seconds(retry_after: str | None) -> float:
    """A ``Retry-After`` in seconds; a date counts as the default wait."""
    if retry_after is not None and retry_after.strip().isdigit():
        return float(retry_after.strip())
    return _DEFAULT_WAIT
