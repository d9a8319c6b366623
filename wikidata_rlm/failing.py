"""Which errors are a person's to mend: shown as one line, without a traceback, exit code 2."""

from __future__ import annotations


class UsageError(Exception):
    """Options that do not go together; the message is one line that says what to do."""


def expected_errors() -> tuple[type[Exception], ...]:
    """The error classes whose message is a line for a person."""
    from kernel.interpreter import KernelError
    from kg_functions.errors import GraphError
    from model_client.errors import ModelError
    from questions.errors import QuestionError
    from traces.errors import TraceError

    return (UsageError, KernelError, GraphError, ModelError, QuestionError, TraceError)
