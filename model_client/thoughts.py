"""Takes ``<think>...</think>`` out of a reply's text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPEN = re.compile(r"\s*<think(?:ing)?>")
_CLOSE = re.compile(r"</think(?:ing)?>")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")


def split_thoughts(text: str) -> tuple[str | None, str]:
    """Split a reply into what was thought and what was said.

    A thought begins at the start of a line outside fenced code, so that code which mentions the
    tags stays whole. A thought without an end (a reply cut by its length) runs to the end; one
    without a beginning (the server's template wrote ``<think>`` into the prompt) starts the reply.

    Returns:
        The thoughts (None where there are none) and the rest.
    """
    thoughts: list[str] = []
    rest = text
    while (span := _next_thought(rest, at_start=not thoughts)) is not None:
        start, inner_start, inner_end, end = span
        thoughts.append(rest[inner_start:inner_end].strip())
        rest = rest[:start] + rest[end:]
    if not thoughts:
        return None, text
    return "\n\n".join(part for part in thoughts if part) or None, rest.strip()


def _next_thought(text: str, *, at_start: bool) -> tuple[int, int, int, int] | None:
    """Where the first thought and its inside begin and end."""
    for position, line in _lines_outside_fences(text):
        if opening := _OPEN.match(line):
            inner_start = position + opening.end()
            closing = _CLOSE.search(text, inner_start)
            if closing is None:
                return position, inner_start, len(text), len(text)
            return position, inner_start, closing.start(), closing.end()
        if at_start and (closing := _closing_tag_of_its_own(line)) is not None:
            return 0, 0, position + closing.start(), position + closing.end()
    return None


def _closing_tag_of_its_own(line: str) -> re.Match[str] | None:
    """A closing tag that starts or ends its line, as templates write it."""
    closing = _CLOSE.search(line)
    if closing is None or (line[: closing.start()].strip() and line[closing.end() :].strip()):
        return None
    return closing


def _lines_outside_fences(text: str) -> Iterator[tuple[int, str]]:
    """Every line that is not part of fenced code, with its position."""
    position = 0
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if not fence and mark:
            fence = mark[1]
        elif fence and mark and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
        elif not fence:
            yield position, line
        position += len(line)
