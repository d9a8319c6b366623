"""Short tracebacks: the frames of the model's own code and the error's message, bounded."""

from __future__ import annotations

import traceback
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Final

from kernel.headtail import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

CELL_NAME: Final = "<cell {}>"
_FIRST_FRAMES: Final = 4
_LAST_FRAMES: Final = 12
_LONGEST_MESSAGE: Final = 4_000
_LONGEST_SUMMARY: Final = 500
_LONGEST_CHAIN: Final = 4
_OURS: Final = "kernel.inside.errors."


def is_model_code(filename: str) -> bool:
    """Whether a code object's file is a cell."""
    return filename.startswith("<cell ")


def summary(error: BaseException) -> str:
    """``"NameError: ..."`` on one line of bounded length, whatever the error's ``__str__`` does."""
    name = type(error).__name__
    try:
        message = str(error)
    except Exception:
        return f"{name}: <its __str__ raised an error>"
    message = " ".join(message.split())
    if len(message) > _LONGEST_SUMMARY:
        message = message[:_LONGEST_SUMMARY] + "..."
    return f"{name}: {message}" if message else name


def render(error: BaseException) -> str:
    """The traceback as the model sees it, ending in a newline."""
    parts = []
    for link, reason in _chain(error):
        parts.append(_render_one(link))
        if reason:
            parts.append(f"\n{reason}\n\n")
    return "".join(parts)


def _chain(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    """The error's causes, oldest first, each with the line that leads to the next."""
    links: list[tuple[BaseException, str]] = [(error, "")]
    seen = {id(error)}
    while len(links) < _LONGEST_CHAIN:
        link = links[-1][0]
        if link.__cause__ is not None:
            earlier, reason = link.__cause__, "It caused this error:"
        elif link.__context__ is not None and not link.__suppress_context__:
            earlier, reason = link.__context__, "While it was handled, this error came:"
        else:
            break
        if id(earlier) in seen:
            break
        seen.add(id(earlier))
        links.append((earlier, reason))
    return reversed(links)


def _render_one(error: BaseException) -> str:
    frames = _frames(error.__traceback__)
    message = "".join(traceback.TracebackException(type(error), error, None).format())
    # An exception group draws its members; their messages are all a model needs of them.
    message = shorten(message.replace(_OURS, ""), _LONGEST_MESSAGE)
    return ("Traceback (most recent call last):\n" + frames if frames else "") + message


def _frames(trace: TracebackType | None) -> str:
    """The first and last frames of the model's code, with a count of those between."""
    frames = (frame for frame in _walk(trace) if is_model_code(frame[0].f_code.co_filename))
    first = list(islice(frames, _FIRST_FRAMES))
    last: deque[tuple[FrameType, int]] = deque(maxlen=_LAST_FRAMES)
    more = 0
    for frame in frames:
        last.append(frame)
        more += 1
    between = more - len(last)
    if not between:
        return _format([*first, *last])
    return f"{_format(first)}  [... {between:,} frames left out ...]\n{_format(list(last))}"


def _walk(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _format(frames: list[tuple[FrameType, int]]) -> str:
    return "".join(traceback.StackSummary.extract(iter(frames)).format())
