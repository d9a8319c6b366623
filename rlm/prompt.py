"""The text that a model is given: the rules of the REPL, the functions, the limits, the format."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING, Final

from kg_functions.registry import FUNCTIONS
from model_client.types import Message
from questions.answers import describe_format
from questions.instructions import instruction_text

if TYPE_CHECKING:
    from questions.question import PublicQuestion
    from traces.records import Limits

RULES: Final = Template("""\
You answer a question by exploring a knowledge graph from Python.

$instruction

How you work
- Each reply holds one Python block, fenced with ```python and ```. It runs in a lasting IPython
  session, and you are shown what it prints. Then you write the next block.
- Only the first block of a reply is executed, and only after that do you see its output: never
  write down results that you have not seen.
- Results are plain dicts and lists. Keep them in variables, filter and count them in code, and
  print short summaries. At most $characters characters of an output are shown; the whole of the
  latest output is in the variable `last_output`.
- Use what you already have before you ask the graph again.
- Take identifiers (Q42, P31) from results of this run or from the question. Do not recall or make
  up identifiers or facts: an identifier that the run has not seen is refused.
- Functions whose first argument is an id also take a list of ids and then return a dict by id, in
  which an id that failed has {"error": "..."}. Lists are much faster than loops; each id counts as
  one graph call.
- graph_map(function, items, **arguments) calls a function for many items at once, for argument
  shapes that a list of ids does not cover.
- Links run both ways: edges(..., direction="in") finds what points to an entity. Dates, amounts
  and qualifiers are in claims.
$helpers\
- When you know the answer, hand it in from code with FINAL(value) or FINAL_VAR("variable_name").
  A value that does not fit the answer format is refused with the reason, and you go on; the first
  accepted answer ends the run.

Limits: $turns turns$sub_calls$graph_calls; a block may run for $seconds seconds.

The answer: $format

Functions
$functions""")

HELPERS: Final = """\
- llm_query(text, instruction) -> str lets a helper model read a text that you give it, and
  llm_map(items, instruction) -> list of str does so for many texts at once, in order. Helpers see
  nothing else and cannot reach the graph. Use them only to interpret evidence that you found, in
  batches, and check in code what they return. A failed item of llm_map is falsy.
"""


def opening_messages(question: PublicQuestion, limits: Limits) -> tuple[Message, ...]:
    """The conversation before the first reply: the system prompt and the question."""
    text = RULES.substitute(
        instruction=instruction_text(question.instruction),
        characters=f"{limits.output_characters:,}",
        helpers=HELPERS if limits.sub_calls else "",
        turns=limits.turns,
        sub_calls=f", {limits.sub_calls} helper calls" if limits.sub_calls else "",
        graph_calls=f", {limits.graph_calls} graph calls" if limits.graph_calls is not None else "",
        seconds=f"{limits.cell_seconds:g}",
        format=describe_format(question.answer_format),
        functions=functions_text(),
    )
    return (
        Message(role="system", content=text),
        Message(role="user", content=f"Question: {question.text}"),
    )


def functions_text() -> str:
    """Every graph function with its signature and docstring, as the prompt shows them."""
    return "\n\n".join(
        f"{function.signature}\n{_indent(function.docstring)}" for function in FUNCTIONS.values()
    )


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())
