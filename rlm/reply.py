"""Finds the Python block in a model's reply.

A reply may hold prose, several blocks, fences inside strings, or no closing fence at all. The
first Python block is the one that counts; nothing outside it is ever executed.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from typing import Final

_OPEN: Final = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<tag>[^`\s]*)[^`\n]*")
_PYTHON_TAGS: Final = frozenset({"", "python", "py", "python3", "repl", "ipython"})
_THOUGHT: Final = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_UNCLOSED_THOUGHT: Final = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class ParsedReply:
    """What a reply holds.

    Attributes:
        code: the first Python block, or None.
        more: whether another Python block follows it.
        closed: whether the block's closing fence is there.
    """

    code: str | None
    more: bool = False
    closed: bool = True


def parse_reply(text: str) -> ParsedReply:
    """Extract the block to execute from a reply's text."""
    # Not splitlines(): a form feed or U+2028 inside a string is no end of a line of code.
    lines = strip_thoughts(text).replace("\r\n", "\n").split("\n")
    position = 0
    while position < len(lines):
        opening = _OPEN.fullmatch(lines[position])
        if opening is None:
            position += 1
            continue
        end = _closing_line(lines, position, opening["fence"])
        if opening["tag"].lower() in _PYTHON_TAGS:
            code = _dedent(lines[position + 1 : end], lines[position])
            if code.strip():
                more = parse_reply("\n".join(lines[end + 1 :])).code is not None
                return ParsedReply(code, more=more, closed=end < len(lines))
        position = end + 1
    return ParsedReply(None)


def strip_thoughts(text: str) -> str:
    """The text without ``<think>`` passages, also where the opening tag was lost."""
    text = _THOUGHT.sub("", text)
    return _UNCLOSED_THOUGHT.sub("", text)


def _closing_line(lines: list[str], start: int, fence: str) -> int:
    """The line that closes the block opened at ``start``; ``len(lines)`` where none does.

    A line of backticks inside a string looks like a closing fence. The code up to it does not
    parse then, so the first candidate up to which it does parse is taken; where no candidate
    makes sense the first one is, and the model will see its syntax error.
    """
    closing = re.compile(rf"[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*")
    candidates = [n for n in range(start + 1, len(lines)) if closing.fullmatch(lines[n])]
    for candidate in candidates:
        if _parses(_dedent(lines[start + 1 : candidate], lines[start])):
            return candidate
    return candidates[0] if candidates else len(lines)


def _dedent(lines: list[str], opening: str) -> str:
    """The block's text, without the indentation that its opening fence has (list items)."""
    indent = opening[: len(opening) - len(opening.lstrip())]
    if indent and all(line.startswith(indent) or not line.strip() for line in lines):
        lines = [line[len(indent) :] for line in lines]
    return "\n".join(lines)


def _parses(code: str) -> bool:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with warnings.catch_warnings():
        # A doubtful escape in a model's string is no news for the person at the terminal.
        warnings.simplefilter("ignore")
        try:
            compile(code, "<reply>", "exec", flags=flags)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True
