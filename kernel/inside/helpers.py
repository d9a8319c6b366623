"""The functions the model calls: plain blocking Python over one ``call`` to the harness."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NoReturn

from kernel.inside.errors import (
    BY_NAME,
    AnswerRefused,
    GraphError,
    HarnessFault,
    InvalidArgument,
    LLMCallError,
    from_wire,
)
from kernel.wire import WireError, encode

Call = Callable[[str, dict[str, Any]], Any]
"""Asks the harness: method and parameters to result."""

_THREADS: Final = 8


def build(call: Call, hello: dict[str, Any], lookup: Callable[[str], Any]) -> dict[str, Any]:
    """Make everything that the model's namespace offers.

    Args:
        call: asks the harness.
        hello: ``{"functions": [{"name", "signature", "docstring", "parameters": [{"name",
            "default"?}]}], "methods": [...]}``; what a missing method needs is not made.
        lookup: value of a variable of the model's by name.

    Returns:
        Functions and error classes by name.
    """
    methods = set(hello["methods"])
    helpers: dict[str, Any] = dict(BY_NAME)
    if "graph" in methods:
        graph = {f["name"]: graph_function(call, f) for f in hello["functions"]}
        helpers.update(graph)
        helpers["graph_map"] = graph_map(call, graph, "graph_map" in methods)
    if "llm_query" in methods:
        helpers["llm_query"] = llm_query(call)
    if "llm_map" in methods:
        helpers["llm_map"] = llm_map(call)
    if "final" in methods:
        final = OneAnswer(call)
        helpers["FINAL"] = final_function(final)
        helpers["FINAL_VAR"] = final_var(final, lookup)
    return helpers


def graph_function(call: Call, declared: dict[str, Any]) -> Callable[..., Any]:
    """One graph function with the declared name, signature and docstring."""
    name = declared["name"]

    def function(*args: Any, **kwargs: Any) -> Any:
        return _graph_call(call, "graph", {"function": name, "args": args, "kwargs": kwargs})

    function.__name__ = function.__qualname__ = name
    function.__doc__ = declared["docstring"]
    function.__module__ = "graph"
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                parameter["name"],
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=parameter.get("default", inspect.Parameter.empty),
            )
            for parameter in declared["parameters"]
        ]
    )
    return function


def graph_map(
    call: Call, functions: dict[str, Callable[..., Any]], at_once: bool
) -> Callable[..., list[Any]]:
    """``graph_map`` over the given graph functions.

    Args:
        call: asks the harness.
        functions: the graph functions by name.
        at_once: whether the harness takes a whole batch as method ``graph_map``.
    """

    def graph_map(function: Any, items: Iterable[Any], **kwargs: Any) -> list[Any]:
        """Call a graph function once for each item, concurrently.

        Args:
            function: a graph function, e.g. `claims`.
            items: one call each: a tuple gives positional arguments, a dict keyword arguments,
                anything else is the first argument.
            **kwargs: arguments that all calls share.

        Returns:
            Results in the order of the items; a call that failed has its error object as value.
        """
        name = function if isinstance(function, str) else getattr(function, "__name__", "")
        if name not in functions:
            raise InvalidArgument(f"graph_map needs a graph function: {', '.join(functions)}")
        calls = [_arguments(item, kwargs) for item in _listed(items, "graph_map")]
        if at_once:
            replies = _graph_call(call, "graph_map", {"function": name, "calls": calls})
            return [from_wire(r["error"]) if "error" in r else r["result"] for r in replies]
        return _in_threads(functions[name], calls)

    return graph_map


def llm_query(call: Call) -> Callable[[str, str], str]:
    """``llm_query`` over the harness."""

    def llm_query(text: str, instruction: str) -> str:
        """Ask a helper model to interpret one piece of text.

        Args:
            text: the evidence; the helper sees nothing else, neither graph nor history.
            instruction: what to do with it.

        Returns:
            The helper's reply. Raises LLMCallError where there is none.
        """
        _need_text("llm_query", text=text, instruction=instruction)
        reply = call("llm_query", {"text": text, "instruction": instruction})
        answer = _helper_reply(reply)
        if isinstance(answer, LLMCallError):
            raise answer
        return str(answer)

    return llm_query


def llm_map(call: Call) -> Callable[[Iterable[str], str], list[str | LLMCallError]]:
    """``llm_map`` over the harness."""

    def llm_map(items: Iterable[str], instruction: str) -> list[str | LLMCallError]:
        """Ask a helper model about many pieces of text, concurrently.

        Args:
            items: the texts; each counts as one helper call.
            instruction: what to do with each.

        Returns:
            Replies in the order of the items; where a call failed, an LLMCallError object, which
            is falsy and prints its reason.
        """
        texts = _listed(items, "llm_map")
        for i, text in enumerate(texts):
            _need_text("llm_map", **{f"items[{i}]": text})
        _need_text("llm_map", instruction=instruction)
        replies = call("llm_map", {"items": texts, "instruction": instruction})
        return [_helper_reply(reply) for reply in replies]

    return llm_map


class OneAnswer:
    """The one answer of a run."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._accepted = False

    def offer(self, value: Any) -> None:
        """Give the answer to the harness, once."""
        if self._accepted:
            print("An answer was accepted already; this one changes nothing.")
            return
        try:
            encode(value, "the answer")
        except WireError as error:
            raise AnswerRefused(str(error)) from None
        self._call("final", {"value": value})
        self._accepted = True
        print("Answer accepted.")


def final_function(final: OneAnswer) -> Callable[[Any], None]:
    """``FINAL`` for a run."""

    def FINAL(value: Any) -> None:  # noqa: N802
        """Give the final answer and end the run.

        Args:
            value: the answer in the asked format. Raises AnswerRefused, with the reason, where
                it does not fit; the run then goes on.
        """
        final.offer(value)

    return FINAL


def final_var(final: OneAnswer, lookup: Callable[[str], Any]) -> Callable[[Any], None]:
    """``FINAL_VAR`` for a run."""

    def FINAL_VAR(name_or_value: Any) -> None:  # noqa: N802
        """Give the value of a variable as the final answer.

        Args:
            name_or_value: the variable's name as a string, or a value that is no string.
        """
        is_name = isinstance(name_or_value, str)
        final.offer(lookup(name_or_value) if is_name else name_or_value)

    return FINAL_VAR


def leave(*args: Any) -> NoReturn:
    """``exit`` and ``quit``: the kernel is not the model's to end."""
    raise SystemExit("exit() ends this block, not the run; FINAL(value) ends the run")


def no_input(*args: Any, **kwargs: Any) -> NoReturn:
    """``input``: there is nobody to answer."""
    raise EOFError("nobody can answer input() here: use the functions and variables you have")


def _graph_call(call: Call, method: str, params: dict[str, Any]) -> Any:
    try:
        return call(method, params)
    except WireError as error:
        raise InvalidArgument(_blame(params, error)) from None


def _blame(params: dict[str, Any], error: WireError) -> str:
    """The error as the caller knows the arguments, without our envelope around them."""
    for name, value in params.items():
        try:
            encode(value, name)
        except WireError as named:
            return str(named)
    return str(error)


def _arguments(item: Any, shared: dict[str, Any]) -> dict[str, Any]:
    if isinstance(item, dict):
        return {"args": [], "kwargs": {**shared, **item}}
    args = list(item) if isinstance(item, tuple) else [item]
    return {"args": args, "kwargs": shared}


def _in_threads(function: Callable[..., Any], calls: list[dict[str, Any]]) -> list[Any]:
    pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="graph_map")
    try:
        futures = [pool.submit(_result_or_error, function, c) for c in calls]
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # an interrupt must not wait for calls


def _result_or_error(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    try:
        return function(*arguments["args"], **arguments["kwargs"])
    except (GraphError, HarnessFault) as error:
        return error


def _helper_reply(reply: Any) -> Any:
    """A reply as text, or an LLMCallError object for ``{"error"}``."""
    if isinstance(reply, str):
        return reply
    if "error" in reply:
        return LLMCallError(str(reply["error"]))
    return reply["reply"]


def _listed(items: Any, where: str) -> list[Any]:
    if isinstance(items, (set, frozenset)):
        raise InvalidArgument(f"{where}: items is a set, which has no order: use sorted(...)")
    if isinstance(items, (str, bytes, dict)) or not isinstance(items, Iterable):
        raise InvalidArgument(f"{where}: items must be a list, not {type(items).__name__}")
    return list(items)


def _need_text(function: str, **arguments: Any) -> None:
    for name, value in arguments.items():
        if not isinstance(value, str):
            raise TypeError(
                f"{function}: {name} must be a str, not {type(value).__name__}: "
                "use str(...) or json.dumps(...)"
            )
