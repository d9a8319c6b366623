"""Values on the wire come back as they were, or are refused with a message that teaches (B20)."""

from __future__ import annotations

import enum
import json
import math
from collections import OrderedDict, namedtuple
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel import wire
from kernel.wire import HEADER, MAX_FRAME, WireError, decode, encode, frame

TEXT = st.text(st.characters(exclude_categories=())) | st.sampled_from(
    ["", "\0", "\ud800", "\ud83d\ude00", "$int", "$$", "$u", "\u2028", "null"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**200), 2**200)
    | st.floats(allow_nan=True, allow_infinity=True)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@pytest.fixture(params=["orjson", "json"], autouse=True)
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "json":
        monkeypatch.setattr(wire, "orjson", None)
    return str(request.param)


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


def no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


@given(VALUES)
def test_b20_every_plain_value_comes_back(value: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for backend in (wire.orjson, None):
            patch.setattr(wire, "orjson", backend)
            data = encode(value)
            json.loads(data, parse_constant=no_constant)
            assert same(decode(data), value)


@given(VALUES)
def test_b20_both_libraries_write_the_same_values(value: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        data = encode(value)
        patch.setattr(wire, "orjson", None)
        assert same(decode(data), value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, (2, 3)), [1, [2, 3]]),
        (2**53 + 1, 2**53 + 1),
        (2**70, 2**70),
        ({"a": np.float64("nan")}, {"a": math.nan}),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.str_("Q42"), "Q42"),
        ([np.float32(0.5)], [0.5]),
        (OrderedDict(a=1), {"a": 1}),
        (namedtuple("Point", "x y")(1, 2), [1, 2]),
        (enum.IntEnum("Rank", "low high").high, 2),
        ({"$float": "nan"}, {"$float": "nan"}),
        ([math.inf, None, -math.inf], [math.inf, None, -math.inf]),
    ],
)
def test_b20_what_becomes_of_other_types(value: Any, expected: Any) -> None:
    assert same(decode(encode(value)), expected)


def test_b20_an_int_too_long_to_print_comes_back() -> None:
    assert decode(encode(-(10**5000))) == -(10**5000)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({1, 2}, ["value is a set", "sorted(...)"]),
        ({"a": [1, frozenset()]}, ["value['a'][1] is a frozenset", "sorted(...)"]),
        ([b"x"], ["value[0] is bytes", ".decode()"]),
        ({1: "a"}, ["key 1 (int)", "keys must be strings"]),
        ({"a": {None: 1}}, ["value['a'] has the key None"]),
        (np.array([1, 2]), ["ndarray", ".tolist()"]),
        (Decimal("1.5"), ["Decimal", "str(...)"]),
        ({"a": 1}.keys(), ["dict_keys", "list(...)"]),
        (object(), ["object"]),
    ],
)
def test_b20_what_is_refused_and_how(value: Any, words: list[str]) -> None:
    with pytest.raises(WireError) as caught:
        encode(value)
    for word in words:
        assert word in str(caught.value)


def test_a_value_that_contains_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(WireError, match="contains itself"):
        encode(value)


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff", b"{", b"nan", b'{"$int": 5}', b'{"$nonsense": 1}', b'{"$float": "big"}'],
)
def test_broken_payloads_are_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        decode(data)


def test_deep_payloads_are_refused_or_read_but_crash_nothing() -> None:
    data = b'{"$$":' * 5_000 + b"1" + b"}" * 5_000
    with pytest.raises(WireError):
        decode(data)


def test_a_frame_holds_length_and_id() -> None:
    data = frame(7, b"abc")
    assert HEADER.unpack_from(data) == (3, 7)
    assert data[HEADER.size :] == b"abc"


def test_a_payload_over_the_limit_is_refused_by_its_sender() -> None:
    with pytest.raises(WireError, match="send less"):
        frame(1, bytes(MAX_FRAME + 1))
