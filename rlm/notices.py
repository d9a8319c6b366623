"""What a model is told between its turns, one text a case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kernel.interpreter import CellResult

EMPTY_REPLY: Final = (
    "Your reply was empty. Reply with one Python block, fenced with ```python and ```; "
    "hand in the answer with FINAL(value) inside such a block."
)
NO_CODE: Final = (
    "Your reply held no Python block, so nothing was executed. Reply with one block, fenced with "
    "```python and ```. Words are not read as an answer: call FINAL(value) inside the block."
)
CUT_REPLY: Final = (
    "Your reply was cut off at the model's output limit, so nothing was executed. Think more "
    "briefly and reply with one short Python block, fenced with ```python and ```."
)
MORE_BLOCKS: Final = (
    "Note: your reply held more than one Python block. Only the first was executed; the others "
    "were not. Write one block a reply."
)
NO_OUTPUT: Final = "(no output)"


def shown_after_cell(result: CellResult, *, turn: int, turns: int, more_blocks: bool) -> str:
    """The message after an executed block: its output and whatever else there is to say."""
    parts = [f"Output of turn {turn} (of at most {turns}):", result.output or NO_OUTPUT]
    if result.notice:
        parts.append(f"Note: {result.notice}")
    if more_blocks:
        parts.append(MORE_BLOCKS)
    return "\n".join(parts)
