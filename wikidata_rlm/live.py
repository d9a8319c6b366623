"""Shows a run in the terminal while it goes on, from the events that are recorded."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

from kg_functions.rendering import printable
from model_client.thoughts import split_thoughts
from model_client.types import add_costs
from traces.events import (
    AnswerAccepted,
    CellFinished,
    CellStarted,
    GraphCalled,
    ModelReplied,
    RunStarted,
    SubCalled,
    TurnEnded,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from model_client.types import ModelReply
    from traces.events import Event

SHOWN_LINES: Final = 12
"""Lines of an output that are shown; the trace has all of it."""

SHOWN_CHARACTERS: Final = 1_000
"""Characters of a line that are shown."""

SHOWN_CODE_LINES: Final = 16
"""Lines of a block that are shown."""


class LiveView:
    """Prints each event of a run as it comes.

    Args:
        console: where to print.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = threading.Lock()
        self._waiting: Status | None = None
        self._graph_calls = 0
        self._sub_calls = 0
        self._cost: float | None = 0.0

    def __call__(self, event: Event) -> None:
        """Show one event; may be called from several threads."""
        with self._lock:
            self._wait_for(None)
            self._show(event)
            if isinstance(event, (RunStarted, TurnEnded)):
                self._wait_for("the model is replying")
            elif isinstance(event, (CellStarted, SubCalled)):
                self._wait_for("the block is running")

    def _wait_for(self, what: str | None) -> None:
        """Say what is being waited for; on a terminal only, and gone with the next event."""
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        if what is not None and self._console.is_interactive:
            self._waiting = self._console.status(what)
            self._waiting.start()

    def _show(self, event: Event) -> None:
        match event:
            case RunStarted():
                header = event.header
                self._console.print(Text(header.question.text, style="bold"))
                solver = header.model.settings.get("solver")
                model = f"{header.model.name} ({solver})" if solver else header.model.name
                self._dim(
                    f"{header.interface} · {model} · graph: {header.graph.source} · "
                    f"confinement: {header.confinement}"
                )
            case ModelReplied():
                self._reply(event.turn, event.reply)
            case CellStarted():
                self._code(event.code)
            case CellFinished():
                self._output(event)
            case GraphCalled():
                self._graph_calls += len(event.calls)
                repeats = sum(call.repeat for call in event.calls)
                note = f", {repeats} repeats" if repeats else ""
                self._dim(f"{len(event.calls)} graph calls{note} ({self._graph_calls} in all)")
            case SubCalled():
                self._sub_calls += 1
                self._add_cost(event.call.cost)
            case AnswerAccepted():
                answer = str(event.answer.model_dump(exclude={"kind"}))
                self._dim(f"answer handed in: {_shorten(printable(answer), 1)}")
            case _:
                pass

    def _reply(self, turn: int, reply: ModelReply) -> None:
        self._add_cost(reply.cost)
        cost = "cost unknown" if self._cost is None else f"${self._cost:.4f}"
        self._console.rule(
            f"turn {turn} · {reply.seconds:.1f} s · {cost}", align="left", style="dim"
        )
        if reply.reasoning:
            self._dim(f"reasoning: {len(reply.reasoning):,} characters, kept in the trace")
        prose = split_thoughts(reply.text)[1].split("```", 1)[0].strip()
        if prose:
            self._console.print(Text(_shorten(printable(prose), SHOWN_LINES)))

    def _code(self, code: str) -> None:
        shown = _shorten(printable(code.strip()), SHOWN_CODE_LINES, "# ")
        syntax = Syntax(shown, "python", word_wrap=True, background_color="default")
        self._console.print(Panel(syntax, border_style="blue", expand=False))

    def _output(self, event: CellFinished) -> None:
        text = event.output.rstrip()
        if not text:
            return
        style = "red" if event.status != "ok" else "default"
        self._console.print(Text(_shorten(printable(text), SHOWN_LINES), style=style))

    def _dim(self, text: str) -> None:
        self._console.print(Text(text, style="dim"))

    def _add_cost(self, cost: float | None) -> None:
        self._cost = add_costs(self._cost, cost)


def _shorten(text: str, limit: int, mark: str = "") -> str:
    """The first and last lines of a text, with a count of what lies between."""
    lines = [_cut(line) for line in text.splitlines()]
    left_out = len(lines) - limit
    if left_out <= 1:
        return "\n".join(lines)
    half = limit // 2
    return "\n".join(
        [*lines[:half], f"{mark}... {left_out} lines left out here ...", *lines[-half:]]
    )


def _cut(line: str) -> str:
    left_out = len(line) - SHOWN_CHARACTERS
    return line if left_out <= 0 else f"{line[:SHOWN_CHARACTERS]} ... {left_out:,} characters more"
