"""Both HTTP transports against a scripted endpoint: what is sent, typed errors, asking again."""

from __future__ import annotations

import socket
import statistics
import threading
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from kg_functions.engines import remote
from kg_functions.engines.http import PooledPoster, http_engine
from kg_functions.engines.protocol import Term
from kg_functions.engines.remote import RemoteEngine, without_credentials
from kg_functions.engines.sparqlwrapper import WrapperPoster, sparqlwrapper_engine
from kg_functions.errors import (
    BackendDown,
    BackendError,
    GraphSetupError,
    QuerySyntax,
    QueryTimeout,
    QueryTooLarge,
    RateLimited,
)
from tests.support.sparql_servers import NO, Scripted, ScriptedEndpoint, free_port

if TYPE_CHECKING:
    from collections.abc import Callable

    Maker = Callable[[str], RemoteEngine]

ASK = "ASK { ?s ?p ?o }"
SELECT = "SELECT ?s ?o WHERE { ?s ?p ?o } LIMIT 2"
BOTH = pytest.mark.parametrize("make", [http_engine, sparqlwrapper_engine])

EXCEPTION = b'{"exception":"%s","query":"ASK {}","status":"ERROR","time":{"total":1}}'
ROWS = b"""{"head":{"vars":["s","o"]},"meta":{"query-time-ms":1},"results":{"bindings":[
 {"s":{"type":"uri","value":"http://e/1"},"o":{"type":"literal","xml:lang":"zh-Hant","value":"x"}},
 {"s":{"type":"bnode","value":"b0"},"o":{"type":"literal","value":"4","datatype":"http://e/int"}},
 {"s":{"type":"uri","value":"http://e/2"}}]}}"""
TORN = (
    b'{"head":{"vars":["s"]},"results":{"bindings":[\n'
    b" !!!!>># An error has occurred while exporting the query result. Unfortunately due to"
    b" limitations in the HTTP 1.1 protocol, there is no better way to report this than to append"
    b" it to the incomplete result. The error message was:\n"
)


@BOTH
def test_a_query_is_posted_with_the_servers_timeout(make: Maker) -> None:
    with ScriptedEndpoint([Scripted(body=NO)]) as endpoint:
        engine = make(endpoint.url)
        assert engine.ask(ASK) is False
        assert endpoint.forms[0]["query"] == ASK
        assert endpoint.forms[0]["timeout"] == "30s"
        assert "sparql-results+json" in endpoint.headers[0]["Accept"]
        engine.close()


@BOTH
def test_rows_become_terms(make: Maker) -> None:
    with ScriptedEndpoint([Scripted(body=ROWS)]) as endpoint:
        assert make(endpoint.url).select(SELECT) == [
            {"s": Term("iri", "http://e/1"), "o": Term("literal", "x", None, "zh-hant")},
            {"s": Term("blank", "b0"), "o": Term("literal", "4", "http://e/int")},
            {"s": Term("iri", "http://e/2")},
        ]


@BOTH
@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        # B38: QLever's own time-out is no rate limit, and asking again would only repeat it.
        (Scripted(429, EXCEPTION % b"Operation timed out."), QueryTimeout),
        (Scripted(429, b"Too many requests", {"Retry-After": "3600"}), RateLimited),
        # B39: memory errors come as 500.
        (Scripted(500, EXCEPTION % b"Tried to allocate 1 GB, but only 5 MB"), QueryTooLarge),
        (Scripted(500, b"java.util.concurrent.TimeoutException"), QueryTimeout),
        (Scripted(500, b"oops"), BackendError),
        (Scripted(400, EXCEPTION % b"Invalid SPARQL query"), QuerySyntax),
        (Scripted(406, b"what?"), BackendError),
        (Scripted(503, b"in maintenance"), BackendDown),
        (Scripted(504, b"gateway"), QueryTimeout),
        (Scripted(414, b"long"), QueryTooLarge),
        (Scripted(200, TORN + b"Operation timed out."), QueryTimeout),
        (Scripted(200, TORN + b"Tried to allocate 8 GB"), QueryTooLarge),
        (Scripted(200, b"<html>hello</html>"), BackendError),
        (Scripted(200, b'{"head":{}}'), BackendError),
        (Scripted(200, b"[1]"), BackendError),
    ],
)
def test_failures_are_typed_and_not_asked_again(
    make: Maker, reply: Scripted, expected: type[BackendError]
) -> None:
    with ScriptedEndpoint([reply]) as endpoint:
        with pytest.raises(expected) as caught:
            make(endpoint.url).ask(ASK)
        assert type(caught.value) is expected
        assert endpoint.url in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(endpoint.forms) == 1


@BOTH
def test_the_servers_words_reach_the_message(make: Maker) -> None:
    with (
        ScriptedEndpoint([Scripted(400, EXCEPTION % b"Invalid token: FOO")]) as endpoint,
        pytest.raises(QuerySyntax, match="400: Invalid token: FOO"),
    ):
        make(endpoint.url).ask(ASK)


@BOTH
def test_a_rate_limit_is_waited_for(make: Maker) -> None:
    limited = Scripted(429, b"slow down", {"Retry-After": "1"})
    with ScriptedEndpoint([limited]) as endpoint:
        began = time.monotonic()
        assert make(endpoint.url).ask(ASK)
        assert 0.9 < time.monotonic() - began < 10
        assert len(endpoint.forms) == 2


@pytest.mark.parametrize("poster", [PooledPoster, WrapperPoster])
def test_a_lasting_rate_limit_is_given_up(poster: type[PooledPoster]) -> None:
    waits: list[float] = []
    with ScriptedEndpoint([Scripted(429, b"slow", {"Retry-After": "7"})] * 9) as endpoint:
        engine = RemoteEngine(poster(endpoint.url), endpoint.url, sleep=waits.append)
        with pytest.raises(RateLimited):
            engine.ask(ASK)
        assert waits == [7.0, 7.0]
        assert len(endpoint.forms) == 3


@BOTH
def test_a_cache_collision_is_asked_once_more(make: Maker) -> None:
    # B40: two equal queries at once.
    collision = Scripted(500, EXCEPTION % b"Cache key already present in cache")
    with ScriptedEndpoint([collision]) as endpoint:
        assert make(endpoint.url).ask(ASK)
        assert len(endpoint.forms) == 2
    with ScriptedEndpoint([collision, collision]) as endpoint:
        with pytest.raises(BackendError):
            make(endpoint.url).ask(ASK)
        assert len(endpoint.forms) == 2


@BOTH
def test_a_server_with_a_shorter_timeout_is_asked_without_ours(make: Maker) -> None:
    refusal = b"User submitted timeout was higher than what is currently allowed (10s)."
    with ScriptedEndpoint([Scripted(403, refusal)]) as endpoint:
        engine = make(endpoint.url)
        assert engine.ask(ASK)
        assert engine.ask(ASK)
        assert ["timeout" in form for form in endpoint.forms] == [True, False, False]


def test_a_dropped_kept_connection_is_opened_again_once() -> None:
    with ScriptedEndpoint([Scripted(), Scripted(drop=True)]) as endpoint:
        engine = http_engine(endpoint.url)
        assert engine.ask(ASK)
        assert engine.ask(ASK)
        assert endpoint.connections == 2
    with ScriptedEndpoint([Scripted(drop=True), Scripted(drop=True)]) as endpoint:
        with pytest.raises(BackendDown, match="closed the connection"):
            http_engine(endpoint.url).ask(ASK)
        assert len(endpoint.forms) == 2


@BOTH
def test_an_answer_that_breaks_off_is_no_short_answer(make: Maker) -> None:
    with (
        ScriptedEndpoint([Scripted(body=ROWS, cut=60)]) as endpoint,
        pytest.raises(BackendDown),
    ):
        make(endpoint.url).select(SELECT)


@BOTH
def test_nobody_there(make: Maker) -> None:
    url = f"http://127.0.0.1:{free_port()}/sparql"
    with pytest.raises(BackendDown, match="cannot be reached") as caught:
        make(url).ask(ASK)
    assert url in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("reply", [Scripted(delay=3.0), Scripted(drip=0.3)])
def test_the_deadline_holds_for_the_whole_reply(
    reply: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "GRACE", 0.2)
    with ScriptedEndpoint([reply]) as endpoint:
        engine = http_engine(endpoint.url, timeout=0.5)
        began = time.monotonic()
        with pytest.raises(QueryTimeout, match="did not answer within"):
            engine.ask(ASK)
        assert time.monotonic() - began < 2.5


def test_sparqlwrapper_gives_up_on_a_silent_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "GRACE", 0.0)
    with (
        ScriptedEndpoint([Scripted(delay=4.0)]) as endpoint,
        pytest.raises(QueryTimeout),
    ):
        sparqlwrapper_engine(endpoint.url, timeout=1.0).ask(ASK)


@pytest.mark.parametrize(
    "url", ["http://", "ftp://host/x", "http://host:x/", "nonsense", "http://h/a b", "http://hö/"]
)
@BOTH
def test_an_address_that_is_none(make: Maker, url: str) -> None:
    with pytest.raises(GraphSetupError):
        make(url)


def test_credentials_are_not_shown() -> None:
    assert without_credentials("http://me:secret@h:1/x?y=1") == "http://h:1/x?y=1"
    engine = http_engine(f"http://me:secret@127.0.0.1:{free_port()}/x")
    with pytest.raises(BackendDown) as caught:
        engine.ask(ASK)
    assert "secret" not in str(caught.value)
    assert "secret" not in engine.address


@BOTH
def test_credentials_are_used(make: Maker) -> None:
    with ScriptedEndpoint() as endpoint:
        assert make(endpoint.url.replace("//", "//me:s%40cret@")).ask(ASK)
        assert endpoint.headers[0]["Authorization"] == "Basic bWU6c0BjcmV0"


def test_a_missing_sparqlwrapper_is_a_setup_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "SPARQLWrapper", None)
    with pytest.raises(GraphSetupError, match=r"pip install .*sparqlwrapper"):
        sparqlwrapper_engine("http://127.0.0.1:1/x")


@BOTH
def test_a_closed_engine_says_so(make: Maker) -> None:
    engine = make("http://127.0.0.1:1/x")
    engine.close()
    engine.close()
    with pytest.raises(BackendDown, match="closed"):
        engine.ask(ASK)


def test_one_engine_serves_many_threads() -> None:
    count = 12
    with ScriptedEndpoint([Scripted(delay=0.1)] * count) as endpoint:
        engine = http_engine(endpoint.url)
        answers: list[bool] = []
        threads = [
            threading.Thread(target=lambda: answers.append(engine.ask(ASK))) for _ in range(count)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [True] * count
        assert endpoint.connections <= count
        engine.close()


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="quick ACK is Linux's")
def test_a_server_without_nodelay_does_not_stall_us() -> None:
    """Section G: header and body in separate writes, Nagle on, kept-alive connection.

    The naive client in the same test shows that the server really stalls one that does nothing.
    """
    with ScriptedEndpoint(nodelay=False) as endpoint:
        form = {"query": ASK}
        with httpx.Client() as naive:
            stalled = _median_ms(lambda: naive.post(endpoint.url, data=form).read())
        engine = http_engine(endpoint.url)
        before = endpoint.connections
        ours = _median_ms(lambda: engine.ask(ASK))
        assert endpoint.connections == before + 1, "the connection was not kept"
        engine.close()
    assert stalled > 25, f"the server did not stall a naive client ({stalled:.1f} ms)"
    assert ours < stalled / 3, f"{ours:.1f} ms against {stalled:.1f} ms"


def _median_ms(call: Callable[[], object]) -> float:
    for _ in range(20):  # Linux acknowledges the first packets of a connection at once.
        call()
    seconds = []
    for _ in range(15):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds) * 1000
