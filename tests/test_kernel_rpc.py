"""The connection between kernel and harness: ids, threads, interrupts at any moment (B13)."""

from __future__ import annotations

import random
import signal
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from kernel import rpc, wire
from kernel.inside.connection import Connection
from kernel.inside.errors import (
    HarnessFault,
    LLMCallError,
    NotInGraph,
    UnseenIdentifier,
)
from kernel.interpreter import HostError
from kernel.rpc import RpcServer
from kernel.wire import HEADER, MAX_FRAME, WireError, decode, encode, frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType


def echo(params: dict[str, Any]) -> Any:
    return params.get("value")


def slow(params: dict[str, Any]) -> Any:
    time.sleep(params.get("seconds", 0.3))
    return "SLOW"


def host_error(params: dict[str, Any]) -> Any:
    raise HostError(params["kind"], "do this next")


def crash(params: dict[str, Any]) -> Any:
    raise KeyError("secret")


METHODS = {
    "echo": echo,
    "slow": slow,
    "host_error": host_error,
    "crash": crash,
    "set": lambda params: {1, 2},
    "huge": lambda params: "x" * (wire.MAX_FRAME + 1),
}


class Ends:
    """Both ends of one connection, in one process."""

    def __init__(self, **options: Any) -> None:
        ours, theirs = socket.socketpair()
        self.server = RpcServer(ours, METHODS, immediate={"now": echo}, **options)
        self.server.start()
        self.raw = theirs
        self.kernel = Connection(theirs)

    def closed_reason(self) -> str:
        deadline = time.monotonic() + 10
        while self.server.closed_reason is None and time.monotonic() < deadline:
            time.sleep(0.005)
        return self.server.closed_reason or "still open"


@pytest.fixture
def ends() -> Iterator[Ends]:
    ends = Ends()
    yield ends
    ends.server.close()
    ends.raw.close()


class Interrupted(Exception):
    """What the test's signal handler raises."""


@pytest.fixture
def alarm() -> Iterator[Callable[[float], None]]:
    """Raises ``Interrupted`` in the main thread after so many seconds."""

    def handler(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds) and None
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_values_go_both_ways(ends: Ends) -> None:
    for value in (None, 2**70, float("inf"), "\ud800\0", [1, {"a": "é"}], "x" * 1_000_000):
        assert ends.kernel.call("echo", {"value": value}) == value
    assert ends.kernel.call("now", {"value": 1}) == 1


def test_b13_an_interrupted_call_does_not_answer_the_next(
    ends: Ends, alarm: Callable[[float], None]
) -> None:
    alarm(0.1)
    with pytest.raises(Interrupted):
        ends.kernel.call("slow")
    assert ends.kernel.call("echo", {"value": "B"}) == "B"
    time.sleep(0.4)  # SLOW's answer has come by now
    assert ends.kernel.call("echo", {"value": "C"}) == "C"


def test_b13_interrupts_at_any_moment_cost_only_their_own_call(
    ends: Ends, alarm: Callable[[float], None]
) -> None:
    """Hundreds of alarms at random moments of sending, waiting and receiving."""
    chance = random.Random(13)
    interrupted = 0
    for i in range(1_500):
        size = chance.choice([10, 10, 300_000])
        try:
            alarm(chance.uniform(0.00002, 0.0008))
            assert ends.kernel.call("echo", {"value": [i, "x" * size]})[0] == i
            alarm(0)
        except Interrupted:
            interrupted += 1
    alarm(0)
    assert ends.kernel.call("echo", {"value": "end"}) == "end"
    assert interrupted > 100
    assert ends.server.closed_reason is None


def test_b13_interrupts_while_other_threads_call(
    ends: Ends, alarm: Callable[[float], None]
) -> None:
    """The main thread may be reading for all the others when it is interrupted."""
    done: list[int] = []

    def work(number: int) -> None:
        for i in range(100):
            assert ends.kernel.call("echo", {"value": [number, i]}) == [number, i]
        done.append(number)

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(3)]
    for thread in threads:
        thread.start()
    chance = random.Random(7)
    while any(thread.is_alive() for thread in threads):
        try:
            alarm(chance.uniform(0.0001, 0.003))
            ends.kernel.call("slow", {"seconds": 0.002})
            alarm(0)
        except Interrupted:
            continue
    alarm(0)
    assert sorted(done) == [0, 1, 2]


def test_eight_threads_get_their_own_answers(ends: Ends) -> None:
    right = [0] * 8

    def work(number: int) -> None:
        for i in range(200):
            right[number] += ends.kernel.call("echo", {"value": [number, i]}) == [number, i]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert right == [200] * 8


def test_a_quick_call_does_not_wait_for_a_slow_one(ends: Ends) -> None:
    answers: list[Any] = []
    thread = threading.Thread(
        target=lambda: answers.append(ends.kernel.call("slow", {"seconds": 1.5}))
    )
    thread.start()
    time.sleep(0.1)  # the slow call reads for all now
    started = time.monotonic()
    for i in range(5):
        assert ends.kernel.call("echo", {"value": i}) == i
    assert time.monotonic() - started < 1
    assert not answers
    thread.join(10)
    assert answers == ["SLOW"]


def test_a_function_that_was_quick_holds_the_others_up_only_until_relieved(ends: Ends) -> None:
    for _ in range(50):
        ends.kernel.call("slow", {"seconds": 0})
    answers: list[Any] = []
    thread = threading.Thread(
        target=lambda: answers.append(ends.kernel.call("slow", {"seconds": 1.5}))
    )
    thread.start()
    time.sleep(0.2)
    ends.server.relieve()
    started = time.monotonic()
    for i in range(5):
        assert ends.kernel.call("echo", {"value": i}) == i
    assert ends.kernel.call("now", {"value": 1}) == 1
    assert time.monotonic() - started < 1
    thread.join(10)
    assert answers == ["SLOW"]
    assert ends.kernel.call("echo", {"value": "after"}) == "after"


def test_more_slow_calls_than_workers_are_all_answered_and_block_nothing_immediate() -> None:
    ends = Ends(workers=2)
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda: answers.append(ends.kernel.call("slow", {"seconds": 0.4})))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    started = time.monotonic()
    assert ends.kernel.call("now", {"value": 1}) == 1
    assert time.monotonic() - started < 0.4
    for thread in threads:
        thread.join(10)
    assert answers == ["SLOW"] * 6
    ends.server.close()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("NotInGraph", NotInGraph),
        ("UnseenIdentifier", UnseenIdentifier),
        ("LLMCallError", LLMCallError),
        ("SomethingElse", HarnessFault),
    ],
)
def test_host_errors_get_their_class(ends: Ends, kind: str, expected: type[Exception]) -> None:
    with pytest.raises(expected, match="do this next"):
        ends.kernel.call("host_error", {"kind": kind})


def test_a_fault_of_the_harness_is_recorded_and_keeps_its_details(ends: Ends) -> None:
    with pytest.raises(HarnessFault) as caught:
        ends.kernel.call("crash")
    assert "secret" not in str(caught.value)
    assert list(ends.server.faults) == ["crash: KeyError: 'secret'"]
    with pytest.raises(HarnessFault, match="sorted"):
        ends.kernel.call("set")
    assert ends.kernel.call("echo", {"value": 1}) == 1


def test_an_answer_that_is_too_long_is_an_error_and_no_more(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MAX_FRAME", 100_000)
    with pytest.raises(HarnessFault, match="send less"):
        ends.kernel.call("huge")
    with pytest.raises(WireError, match="send less"):
        ends.kernel.call("echo", {"value": "x" * 200_000})
    assert ends.kernel.call("echo", {"value": 1}) == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (frame(1, b"no json"), "garbage"),
        (frame(1, b"[]"), "must be an object"),
        (frame(1, encode({"method": "echo"})), "needs a method and parameters"),
        (frame(1, encode({"method": "no_such", "params": {}})), "unknown method 'no_such'"),
        (HEADER.pack(MAX_FRAME + 1, 1), "67,108,865 bytes"),
        (frame(1, encode({"method": "echo", "params": {}}))[:-1], "middle of a message"),
        (b"\0\0", "middle of a message"),
        (b"", "ended"),
    ],
)
def test_nonsense_closes_the_connection_with_a_reason(ends: Ends, data: bytes, reason: str) -> None:
    ends.raw.sendall(data)
    ends.raw.shutdown(socket.SHUT_WR)
    assert reason in ends.closed_reason()
    with pytest.raises(HarnessFault, match="connection"):
        ends.kernel.call("echo")


def test_a_kernel_that_does_not_read_can_be_closed(ends: Ends) -> None:
    for i in range(40):
        ends.raw.sendall(frame(i, encode({"method": "echo", "params": {"value": "x" * 100_000}})))
    time.sleep(0.1)
    ends.server.close("enough")
    assert ends.closed_reason() == "enough"


def test_a_kernel_that_sends_much_reads_what_it_had_left() -> None:
    """Answers to interrupted calls fill the socket; the harness reads on once they are read."""
    ends = Ends(workers=1)
    for name in ("a", "b", "c"):
        for i in range(20):  # proves quick: answered without leaving the reading
            ends.kernel.call("echo", {"function": name, "value": i})
    for i, name in enumerate("abc"):
        params = {"function": name, "value": "x" * 1_000_000}
        ends.kernel._write(frame(10_000 + i, encode({"method": "echo", "params": params})))
    assert ends.kernel.call("echo", {"value": "y" * 300_000}) == "y" * 300_000
    ends.server.close()


def test_endless_requests_close_the_connection(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "_LONGEST_BACKLOG", 50)
    request = frame(1, encode({"method": "slow", "params": {"seconds": 5}}))
    ends.raw.sendall(request * 80)
    assert "requests open" in ends.closed_reason()


def test_b13_an_answer_read_by_an_interrupted_call_is_not_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both answers come at once; the interrupt comes between receiving and handing over."""
    ours, theirs = socket.socketpair()
    kernel = Connection(theirs)
    deliver = kernel._deliver

    def interrupted(data: bytes) -> None:
        monkeypatch.setattr(kernel, "_deliver", deliver)
        raise Interrupted

    monkeypatch.setattr(kernel, "_deliver", interrupted)
    ours.sendall(frame(1, encode({"result": "A"})) + frame(2, encode({"result": "B"})))
    with pytest.raises(Interrupted):
        kernel.call("first")
    assert kernel.call("second") == "B"
    ours.close()
    theirs.close()


def test_answers_to_nobody_are_dropped() -> None:
    ours, theirs = socket.socketpair()
    kernel = Connection(theirs)

    def serve() -> None:
        data = ours.recv(1000)
        _, number = HEADER.unpack_from(data)
        assert decode(data[HEADER.size :])["method"] == "echo"
        answer = frame(999, encode({"result": "other"})) + frame(number, encode({"result": "own"}))
        for i in range(len(answer)):
            ours.sendall(answer[i : i + 1])

    thread = threading.Thread(target=serve)
    thread.start()
    assert kernel.call("echo") == "own"
    thread.join()
    ours.close()
    theirs.close()
