"""What can go wrong with a graph: one small tree.

Two branches matter to a caller. ``CallError`` is the model's doing: the message is shown to the
model and says what to do next. ``BackendError`` is the graph's doing: nothing the model writes can
mend it. ``GraphSetupError`` is for the person who started the program: one line, exit code 2.
"""

from __future__ import annotations


class GraphError(Exception):
    """Root of every error this package raises."""


class CallError(GraphError):
    """A graph call that cannot be answered as asked; the message teaches the caller."""


class InvalidIdentifier(CallError):
    """An identifier with the wrong syntax (``Q42`` and ``P31`` are right)."""


class InvalidArgument(CallError):
    """An argument of the wrong type or outside its range."""


class NotInGraph(CallError):
    """A well-formed identifier that this graph does not hold."""


class UnseenIdentifier(CallError):
    """An identifier that neither the question nor an earlier result of this run contains."""


class BudgetExceeded(CallError):
    """The run's graph-call budget is used up."""


class BackendError(GraphError):
    """The graph itself failed; the model cannot mend it."""


class BackendDown(BackendError):
    """The endpoint or store cannot be reached."""


class QueryTimeout(BackendError):
    """The graph gave up on a query, or the client's deadline passed."""


class QueryTooLarge(BackendError):
    """The graph ran out of memory for a query; never retried at once."""


class QuerySyntax(BackendError):
    """The graph refused the query text: a fault of ours or an endpoint of another dialect."""


class RateLimited(BackendError):
    """The endpoint asks its callers to slow down."""


class GraphSetupError(GraphError):
    """A graph that cannot be opened or built; the message is one line for a person."""
