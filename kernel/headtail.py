"""Long text cut to its head and its tail, with an exact count of what is left out."""

from __future__ import annotations

from collections import deque


class HeadTail:
    """Takes text piece by piece and keeps its first and its last characters.

    Text up to ``limit`` characters is kept whole. Of longer text the first half of the limit and
    the last half are kept, however much came in between.

    Args:
        limit: how many characters to keep.
        hint: where the reader finds the rest, for the marker between head and tail.
    """

    def __init__(self, limit: int, hint: str = "") -> None:
        self.total = 0
        self._hint = hint
        self._head_room = limit - limit // 2
        self._tail_limit = limit // 2
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._tail_size = 0

    def add(self, text: str) -> None:
        """Append a piece."""
        self.total += len(text)
        if self._head_room:
            head = text[: self._head_room]
            self._head.append(head)
            self._head_room -= len(head)
            text = text[len(head) :]
        if not text or not self._tail_limit:
            return
        if len(text) > self._tail_limit:
            text = text[-self._tail_limit :]
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail_size - len(self._tail[0]) >= self._tail_limit:
            self._tail_size -= len(self._tail.popleft())

    @property
    def tail(self) -> str:
        """The last characters, at most half the limit; empty while everything is in the head."""
        return "".join(self._tail)[-self._tail_limit :] if self._tail else ""

    @property
    def omitted(self) -> int:
        """How many characters ``text`` leaves out."""
        return self.total - sum(map(len, self._head)) - len(self.tail)

    @property
    def text(self) -> str:
        """Head and tail, with one line between them that counts what is left out."""
        head = "".join(self._head)
        if not self.omitted:
            return head + self.tail
        return f"{head}\n{marker(self.omitted, self._hint)}\n{self.tail}"


def marker(omitted: int, hint: str = "") -> str:
    """The line that stands for text left out."""
    return f"[... {omitted:,} characters left out{'; ' + hint if hint else ''} ...]"


def shorten(text: str, limit: int, hint: str = "") -> str:
    """Cut one text to its head and tail; the marker comes on top of ``limit``."""
    cut = HeadTail(limit, hint)
    cut.add(text)
    return cut.text
