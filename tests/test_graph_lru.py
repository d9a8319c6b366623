"""The bounded cache behind names: what it keeps, and that threads may share it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from kg_functions.lru import Lru


def test_what_was_not_used_goes_first() -> None:
    cache: Lru[str, int | None] = Lru(2)
    cache.put("a", 1)
    cache.put("b", None)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert cache.get_many("abc") == {"a": 1, "c": 3}
    cache.put_many({"d": 4, "e": 5, "f": 6})
    assert cache.get_many("abcdef") == {"e": 5, "f": 6}


def test_none_is_a_value() -> None:
    cache: Lru[str, int | None] = Lru(2)
    cache.put("a", None)
    assert cache.get_many("ab") == {"a": None}


def test_threads_may_share_it() -> None:
    cache: Lru[int, int] = Lru(50)

    def use(start: int) -> None:
        for number in range(2_000):
            key = (start * 7 + number) % 120
            cache.put(key, key)
            assert all(key == value for key, value in cache.get_many(range(120)).items())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, range(8)))
    assert len(cache) == 50
