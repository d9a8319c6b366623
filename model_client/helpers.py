"""Helper calls: a model reads supplied evidence and answers one instruction about it."""

from __future__ import annotations

import time

from model_client.errors import ModelError
from model_client.types import Message, ModelClient, ModelReply, SubCall

HELPER_INSTRUCTION = """\
You are given one instruction and one text. Carry out the instruction on the text.
Use what stands in the text and nothing else: add no fact, name or identifier from memory.
If the text does not hold what is asked for, answer: not stated
Answer with the result alone, in the form that the instruction asks for, without introduction.\
"""


def run_subcall(client: ModelClient, text: str, instruction: str) -> SubCall:
    """Make one helper call, without history and without access to the graph.

    A failure is recorded in ``error`` and leaves ``reply`` None; it is never text that could be
    taken for an answer. An empty reply and one cut by its length are failures too.

    Args:
        client: the model that answers.
        text: the evidence.
        instruction: what to do with it.
    """
    messages = [
        Message(role="system", content=HELPER_INSTRUCTION),
        Message(role="user", content=f"{instruction}\n\n<text>\n{text}\n</text>"),
    ]
    started = time.monotonic()
    try:
        reply = client.complete(messages)
    except ModelError as error:
        return SubCall(
            instruction=instruction,
            text=text,
            reply=None,
            error=str(error),
            cost=0.0,  # nothing was answered, so nothing is charged
            seconds=time.monotonic() - started,
        )
    problem = _problem_with(reply)
    return SubCall(
        instruction=instruction,
        text=text,
        reply=None if problem else reply.text,
        error=problem,
        usage=reply.usage,
        cost=reply.cost,
        seconds=reply.seconds,
    )


def _problem_with(reply: ModelReply) -> str | None:
    if reply.finish_reason == "length":
        return "the helper's reply was cut at its length limit; ask for less, or give less text"
    if not reply.text.strip():
        return "the helper's reply was empty"
    return None
