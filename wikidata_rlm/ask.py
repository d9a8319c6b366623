"""``wikidata-rlm ask``: let a model answer one question, and watch it."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import typer

from wikidata_rlm.graph import GRAPH_HELP, LABELS_HELP


class AnswerKind(Enum):
    """What ``--answer`` takes."""

    text = "text"
    identity = "identity"
    year = "year"
    quantity = "quantity"
    group = "group"
    count = "count"


def ask(
    question: str = typer.Argument("", help="The question; not needed with --demo."),
    demo: bool = typer.Option(
        False, "--demo", help="Play a bundled question with the built-in solver: no key needed."
    ),
    pick: int | None = typer.Option(
        None, "--pick", min=1, help="With --demo: which of the bundled questions; default: 1."
    ),
    graph: str = typer.Option("demo", "--graph", help=GRAPH_HELP),
    labels: Path | None = typer.Option(None, "--labels", help=LABELS_HELP),
    model: str = typer.Option(
        "", "--model", help="A LiteLLM model name, local[:FILE.gguf], or reference."
    ),
    api_base: str = typer.Option("", "--api-base", help="An OpenAI-compatible server's address."),
    temperature: float | None = typer.Option(None, "--temperature", min=0.0),
    reasoning_effort: str = typer.Option("", "--reasoning-effort", help="low, medium, high, ..."),
    max_output_tokens: int | None = typer.Option(None, "--max-output-tokens", min=1),
    answer: AnswerKind | None = typer.Option(
        None, "--answer", help="What is asked for; default: text."
    ),
    out: Path | None = typer.Option(
        None, "--out", help="The run's folder; default: runs/<date>-ask."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the outcome as JSON."),
    no_sandbox: bool = typer.Option(
        False, "--no-sandbox", help="Run model-written code without confinement."
    ),
    turns: int = typer.Option(100, "--turns", min=1),
    sub_calls: int = typer.Option(80, "--sub-calls", min=0, help="0 leaves the helpers out."),
    output_characters: int = typer.Option(10_000, "--output-characters", min=200),
    cell_seconds: float = typer.Option(120.0, "--cell-seconds", min=0.1),
    max_seconds: float | None = typer.Option(None, "--max-seconds", min=0.1),
    max_cost: float | None = typer.Option(None, "--max-cost", min=0.0, help="US dollars."),
    graph_call_budget: int | None = typer.Option(None, "--graph-call-budget", min=0),
) -> None:
    """Answer a question by exploring a graph.

    Exit code 0 with an answer, 3 without one, 2 for bad input, 130 where it was interrupted.

    Examples: wikidata-rlm ask --demo;
    wikidata-rlm ask "Who founded the university of Göttingen?" --answer identity
    --model openai/gpt-6-luna
    """
    from traces.records import Limits
    from wikidata_rlm.asking import AskRequest, run_ask

    limits = Limits(
        turns=turns,
        sub_calls=sub_calls,
        output_characters=output_characters,
        cost=max_cost,
        seconds=max_seconds,
        graph_calls=graph_call_budget,
        cell_seconds=cell_seconds,
    )
    request = AskRequest(
        text=question,
        demo=demo,
        pick=pick,
        graph=graph,
        labels=labels,
        model=model,
        api_base=api_base or None,
        temperature=temperature,
        reasoning_effort=reasoning_effort or None,
        max_output_tokens=max_output_tokens,
        answer=answer.value if answer else None,
        out=out,
        no_sandbox=no_sandbox,
        limits=limits,
    )
    raise typer.Exit(run_ask(request, as_json=as_json))
