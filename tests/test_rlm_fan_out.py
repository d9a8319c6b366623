"""Many calls at once: order, errors, and an end when the sign is raised."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlm.fan_out import StoppedError, fan_out


@given(st.lists(st.integers(), max_size=30), st.integers(1, 5))
def test_results_come_in_the_order_of_the_items(items: list[int], workers: int) -> None:
    assert fan_out(lambda item: item * 2, items, workers, threading.Event()) == [
        i * 2 for i in items
    ]


def test_no_more_workers_than_asked_for_are_under_way() -> None:
    lock = threading.Lock()
    under_way, most = 0, 0

    def work(_: int) -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        threading.Event().wait(0.01)
        with lock:
            under_way -= 1

    fan_out(work, list(range(20)), 3, threading.Event())
    assert most == 3


def test_an_error_is_raised_and_ends_the_rest() -> None:
    done: list[int] = []

    def work(item: int) -> None:
        done.append(item)
        if item == 3:
            raise KeyError(item)

    with pytest.raises(KeyError):
        fan_out(work, list(range(1000)), 2, threading.Event())
    assert len(done) < 1000


def test_nothing_is_started_once_the_sign_is_raised() -> None:
    stop = threading.Event()
    done: list[int] = []

    def work(item: int) -> None:
        done.append(item)
        if item == 5:
            stop.set()

    with pytest.raises(StoppedError):
        fan_out(work, list(range(1000)), 2, stop)
    assert len(done) < 20
    with pytest.raises(StoppedError):
        fan_out(work, [1], 1, stop)
    assert fan_out(work, [], 1, stop) == []
