"""Many calls at once, in order, that end when the run does.

The threads are daemons and look at a sign to stop before each item: whoever interrupts a run
neither waits for a queue of model calls nor pays for it.
"""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")


class StoppedError(Exception):
    """Some items were not started, because the sign to stop was given."""


def fan_out(
    function: Callable[[Item], Result], items: Sequence[Item], workers: int, stop: threading.Event
) -> list[Result]:
    """Call a function for every item, several at once.

    Args:
        function: what to call; an error it raises is raised here.
        items: one call each.
        workers: how many are under way at once.
        stop: looked at before each call.

    Returns:
        The results in the order of the items.

    Raises:
        StoppedError: where the sign was given before every item was started.
    """
    results: dict[int, Result] = {}
    errors: list[BaseException] = []
    numbers = itertools.count()
    lock = threading.Lock()

    def work() -> None:
        while not errors and not stop.is_set():
            with lock:
                number = next(numbers)
            if number >= len(items):
                return
            try:
                results[number] = function(items[number])
            except BaseException as error:
                errors.append(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(workers, len(items)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    if len(results) < len(items):
        raise StoppedError
    return [results[number] for number in range(len(items))]
