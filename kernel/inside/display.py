"""Text of a value for the model, bounded before it is built where that is possible."""

from __future__ import annotations

from typing import Any, Final

MOST_CHARACTERS: Final = 200_000
_WIDTH: Final = 100
_MOST_ITEMS: Final = 1_000


class _FullError(Exception):
    """The display has reached its length."""


class _Bounded:
    """A text stream that stops its writer once it is full."""

    def __init__(self, limit: int) -> None:
        self._room = limit
        self._pieces: list[str] = []

    def write(self, text: str) -> None:
        self._pieces.append(text[: self._room])
        self._room -= len(text)
        if self._room <= 0:
            raise _FullError

    def getvalue(self) -> str:
        return "".join(self._pieces)


def show(value: Any, limit: int = MOST_CHARACTERS) -> str:
    """IPython's pretty text of a value, of at most about ``limit`` characters.

    Containers show their first 1,000 items. Errors of the value's own ``__repr__`` pass.
    """
    if isinstance(value, (str, bytes)) and len(value) > limit:
        return f"{value[:limit]!r}... (length {len(value):,})"
    from IPython.lib.pretty import RepresentationPrinter

    stream = _Bounded(limit)
    printer: Any = RepresentationPrinter(  # type: ignore[no-untyped-call]
        stream, max_width=_WIDTH, max_seq_length=_MOST_ITEMS
    )
    try:
        printer.pretty(value)
        printer.flush()
    except _FullError:
        return f"{stream.getvalue()}\n... (the display stops here: print parts of the value)"
    return stream.getvalue()
