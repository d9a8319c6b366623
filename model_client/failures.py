"""Turns what LiteLLM raises into this package's errors, and says whether another try may help."""

from __future__ import annotations

import enum
import json
import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from model_client.errors import (
    ContextOverflow,
    ModelError,
    ModelRefused,
    ModelRequestRefused,
    ModelSetupError,
    ModelUnavailable,
)
from model_client.key_redaction import without_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LONGEST_DETAIL = 300
_RETRIED_STATUSES = frozenset({408, 409, 425, 429})

_CONTEXT_OVERFLOW = re.compile(
    r"maximum context length|context_length_exceeded|context window|context length"
    r"|exceed_context_size|available context size|maximum model length|prompt is too long"
    r"|input token count.{0,40}exceeds",
    re.IGNORECASE,
)
_CONTENT_FILTER = re.compile(
    r"content_filter|content_policy_violation|content management policy", re.IGNORECASE
)
_MISSING_KEY = re.compile(r"missing\b.{0,40}(api[ _]?key|credentials)", re.IGNORECASE)
_ERRNO = re.compile(r"^\[Errno -?\d+\] ")
_LITELLM_PREFIX = re.compile(r"^(?:litellm\.)?(?:\w+(?:Error|Exception)|Timeout Error): ?")
_PROVIDER_PREFIX = re.compile(r"^\w+Exception - ")


class Retry(enum.Enum):
    """Whether another try may help."""

    NEVER = "never"
    QUICKLY = "quickly"
    WITH_BACKOFF = "with backoff"


@dataclass(frozen=True)
class Failure:
    """Why one try of a call brought no reply."""

    error: ModelError
    retry: Retry = Retry.NEVER
    retry_after: float | None = None
    """Seconds that the provider asked to be left alone."""


@dataclass(frozen=True)
class Callee:
    """Whom the messages speak of."""

    model: str
    """The model's name."""
    address: str | None
    """The server's address where one was given."""
    key_variable: str
    """Where the key comes from."""
    timeout: float
    """Seconds that one try may take."""

    def __str__(self) -> str:
        return f"model {self.model!r}" + (f" at {self.address}" if self.address else "")


def classify(error: Exception, callee: Callee) -> Failure:
    """Say what an exception of LiteLLM means."""
    causes = list(_causes(error))
    if (transport := _transport_failure(causes, callee)) is not None:
        return transport
    text = str(error)
    status = _status(error)
    detail = provider_detail(text)
    if status != 429 and (
        _has_type(error, "ContextWindowExceededError") or _CONTEXT_OVERFLOW.search(text)
    ):
        return Failure(ContextOverflow(f"the conversation is too long for {callee}: {detail}"))
    if _has_type(error, "ContentPolicyViolationError") or _CONTENT_FILTER.search(text):
        return Failure(ModelRefused(f"the content filter of {callee} declined: {detail}"))
    if _has_type(error, "UnsupportedParamsError"):
        return Failure(ModelSetupError(f"{callee} cannot be called with these settings: {detail}"))
    if _MISSING_KEY.search(text) and _response_headers(error) is None:
        return Failure(ModelSetupError(f"{callee} needs a key: set {callee.key_variable}"))
    return _http_failure(error, status, detail, callee)


def broken_reply(callee: Callee, what: str) -> Failure:
    """A reply that arrived but holds no answer."""
    return Failure(ModelUnavailable(f"{callee} sent a broken reply: {what}"), Retry.WITH_BACKOFF)


def _http_failure(error: Exception, status: int, detail: str, callee: Callee) -> Failure:
    if status in (401, 403):
        # A 401 repeats the key, in part or whole; a 403 gives a reason worth reading.
        reason = f": {detail}" if status == 403 else ""
        return Failure(
            ModelRequestRefused(
                f"{callee} refused access ({status}), check the key in "
                f"{callee.key_variable}{reason}"
            )
        )
    if status == 429 and "insufficient_quota" in str(error):
        return Failure(ModelRequestRefused(f"{callee}: the account has no quota left: {detail}"))
    if status in _RETRIED_STATUSES or status >= 500:
        what = "is rate-limited" if status == 429 else "failed"
        return Failure(
            ModelUnavailable(f"{callee} {what} ({status}): {detail}"),
            Retry.WITH_BACKOFF,
            retry_after(_response_headers(error) or {}),
        )
    if status == 404:
        return Failure(ModelRequestRefused(f"{callee} was not found (404): {detail}"))
    if 200 <= status < 300:
        return broken_reply(callee, detail)
    return Failure(ModelRequestRefused(f"{callee} refused the request ({status}): {detail}"))


def _transport_failure(causes: list[BaseException], callee: Callee) -> Failure | None:
    """What went wrong on the way to the server; None where an answer came."""
    for cause in causes:
        if _has_type(cause, "ConnectError") or _has_type(cause, "ConnectTimeout"):
            where = callee.address or f"the provider of {callee.model!r}"
            reason = _ERRNO.sub("", one_line(str(causes[-1]) or type(causes[-1]).__name__))
            return Failure(
                ModelUnavailable(f"no model server answers at {where}: {reason}"), Retry.QUICKLY
            )
        if _has_type(cause, "TimeoutException"):
            return _timed_out(callee)
        if _has_type(cause, "TransportError"):
            reason = one_line(str(cause) or type(cause).__name__)
            return Failure(
                ModelUnavailable(f"{callee} broke the connection off: {reason}"),
                Retry.WITH_BACKOFF,
            )
    return None


def _timed_out(callee: Callee) -> Failure:
    message = f"{callee} gave no answer within {callee.timeout:g} s"
    return Failure(ModelUnavailable(message), Retry.WITH_BACKOFF)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and what caused it, outermost first."""
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _has_type(error: BaseException, name: str) -> bool:
    # By name: LiteLLM and its HTTP libraries (httpx, httpx2) are not imported here.
    return any(cls.__name__ == name for cls in type(error).__mro__)


def _status(error: Exception) -> int:
    """The HTTP status; 500 where there is none."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else 500


def _response_headers(error: Exception) -> Mapping[str, str] | None:
    """The headers of the provider's answer; None where the call never got one."""
    headers = getattr(error, "litellm_response_headers", None)
    if headers is None:
        headers = getattr(getattr(error, "response", None), "headers", None)
    return headers or None


def retry_after(headers: Mapping[str, str], *, now: float | None = None) -> float | None:
    """Seconds to wait as the ``Retry-After`` header says (seconds or a date); None without one."""
    by_name = {name.lower(): value for name, value in headers.items()}
    if (milliseconds := _number(by_name.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = by_name.get("retry-after")
    if value is None:
        return None
    if (seconds := _number(value)) is not None:
        return seconds
    try:
        at = parsedate_to_datetime(value).timestamp()
    except ValueError:
        return None
    return max(0.0, at - (time.time() if now is None else now))


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else None
    except ValueError:
        return None
    return number if number is not None and 0 <= number < float("inf") else None


def provider_detail(text: str) -> str:
    """What the provider said, in one line, without LiteLLM's prefixes, wrapping JSON and keys."""
    stripped = text.strip()
    while (shorter := _LITELLM_PREFIX.sub("", stripped)) != stripped:
        stripped = shorter
    stripped = _PROVIDER_PREFIX.sub("", stripped).split("\nTraceback", 1)[0]
    return one_line(_json_message(stripped) or stripped) or "no reason given"


def _json_message(text: str) -> str | None:
    """The message inside an error document, in the shapes that servers use."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        document, _ = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        return None
    return _message_of(document)


def _message_of(document: Any) -> str | None:
    if isinstance(document, str):
        return document
    if not isinstance(document, dict):
        return None
    for name in ("error", "message", "detail"):
        if document.get(name):
            return _message_of(document[name])
    return None


def one_line(text: str) -> str:
    """Text as one line of bearable length, without keys."""
    line = " ".join(without_keys(text).split())
    return line if len(line) <= _LONGEST_DETAIL else line[: _LONGEST_DETAIL - 1] + "…"
