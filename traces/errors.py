"""What can go wrong with a trace."""

from __future__ import annotations


class TraceError(Exception):
    """A run folder that cannot be written or read; the message is one line for a person."""
