"""The first transport: one thread-safe connection pool, POST, a deadline for each reply.

It is httpx's own pool (httpcore) without the client around it, which would double the time of a
point query.
"""

from __future__ import annotations

import ssl
import time
from base64 import b64encode
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

import httpcore

from kg_functions.engines import answers
from kg_functions.engines.quick_ack import KEEPS_CONNECTIONS, QuickAckBackend
from kg_functions.engines.remote import (
    DEFAULT_TIMEOUT,
    ConnectionDropped,
    RemoteEngine,
    check_url,
    credentials,
    without_credentials,
)
from kg_functions.errors import BackendDown, BackendError, QueryTimeout

if TYPE_CHECKING:
    from collections.abc import Mapping

CONNECTIONS: Final = 16
"""How many queries may be under way at once; further ones wait for a connection."""

_KEPT_SECONDS: Final = 30.0
_CONNECT_SECONDS: Final = 10.0
_DROPPED: Final = (httpcore.RemoteProtocolError, httpcore.ReadError, httpcore.WriteError)


class PooledPoster:
    """Posts queries over kept-alive connections.

    Args:
        url: the endpoint's address.
    """

    def __init__(self, url: str) -> None:
        self._url = without_credentials(url)
        self._headers: dict[bytes | str, bytes | str] = {
            "Host": _host(self._url),
            "Accept": answers.ACCEPT,
            "Content-Type": "application/x-www-form-urlencoded",
            "User-Agent": "wikidata-rlm",
        }
        known = credentials(url)
        if known is not None:
            token = b64encode(":".join(known).encode()).decode()
            self._headers["Authorization"] = f"Basic {token}"
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl.create_default_context() if url.startswith("https:") else None,
            max_connections=CONNECTIONS,
            max_keepalive_connections=CONNECTIONS if KEEPS_CONNECTIONS else 0,
            keepalive_expiry=_KEPT_SECONDS,
            network_backend=QuickAckBackend(),
        )

    def post(self, form: Mapping[str, str], seconds: float) -> answers.Reply:
        """Send the form and read the whole reply within ``seconds``.

        Raises:
            ConnectionDropped: a kept connection was closed before the reply began.
            BackendError: the endpoint cannot be reached or did not answer in time.
        """
        deadline = time.monotonic() + seconds
        content = urlencode(form).encode()
        started = False
        try:
            with self._pool.stream(
                "POST",
                self._url,
                headers={**self._headers, "Content-Length": str(len(content))},
                content=content,
                extensions={"timeout": _timeouts(seconds)},
            ) as response:
                started = True
                body = bytearray()
                for chunk in response.iter_stream():
                    body += chunk
                    if time.monotonic() > deadline:
                        raise self._late(seconds)
                return answers.Reply(response.status, bytes(body), _retry_after(response))
        except httpcore.ConnectTimeout as error:
            raise BackendDown(f"{self._url} cannot be reached: no answer.") from error
        except httpcore.TimeoutException as error:
            raise self._late(seconds) from error
        except httpcore.ConnectError as error:
            raise BackendDown(f"{self._url} cannot be reached: {_reason(error)}.") from error
        except _DROPPED as error:
            if started:
                raise BackendDown(f"{self._url} broke off its answer.") from error
            raise ConnectionDropped from error
        except (httpcore.ProtocolError, httpcore.NetworkError) as error:
            raise BackendError(f"{self._url}: {_reason(error)}.") from error

    def close(self) -> None:
        """Close the connections; a second call does nothing."""
        self._pool.close()

    def _late(self, seconds: float) -> QueryTimeout:
        return QueryTimeout(f"{self._url} did not answer within {seconds:.0f} s.")


def http_engine(url: str, timeout: float = DEFAULT_TIMEOUT) -> RemoteEngine:
    """An engine for the endpoint at ``url``.

    Args:
        url: the endpoint's address.
        timeout: seconds after which the server is to give up on a query.

    Raises:
        GraphSetupError: ``url`` is not an endpoint's address.
    """
    return RemoteEngine(PooledPoster(check_url(url)), url, timeout)


def _host(url: str) -> str:
    return url.split("/", 3)[2]


def _timeouts(seconds: float) -> dict[str, float]:
    """Bounds for each step; the deadline bounds them together."""
    left = max(seconds, 0.001)
    return {"connect": min(left, _CONNECT_SECONDS), "read": left, "write": left, "pool": left}


def _retry_after(response: httpcore.Response) -> str | None:
    for name, value in response.headers:
        if name.lower() == b"retry-after":
            return value.decode("ascii", "replace")
    return None


def _reason(error: Exception) -> str:
    text = str(error) or type(error).__name__
    return text.rstrip(".")
