"""Where the next page of a result starts."""

from __future__ import annotations


def next_offset(offset: int, count: int, total: int) -> int | None:
    """The offset of the next page, or None at the end.

    Args:
        offset: of this page.
        count: entries on this page.
        total: entries in all.
    """
    end = offset + count
    return end if count and end < total else None
