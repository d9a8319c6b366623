"""Frames and values on the connection between harness and kernel; the same code on both sides.

A frame is a header (payload length, request id) and a JSON payload. Values are plain Python data;
what JSON cannot say exactly is tagged: ``{"$float": "nan"}``, ``{"$int": "0x..."}`` beyond 64 bits,
``{"$str": "<hex>"}`` for text with lone surrogates. Keys that begin with ``$`` are escaped, so that
no data can be taken for a tag.
"""

from __future__ import annotations

import json
import math
import struct
from enum import Enum
from typing import Any, Final

try:
    import orjson
except ImportError:  # the kernel may run where only the standard library is
    orjson = None  # type: ignore[assignment]

HEADER: Final = struct.Struct(">IQ")
"""Payload length in bytes, then the request's id."""

MAX_FRAME: Final = 64 * 1024 * 1024
"""Longest payload in bytes; a longer one is refused by its sender and cuts the connection."""

_DEEPEST: Final = 200
_LARGEST_INT: Final = 2**63 - 1
_FLOATS: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class WireError(ValueError):
    """A value that cannot be sent (the message says what to send instead), or broken bytes."""


def frame(number: int, payload: bytes) -> bytes:
    """Put a payload into a frame.

    Raises:
        WireError: for a payload longer than ``MAX_FRAME``.
    """
    if len(payload) > MAX_FRAME:
        raise WireError(
            f"{len(payload):,} bytes are too many for one message (at most {MAX_FRAME:,}): "
            "send less at once"
        )
    return HEADER.pack(len(payload), number) + payload


def encode(value: Any, name: str = "value") -> bytes:
    """Turn plain data into a payload.

    Tuples become lists; numpy and pandas scalars become Python numbers.

    Args:
        value: the data.
        name: what an error's message calls it.

    Raises:
        WireError: for a set, bytes, a key that is no string and anything else that is not plain
            data, saying where it stands and what to send instead.
    """
    if orjson is not None:
        try:
            data = orjson.dumps(value, default=_not_plain, option=_STRICT)
        except TypeError:
            pass
        else:
            # orjson writes null for NaN and infinities, and knows no tags.
            if b'"$' not in data and (b"null" not in data or _all_finite(value)):
                return data
    return _dump(_tagged(value, name, 0))


def decode(data: bytes) -> Any:
    """Turn a payload back into data.

    Raises:
        WireError: for bytes that are no payload.
    """
    try:
        value = _load(data)
        return _untagged(value) if b'"$' in data else value
    except WireError:
        raise
    except (ValueError, RecursionError, TypeError) as error:
        raise WireError(f"not a valid payload: {error}") from None


def _not_plain(value: Any) -> Any:
    raise TypeError


if orjson is not None:
    _STRICT = (
        orjson.OPT_PASSTHROUGH_SUBCLASS
        | orjson.OPT_PASSTHROUGH_DATETIME
        | orjson.OPT_PASSTHROUGH_DATACLASS
    )


def _dump(plain: Any) -> bytes:
    if orjson is not None:
        return orjson.dumps(plain)
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _load(data: bytes) -> Any:
    if orjson is not None:
        return orjson.loads(data)
    return json.loads(data, parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise WireError(f"{name} is no JSON")


def _all_finite(value: Any) -> bool:
    """Whether no float in plain data (already seen by orjson, so without cycles) is NaN or inf."""
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is dict:
            stack.extend(item.values())
        elif kind is list or kind is tuple:
            stack.extend(item)
        elif kind is float and not math.isfinite(item):
            return False
    return True


def _tagged(value: Any, where: str, depth: int) -> Any:
    """Copy a value into exact dicts, lists, str, int, float, bool and None, with tags."""
    if depth > _DEEPEST:
        raise WireError("the value is nested too deeply, or contains itself")
    if value is None or value is True or value is False:
        return value
    if isinstance(value, Enum):
        return _tagged(value.value, where, depth + 1)
    if isinstance(value, str):
        return _tagged_text(str.__str__(value))
    if isinstance(value, int):
        number = int.__int__(value)
        return number if abs(number) <= _LARGEST_INT else {"$int": hex(number)}
    if isinstance(value, float):
        real = float.__float__(value)
        return real if math.isfinite(real) else {"$float": repr(real)}
    if isinstance(value, dict):
        return {
            _key(key, where): _tagged(item, f"{where}[{key!r:.60}]", depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_tagged(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
    return _tagged(_scalar(value, where), where, depth + 1)


def _tagged_text(text: str) -> Any:
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"$str": text.encode("utf-8", "surrogatepass").hex()}
    return text


def _key(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise WireError(
            f"{where} has the key {key!r:.60} ({type(key).__name__}); keys must be strings: "
            "use {str(key): ...}"
        )
    text = str.__str__(key)
    tagged = _tagged_text(text)
    if isinstance(tagged, dict):
        return "$u" + str(tagged["$str"])
    return "$" + text if text.startswith("$") else text


def _scalar(value: Any, where: str) -> Any:
    """A numpy or pandas scalar as a Python value; everything else is refused."""
    kind = type(value)
    if isinstance(value, (set, frozenset)):
        raise WireError(f"{where} is a {kind.__name__}, which has no order: use sorted(...)")
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise WireError(f"{where} is {kind.__name__}: use .decode() to get text")
    if kind.__module__.partition(".")[0] in ("numpy", "pandas"):
        if getattr(value, "ndim", 0) == 0 and hasattr(value, "item"):
            plain = value.item()
            if not isinstance(plain, kind) and isinstance(plain, (bool, int, float, str)):
                return plain
        if hasattr(value, "tolist"):
            raise WireError(f"{where} is a {kind.__name__}: use .tolist()")
    raise WireError(
        f"{where} is a {kind.__name__}: only dict, list, str, int, float, bool and None can be "
        "sent; use list(...), dict(...) or str(...)"
    )


def _untagged(value: Any) -> Any:
    if type(value) is list:
        return [_untagged(item) for item in value]
    if type(value) is not dict:
        return value
    if len(value) == 1:
        ((key, item),) = value.items()
        if key == "$float":
            return _FLOATS[item] if item in _FLOATS else _bad_tag(key)
        if key == "$int":
            return int(item, 16)
        if key == "$str":
            return _text(item)
    return {_plain_key(key): _untagged(item) for key, item in value.items()}


def _plain_key(key: str) -> str:
    if not key.startswith("$"):
        return key
    if key.startswith("$$"):
        return key[1:]
    return _text(key[2:]) if key.startswith("$u") else _bad_tag(key)


def _text(digits: str) -> str:
    return bytes.fromhex(digits).decode("utf-8", "surrogatepass")


def _bad_tag(key: str) -> Any:
    raise WireError(f"not a valid payload: unknown tag {key!r}")
