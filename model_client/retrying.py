"""The one retry layer: exponential backoff with jitter, ``Retry-After``, few tries when nobody
answers."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from model_client.failures import Failure, Retry

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_client.errors import ModelError

T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """How often and after how many seconds a call is tried again."""

    retries: int = 5
    """Further tries after a rate limit, a time-out, a broken connection or a 5xx."""
    first_wait: float = 1.0
    """Wait before the first of them; it doubles each time."""
    longest_wait: float = 60.0
    """Where the doubling ends."""
    longest_retry_after: float = 120.0
    """A provider that asks for a longer wait is given up at once."""
    quick_retries: int = 2
    """Further tries where no connection can be made at all."""
    quick_wait: float = 0.3
    """Wait before the first of those; it doubles as well."""


def call_with_retries(
    attempt: Callable[[], T | Failure],
    policy: RetryPolicy,
    *,
    sleep: Callable[[float], None] = time.sleep,
    jitter: Callable[[], float] = random.random,
) -> T:
    """Call until there is a result, or a failure that is not worth another try.

    Args:
        attempt: one try; returns its result or why there is none.
        policy: how often and when to try again.
        sleep: waits so many seconds.
        jitter: a number from 0 to 1, so that many clients do not come back at once.

    Raises:
        ModelError: the last failure's error, with the number of tries where there were several.
    """
    tries = 0
    while True:
        outcome = attempt()
        if not isinstance(outcome, Failure):
            return outcome
        tries += 1
        wait = wait_before_retry(outcome, tries, policy, jitter())
        if wait is None:
            raise _final_error(outcome, tries)
        sleep(wait)


def wait_before_retry(
    failure: Failure, tries: int, policy: RetryPolicy, jitter: float
) -> float | None:
    """Seconds to wait after the given number of failed tries; None: do not try again."""
    if failure.retry is Retry.NEVER:
        return None
    if failure.retry is Retry.QUICKLY:
        if tries > policy.quick_retries:
            return None
        return policy.quick_wait * float(2 ** (tries - 1)) * (0.5 + jitter / 2)
    if tries > policy.retries:
        return None
    backoff = min(policy.longest_wait, policy.first_wait * float(2 ** (tries - 1)))
    if failure.retry_after is None:
        return backoff * (0.5 + jitter / 2)
    if failure.retry_after > policy.longest_retry_after:
        return None
    return failure.retry_after + min(1.0, policy.first_wait) * jitter / 2


def _final_error(failure: Failure, tries: int) -> ModelError:
    if tries == 1:
        return failure.error
    return type(failure.error)(f"{failure.error} (tried {tries} times)")
