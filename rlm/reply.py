"""Finds the Python block in a model's reply.

A reply may hold prose, several blocks, fences inside strings, or no closing fence at all. The
first Python block is the one that counts; nothing outside it is ever executed.
"""

from __future__ import annotations

import ast
import itertools
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from model_client.thoughts import split_thoughts

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPEN: Final = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<tag>[^`\s]*)[^`\n]*")
_PYTHON_TAGS: Final = frozenset({"", "python", "py", "python3", "repl", "ipython"})
_CANDIDATES: Final = 20  # closing fences tried for one block; strings hold a handful at most


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
    """Extract the block to execute from a reply's text.

    A block without a tag counts only where it is Python, so that an output which a model imagines
    in a fence of its own is not executed; where nothing else is there, it counts all the same.
    """
    _, said = split_thoughts(text)
    # Not splitlines(): a form feed or U+2028 inside a string is no end of a line of code.
    blocks = list(_python_blocks(said.replace("\r\n", "\n").split("\n")))
    for position, block in enumerate(blocks):
        if block.tagged or _parses(block.code):
            return ParsedReply(block.code, position + 1 < len(blocks), block.closed)
    if not blocks:
        return ParsedReply(None)
    return ParsedReply(blocks[0].code, len(blocks) > 1, blocks[0].closed)


class _Block(NamedTuple):
    code: str
    tagged: bool
    closed: bool


def _python_blocks(lines: list[str]) -> Iterator[_Block]:
    """The fenced blocks that may be Python, in order."""
    position = 0
    while position < len(lines):
        opening = _OPEN.fullmatch(lines[position])
        if opening is None:
            position += 1
            continue
        end = _closing_line(lines, position, opening["fence"])
        tag = opening["tag"].lower()
        code = _dedent(lines[position + 1 : end], lines[position])
        if tag in _PYTHON_TAGS and code.strip():
            yield _Block(code, bool(tag), end < len(lines))
        position = end + 1


def _closing_line(lines: list[str], start: int, fence: str) -> int:
    """The line that closes the block opened at ``start``; ``len(lines)`` where none does.

    A line of backticks inside a string looks like a closing fence. The code up to it does not
    parse then, so the first candidate up to which it does parse is taken; where no candidate
    makes sense the first one is, and the model will see its syntax error.
    """
    closing = re.compile(rf"[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*")
    candidates = (n for n in range(start + 1, len(lines)) if closing.fullmatch(lines[n]))
    first = None
    for candidate in itertools.islice(candidates, _CANDIDATES):
        if _parses(_dedent(lines[start + 1 : candidate], lines[start])):
            return candidate
        first = candidate if first is None else first
    return len(lines) if first is None else first


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
