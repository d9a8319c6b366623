"""One question from the command line: opens what it needs, plays it, shows how it ended."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kernel.confinement.choose import best_launcher
from kernel.ipython_kernel import IPythonInterpreter
from kg_functions.guard import Guard
from kg_functions.opening import open_graph
from kg_functions.results import read_results
from kg_functions.session import GraphSession
from model_client.opening import open_model
from questions.demo import demo_questions
from questions.formats import read_format
from questions.question import PublicQuestion, Question
from questions.reference import ReferenceModel
from questions.scoring import score
from rlm.loop import solve
from traces.evidence import find_evidence
from traces.recorder import RESULTS_FILE, Recorder, attach_judgement
from traces.records import Judgement
from wikidata_rlm.console import Terminal
from wikidata_rlm.failing import UsageError
from wikidata_rlm.live import LiveView
from wikidata_rlm.outcome import Outcome, outcome_json, show_outcome

if TYPE_CHECKING:
    from rich.console import Console

    from kernel.launcher import Launcher
    from kg_functions.graph import Graph
    from model_client.types import ModelClient
    from traces.records import Limits, Trace


@dataclass(frozen=True)
class AskRequest:
    """What ``ask`` was asked to do; the fields are the command's options."""

    text: str
    demo: bool
    pick: int | None
    graph: str
    labels: Path | None
    model: str
    api_base: str | None
    temperature: float | None
    reasoning_effort: str | None
    max_output_tokens: int | None
    answer: str | None
    out: Path | None
    no_sandbox: bool
    limits: Limits


ANSWERED, NO_ANSWER, INTERRUPTED = 0, 3, 130


def run_ask(request: AskRequest, *, as_json: bool, console: Console | None = None) -> int:
    """Play one question and show it.

    Args:
        request: what to do.
        as_json: print the outcome as JSON on stdout, and the live view on stderr.
        console: where the live view goes, if not to the terminal.

    Returns:
        The exit code: 0 with an answer, 3 without one, 130 where the run was interrupted.

    Raises:
        UsageError, GraphError, ModelError, QuestionError, TraceError: one line for a person.
    """
    console = console or Terminal(stderr=as_json)
    question = _question(request)
    launcher = best_launcher(no_sandbox=request.no_sandbox)
    with contextlib.ExitStack() as opened:
        model = _model(request, question, opened)
        _check_price(request, model)
        graph = open_graph(
            request.graph,
            labels=request.labels,
            notice=lambda text: console.print(text, style="dim"),
        )
        opened.callback(graph.close)
        folder = request.out or _default_folder()
        recorder = Recorder(folder, listeners=(LiveView(console),))
        trace = _play(request, _public(request, question), model, graph, launcher, recorder)
        if trace.stop_reason == "model_error" and not trace.turns:
            raise UsageError(f"{trace.stop_detail} (the trace is in {folder})")
        if question is not None:
            result = score(question, trace.answer, graph)
            trace = attach_judgement(folder, trace, Judgement(gold=question.gold, score=result))
        evidence = find_evidence(trace, _results(folder))
        outcome = Outcome.gather(trace, evidence, graph, folder)
    if as_json:
        sys.stdout.write(outcome_json(outcome) + "\n")
    else:
        show_outcome(console, outcome)
    if trace.stop_reason == "interrupted":
        return INTERRUPTED
    return NO_ANSWER if trace.answer is None else ANSWERED


def _play(
    request: AskRequest,
    public: PublicQuestion,
    model: ModelClient,
    graph: Graph,
    launcher: Launcher,
    recorder: Recorder,
) -> Trace:
    session = GraphSession(
        graph,
        guard=Guard(public.text),
        results=recorder.results,
        call_budget=request.limits.graph_calls,
    )
    return solve(
        public,
        session,
        model,
        request.limits,
        recorder,
        interpreter_factory=partial(IPythonInterpreter, launcher=launcher),
        graph_source=request.graph,
    )


def _question(request: AskRequest) -> Question | None:
    """The bundled question that is to be played, or None for a person's own."""
    bundled = demo_questions()
    if request.demo:
        if request.text:
            raise UsageError("--demo plays a bundled question: leave the question out, or --demo.")
        pick = request.pick or 1
        if pick > len(bundled):
            raise UsageError(
                f"There are {len(bundled)} bundled questions: --pick 1 to --pick {len(bundled)}."
            )
        if request.answer:
            raise UsageError("A bundled question says itself what is asked for: drop --answer.")
        if request.graph != "demo":
            raise UsageError("--demo plays on the bundled graph: leave --graph out.")
        return bundled[pick - 1]
    if request.pick:
        raise UsageError("--pick chooses among the bundled questions: add --demo.")
    if not request.text.strip():
        raise UsageError('Ask something: wikidata-rlm ask "QUESTION" --model NAME, or ask --demo.')
    if request.graph == "demo" and not request.answer:
        return next((q for q in bundled if q.text == request.text.strip()), None)
    return None


def _public(request: AskRequest, question: Question | None) -> PublicQuestion:
    if question is not None:
        return question.public()
    return PublicQuestion(
        id="ask", text=request.text.strip(), answer_format=read_format(request.answer or "text")
    )


def _model(
    request: AskRequest, question: Question | None, opened: contextlib.ExitStack
) -> ModelClient:
    """The model that shall answer; what it holds open is released with ``opened``."""
    if request.model == "reference" or (request.demo and not request.model):
        if question is None:
            raise UsageError(
                "--model reference follows a known question graph, so it plays the bundled "
                "questions only (ask --demo): name a language model for a question of your own."
            )
        return ReferenceModel(question)
    if not request.model:
        raise UsageError(
            "Which model shall answer? --model NAME (for example openai/gpt-6-luna with "
            "OPENAI_API_KEY set, or any name with --api-base URL), or ask --demo."
        )
    return opened.enter_context(
        open_model(
            request.model,
            api_base=request.api_base,
            temperature=request.temperature,
            reasoning_effort=request.reasoning_effort,
            max_output_tokens=request.max_output_tokens,
        )
    )


def _check_price(request: AskRequest, model: ModelClient) -> None:
    """A cost cap can only be kept where calls have a price."""
    if request.limits.cost is not None and model.settings.get("price_source", "") is None:
        raise UsageError(
            f"No price is known for {model.name}, so --max-cost cannot be kept: leave it out."
        )


def _default_folder() -> Path:
    """A folder that does not exist yet: ``runs/2026-11-30-141502-ask``."""
    stem = f"{datetime.now():%Y-%m-%d-%H%M%S}-ask"
    folder = Path("runs") / stem
    count = 1
    while folder.exists():
        count += 1
        folder = Path("runs") / f"{stem}-{count}"
    return folder


def _results(folder: Path) -> dict[str, object]:
    path = folder / RESULTS_FILE
    return read_results(path) if path.exists() else {}
