"""The second transport: SPARQLWrapper, for endpoints that need its ways. An optional extra."""

from __future__ import annotations

import ast
import socket
import urllib.error
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

from kg_functions.engines import answers
from kg_functions.engines.remote import (
    DEFAULT_TIMEOUT,
    RemoteEngine,
    check_url,
    credentials,
    without_credentials,
)
from kg_functions.errors import BackendDown, GraphSetupError, QueryTimeout

if TYPE_CHECKING:
    from collections.abc import Mapping


class WrapperPoster:
    """Posts queries with SPARQLWrapper: a new connection and a new wrapper object for each.

    Args:
        url: the endpoint's address.

    Raises:
        GraphSetupError: SPARQLWrapper is not installed.
    """

    def __init__(self, url: str) -> None:
        try:
            import SPARQLWrapper
        except ImportError as error:
            raise GraphSetupError(
                "The transport 'sparqlwrapper' needs SPARQLWrapper: "
                "pip install 'wikidata-rlm[sparqlwrapper]'"
            ) from error
        self._module: Any = SPARQLWrapper
        self._url = without_credentials(url)
        self._credentials = credentials(url)

    def post(self, form: Mapping[str, str], seconds: float) -> answers.Reply:
        """Send the form and read the whole reply; ``seconds`` bounds each wait on the socket.

        Raises:
            BackendError: the endpoint cannot be reached or did not answer in time.
        """
        try:
            with self._wrapper(form, seconds).query().response as response:
                return answers.Reply(200, response.read())
        except urllib.error.HTTPError as error:
            return answers.Reply(error.code, error.read(), error.headers.get("Retry-After"))
        except self._module.SPARQLExceptions.SPARQLWrapperException as error:
            return _refusal(error)
        except TimeoutError as error:
            raise self._late(seconds) from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._late(seconds) from error
            raise BackendDown(f"{self._url} cannot be reached: {error.reason}.") from error
        except (ConnectionError, HTTPException, socket.gaierror) as error:
            raise BackendDown(f"{self._url} closed the connection.") from error

    def close(self) -> None:
        """Nothing is kept open."""

    def _wrapper(self, form: Mapping[str, str], seconds: float) -> Any:
        wrapper = self._module.SPARQLWrapper(self._url)
        wrapper.setMethod(self._module.POST)
        wrapper.setReturnFormat(self._module.JSON)
        wrapper.setOnlyConneg(True)
        if self._credentials is not None:
            wrapper.setCredentials(*self._credentials)
        wrapper.setTimeout(max(1, round(seconds)))
        for name, value in form.items():
            if name == "query":
                wrapper.setQuery(value)
            else:
                wrapper.addParameter(name, value)
        return wrapper

    def _late(self, seconds: float) -> QueryTimeout:
        return QueryTimeout(f"{self._url} did not answer within {seconds:.0f} s.")


def sparqlwrapper_engine(url: str, timeout: float = DEFAULT_TIMEOUT) -> RemoteEngine:
    """An engine for the endpoint at ``url`` over SPARQLWrapper.

    Args:
        url: the endpoint's address.
        timeout: seconds after which the server is to give up on a query.

    Raises:
        GraphSetupError: ``url`` is not an endpoint's address, or SPARQLWrapper is missing.
    """
    return RemoteEngine(WrapperPoster(check_url(url)), url, timeout)


def _refusal(error: Exception) -> answers.Reply:
    """SPARQLWrapper's own exceptions stand for a status and show the body as Python bytes."""
    cause = error.__cause__ or error.__context__
    status = cause.code if isinstance(cause, urllib.error.HTTPError) else 500
    _, _, shown = str(error).partition("Response:\n")
    try:
        body = ast.literal_eval(shown)
    except (SyntaxError, ValueError):
        body = str(error).encode()
    return answers.Reply(status, body)
