"""The documentation page of the graph functions, made from the registry.

``python -m kg_functions.reference_page > docs/functions.md`` writes it; a test holds the two equal.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kg_functions.registry import FUNCTIONS

if TYPE_CHECKING:
    from kg_functions.registry import GraphFunction

_INTRODUCTION = """\
# The graph functions

This page is made from the registry that also feeds the Python session, the prompt and the command
line. Each function whose first argument is an id also takes a list of ids: the result is then a
dict keyed by id, answered with a few queries, and an id that fails has `{"error": "..."}` as its
value. Every id counts as one graph call. An id that was merged into another answers as its target.

From the shell: `wikidata-rlm graph call FUNCTION ARGUMENTS --graph GRAPH`.
"""


def render() -> str:
    """The page as Markdown."""
    return "\n".join([_INTRODUCTION, *(_section(f) for f in FUNCTIONS.values())])


def _section(function: GraphFunction) -> str:
    return f"## {function.name}\n\n```python\n{function.signature}\n```\n\n{_body(function)}\n"


def _body(function: GraphFunction) -> str:
    """The docstring; its argument and result parts as they stand, in a plain block."""
    prose, separator, rest = function.docstring.partition("\nArgs:")
    if not separator:
        return prose
    return f"{prose.rstrip()}\n\n```text\nArgs:{rest}\n```"


if __name__ == "__main__":
    sys.stdout.write(render())
