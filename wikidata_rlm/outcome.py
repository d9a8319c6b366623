"""How a run ended, for a person or a script: the answer, its statements, where the trace lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson
from rich.table import Table
from rich.text import Text

from kg_functions.errors import CallError, GraphError
from kg_functions.rendering import entity_url, named, printable, value_text
from questions.answers import (
    CountAnswer,
    GroupAnswer,
    IdentityAnswer,
    QuantityAnswer,
    TextAnswer,
    YearAnswer,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console

    from kg_functions.graph import Graph
    from questions.answers import Answer
    from traces.evidence import Evidence
    from traces.records import Trace
    from traces.seen import EvidenceStatement

SHOWN_STATEMENTS: Final = 12
SHOWN_LINKS: Final = 10


@dataclass(frozen=True)
class Outcome:
    """What is shown at the end of a run.

    Attributes:
        trace: the run.
        evidence: the statements behind the answer, with their ids.
        labels: labels of the ids in the answer.
        folder: the run's folder.
    """

    trace: Trace
    evidence: Evidence
    labels: dict[str, str | None]
    folder: Path

    @classmethod
    def gather(cls, trace: Trace, evidence: Evidence, graph: Graph, folder: Path) -> Outcome:
        """Look up what the run itself did not need: labels, and statement ids of links."""
        ids = _answer_ids(trace.answer)
        try:
            labels = {key: _text_or_none(value) for key, value in graph.name(ids).items()}
            evidence = evidence.model_copy(
                update={"statements": _with_ids(evidence.statements[:SHOWN_STATEMENTS], graph)}
            )
        except GraphError:
            # The answer stands without them; an endpoint may be gone by now.
            labels = dict.fromkeys(ids)
        return cls(trace, evidence, labels, folder)


def _answer_ids(answer: Answer | None) -> list[str]:
    match answer:
        case IdentityAnswer():
            return [answer.id]
        case GroupAnswer():
            return list(answer.ids)
        case QuantityAnswer() if answer.unit is not None:
            return [answer.unit]
        case _:
            return []


def _linked(answer: Answer | None) -> list[str]:
    """The ids that the answer consists of; a unit is none of them."""
    return [] if isinstance(answer, QuantityAnswer) else _answer_ids(answer)


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _with_ids(
    statements: Sequence[EvidenceStatement], graph: Graph
) -> tuple[EvidenceStatement, ...]:
    """Links that ``edges`` returned, with the statement behind them."""
    completed = []
    for statement in statements:
        if statement.statement is None:
            found = graph.claims([statement.subject], property=statement.property, limit=1000)
            record = found[statement.subject]
            if not isinstance(record, CallError):
                statement = _match(statement, record["statements"])
        completed.append(statement)
    return tuple(completed)


def _match(statement: EvidenceStatement, records: list[dict[str, Any]]) -> EvidenceStatement:
    for record in records:
        if record["value"].get("id") == statement.value.get("id"):
            found = {"statement": record["id"], "rank": record["rank"]}
            return statement.model_copy(update={**found, "qualifiers": tuple(record["qualifiers"])})
    return statement


def outcome_json(outcome: Outcome) -> str:
    """The outcome as one JSON object, for scripts."""
    trace = outcome.trace
    judgement = trace.judgement
    return orjson.dumps(
        {
            "question": trace.header.question.text,
            "answer": trace.answer.model_dump() if trace.answer else None,
            "text": answer_text(trace.answer, outcome.labels) if trace.answer else None,
            "links": [entity_url(one) for one in _linked(trace.answer)],
            "correct": judgement.score.correct if judgement else None,
            "stop_reason": trace.stop_reason,
            "stop_detail": trace.stop_detail,
            "statements": [s.model_dump() for s in outcome.evidence.statements],
            "complete_chain": outcome.evidence.complete,
            "totals": trace.totals().model_dump(),
            "seconds": round(trace.seconds, 3),
            "run": str(outcome.folder),
        },
        option=orjson.OPT_INDENT_2,
    ).decode()


def answer_text(answer: Answer, labels: dict[str, str | None]) -> str:
    """The answer as a person reads it."""
    match answer:
        case IdentityAnswer():
            return named(answer.id, labels.get(answer.id))
        case GroupAnswer():
            return "; ".join(named(one, labels.get(one)) for one in answer.ids)
        case YearAnswer():
            return str(answer.year) if answer.year > 0 else f"{-answer.year} BCE"
        case QuantityAnswer():
            unit = labels.get(answer.unit) or answer.unit if answer.unit else ""
            return f"{answer.amount} {unit}".strip()
        case CountAnswer():
            return str(answer.count)
        case TextAnswer():
            return printable(answer.text)


def show_outcome(console: Console, outcome: Outcome) -> None:
    """Print how the run ended."""
    trace = outcome.trace
    console.rule(style="dim")
    if trace.answer is None:
        detail = f": {trace.stop_detail}" if trace.stop_detail else ""
        console.print(Text(f"No answer ({trace.stop_reason}{detail})", style="bold red"))
    else:
        text = answer_text(trace.answer, outcome.labels)
        console.print(Text("Answer: ", style="bold").append(text, style="bold green"))
        for one in _linked(trace.answer)[:SHOWN_LINKS]:
            console.print(Text(f"        {entity_url(one)}", style="dim"), soft_wrap=True)
        _show_judgement(console, trace)
        _show_statements(console, outcome.evidence)
    _show_totals(console, trace)
    console.print(Text(f"Trace:  {outcome.folder}/trace.json"), soft_wrap=True)


def _show_judgement(console: Console, trace: Trace) -> None:
    if trace.judgement is not None:
        right = trace.judgement.score.correct
        text = "it is the expected answer" if right else "it is not the expected answer"
        console.print(Text(f"        ({text})", style="green" if right else "red"))


def _show_statements(console: Console, evidence: Evidence) -> None:
    if not evidence.statements:
        console.print(Text("No statement that the run saw supports it.", style="yellow"))
        return
    console.print(Text("It rests on these statements, which the run saw:"))
    table = Table(box=None, pad_edge=False, show_header=False)
    for statement in evidence.statements:
        table.add_row(
            Text("  " + named(statement.subject, statement.subject_label)),
            Text(statement.property_label or statement.property, style="cyan"),
            Text(value_text(statement.value) + _qualifiers(statement)),
            Text(statement.statement or "", style="dim", overflow="fold"),
        )
    console.print(table)
    if not evidence.complete:
        console.print(
            Text("  (the run did not see a complete chain from the question to it)", style="dim")
        )


def _qualifiers(statement: EvidenceStatement) -> str:
    shown = [
        f"{q['property_label'] or q['property']}: {value_text(q['value'])}"
        for q in statement.qualifiers
    ]
    return f" [{'; '.join(shown)}]" if shown else ""


def _show_totals(console: Console, trace: Trace) -> None:
    totals = trace.totals()
    cost = "cost unknown" if totals.cost is None else f"${totals.cost:.4f}"
    tokens = totals.usage.input + totals.usage.output
    parts = [
        f"{totals.turns} turns",
        f"{totals.graph_calls} graph calls ({totals.repeats} repeats)",
        f"{totals.sub_calls} helper calls",
        f"{tokens:,} tokens",
        cost,
        f"{trace.seconds:.1f} s",
    ]
    console.print(Text("Run:    " + ", ".join(parts), style="dim"))
