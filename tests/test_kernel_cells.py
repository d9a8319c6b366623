"""What a model's blocks may do and what comes of it, in a real kernel and in the test double."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import pytest

from kernel.inprocess import InProcessInterpreter
from kernel.ipython_kernel import IPythonInterpreter
from tests.support.kernel_host import Host

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kernel.interpreter import CellResult, Interpreter, InterpreterFactory

LIMIT = 2_000


class Session:
    """An interpreter with its host; ``run`` starts from a named state."""

    def __init__(self, kind: str, folder: Path) -> None:
        factory: InterpreterFactory = (
            IPythonInterpreter if kind == "kernel" else InProcessInterpreter
        )
        self.kind = kind
        self.host = Host()
        self.folder = folder
        self.interpreter: Interpreter = factory(
            self.host.functions(), folder=folder, output_limit=LIMIT, cell_seconds=30
        )

    def run(self, code: str) -> CellResult:
        return self.interpreter.run(code)

    def shown(self, code: str) -> str:
        result = self.run(code)
        assert result.status == "ok", result
        return result.output.rstrip("\n")

    def fails(self, code: str) -> CellResult:
        result = self.run(code)
        assert result.status == "error", result
        return result


@pytest.fixture(scope="module", params=["kernel", "inprocess"])
def session(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Session]:
    session = Session(request.param, tmp_path_factory.mktemp("outputs"))
    session.interpreter.start()
    yield session
    session.interpreter.close()


@pytest.fixture
def fresh(session: Session, tmp_path: Path) -> Iterator[Session]:
    """An interpreter without an accepted answer."""
    fresh = Session("inprocess", tmp_path) if session.kind == "inprocess" else session
    if session.kind == "kernel":
        session.interpreter.restart()
        session.host.finals.clear()
    yield fresh


def test_output_comes_in_order(session: Session) -> None:
    code = "import sys\nprint('a')\nprint('b', file=sys.stderr)\nprint('c', end='')\n1 + 1"
    assert session.shown(code) == "a\nb\nc2"
    assert session.shown("x = 5") == ""
    assert session.shown("") == ""
    assert session.shown("None") == ""
    assert session.shown("# only a comment") == ""


def test_variables_stay(session: Session) -> None:
    session.run("kept = [1]\ndef twice(n): return n * 2")
    assert session.shown("kept.append(twice(4)); kept") == "[1, 8]"


def test_errors_are_short_and_show_the_models_code(session: Session) -> None:
    result = session.fails("def inner():\n    return claims('X9')\n\ninner()")
    assert result.error == "NotInGraph: there is no X9: search for it"
    lines = result.output.splitlines()
    assert lines[-1] == result.error
    assert "    return claims('X9')" in lines
    assert "kernel" not in result.output.replace("<cell", "")
    assert len(lines) == 6


def test_a_syntax_error_is_told_with_its_place(session: Session) -> None:
    result = session.fails("x = 1\ny = = 2")
    assert result.error is not None
    assert result.error.startswith("SyntaxError")
    assert "line 2" in result.output
    assert "y = = 2" in result.output


def test_graph_functions_look_like_python(session: Session) -> None:
    assert session.shown("claims('Q1', property='P2')['kwargs']") == "{'property': 'P2'}"
    assert session.shown("import inspect; print(inspect.signature(claims))") == (
        "(entity, property=None, limit=200)"
    )
    assert "Statements of an entity." in session.shown("help(claims)")
    assert session.shown("claims.__name__") == "'claims'"


def test_graph_errors_can_be_caught_by_name(session: Session) -> None:
    code = "try:\n    claims('X1')\nexcept GraphError as error:\n    print(type(error).__name__)"
    assert session.shown(code) == "NotInGraph"


def test_a_fault_of_the_harness_has_no_details(session: Session) -> None:
    result = session.fails("claims('crash')")
    assert result.error == "HarnessFault: graph failed in the harness"
    assert "secret" not in result.output


def test_a_set_as_argument_is_refused_with_advice(session: Session) -> None:
    result = session.fails("claims({'Q1'})")
    assert result.error == (
        "InvalidArgument: args[0] is a set, which has no order: use sorted(...)"
    )


def test_graph_map_keeps_order_and_errors(session: Session) -> None:
    code = "r = graph_map(claims, ['Q1', 'X1', ('Q2', 'P3'), {'entity': 'Q4'}], limit=5)"
    session.shown(code)
    assert (
        session.shown("[type(x).__name__ for x in r]") == "['dict', 'NotInGraph', 'dict', 'dict']"
    )
    assert session.shown("r[0]['args'], r[0]['kwargs']") == "(['Q1'], {'limit': 5})"
    assert session.shown("r[2]['args']") == "['Q2', 'P3']"
    assert session.shown("r[3]['kwargs'] == {'limit': 5, 'entity': 'Q4'}") == "True"
    assert session.fails("graph_map(len, ['a'])").error == (
        "InvalidArgument: graph_map needs a graph function: claims, slow"
    )
    assert "sorted(...)" in str(session.fails("graph_map(claims, {'Q1'})").error)


def test_graph_map_makes_as_many_calls_as_items(session: Session) -> None:
    session.host.counts.clear()
    assert session.shown("len(graph_map(claims, [f'Q{i}' for i in range(300)]))") == "300"
    assert session.host.counts["claims"] == 300


def test_concurrent_calls_from_eight_threads_are_counted_exactly(session: Session) -> None:
    session.host.counts.clear()
    code = """
import threading
right = []
def work(n):
    for i in range(50):
        right.append(claims(f"Q{n}{i:03d}")["id"] == f"Q{n}{i:03d}")
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
len(right), all(right)
"""
    assert session.shown(code) == "(400, True)"
    assert session.host.counts["claims"] == 400


def test_llm_query_replies_or_raises(session: Session) -> None:
    assert session.shown("llm_query('abc', 'reverse it')") == "'cba'"
    result = session.fails("llm_query('bad', 'x')")
    assert result.error == "LLMCallError: the helper did not answer"
    assert "json.dumps" in str(session.fails("llm_query({'a': 1}, 'x')").error)


def test_b21_llm_map_keeps_what_succeeded(session: Session) -> None:
    session.shown("r = llm_map(['a', 'bad', 'c'], 'upper')")
    assert session.shown("r[0], r[2], len(r)") == "('A', 'C', 3)"
    assert session.shown("bool(r[1]), isinstance(r[1], str), print(r[1])") == (
        "rate limited\n(False, False, None)"
    )
    assert session.shown("[x for x in r if x]") == "['A', 'C']"
    assert "items[1] must be a str" in str(session.fails("llm_map(['a', 1], 'x')").error)


def test_an_error_that_is_falsy_still_ends_the_block(session: Session) -> None:
    assert session.fails("raise r[1]" if session.run("r").status == "ok" else "").error


def test_b1_final_counts_only_when_it_is_called(fresh: Session) -> None:
    fresh.shown("# FINAL('comment')\ntext = \"FINAL('string')\"\nprint(text)")
    fresh.shown("def unused():\n    FINAL('never called')")
    assert fresh.host.finals == []
    assert fresh.shown("FINAL('called')") == "Answer accepted."
    assert fresh.host.finals == ["called"]


def test_a_refused_answer_says_why_and_the_next_one_counts(fresh: Session) -> None:
    assert fresh.fails("FINAL('wrong')").error == "AnswerRefused: the answer must be a year"
    assert fresh.shown("FINAL(1952)") == "Answer accepted."
    assert "changes nothing" in fresh.shown("FINAL(1953)")
    assert fresh.host.finals == [1952]


def test_b3_final_var_takes_a_name_or_a_value(fresh: Session) -> None:
    fresh.run("answers = ['Q1', 'Q2']; cities = 3")
    error = str(fresh.fails("FINAL_VAR('nope')").error)
    assert error.startswith("NameError: there is no variable 'nope'.")
    assert "answers, cities" in error
    assert "claims" not in error
    assert "Close: answers." in str(fresh.fails("FINAL_VAR('answer')").error)
    assert fresh.host.finals == []
    assert fresh.shown("FINAL_VAR('answers')") == "Answer accepted."
    assert fresh.host.finals == [["Q1", "Q2"]]


def test_b3_final_var_with_a_list_takes_the_list(fresh: Session) -> None:
    assert fresh.shown("FINAL_VAR(['Q5'])") == "Answer accepted."
    assert fresh.host.finals == [["Q5"]]


def test_b20_odd_values_through_final(fresh: Session) -> None:
    error = str(fresh.fails("FINAL({1, 2})").error)
    assert error == "AnswerRefused: the answer is a set, which has no order: use sorted(...)"
    assert "use .decode()" in str(fresh.fails("FINAL(b'x')").error)
    assert "keys must be strings" in str(fresh.fails("FINAL({1: 2})").error)
    assert fresh.host.finals == []
    fresh.shown("FINAL([float('nan'), float('-inf'), 2**70, 2**53 + 1, (1,), '\\ud800\\0'])")
    (value,) = fresh.host.finals
    assert math.isnan(value[0])
    assert value[1:] == [-math.inf, 2**70, 2**53 + 1, [1], "\ud800\0"]


def test_b4_helpers_and_builtins_come_back(session: Session) -> None:
    result = session.run("FINAL = claims = None; len = 5\nprint = lambda *a: None")
    assert result.status == "ok"
    assert result.notice is not None
    for name in ("FINAL", "claims", "len", "print"):
        assert f"{name} (your value is now {name}_" in result.notice
    result = session.run("print(len('abc'), claims('Q1')['id'], len_)")
    assert (result.output, result.notice) == ("3 Q1 5\n", None)


def test_b4_deleted_helpers_come_back(session: Session) -> None:
    session.run("del claims, FINAL")
    assert session.shown("claims('Q1')['id'], callable(FINAL)") == "('Q1', True)"


def test_b4_changes_of_the_builtins_module_are_undone(session: Session) -> None:
    session.run("import builtins; builtins.len = builtins.print = None; del builtins.sorted")
    assert session.shown("print(len([1]), sorted([2, 1]))") == "1 [1, 2]"


def test_b12_long_output_keeps_its_last_line_and_is_whole_elsewhere(session: Session) -> None:
    result = session.run("for i in range(5000): print(f'line {i}')\nprint('THE END')")
    whole = "".join(f"line {i}\n" for i in range(5000)) + "THE END\n"
    assert result.omitted == len(whole) - LIMIT
    assert result.output.startswith("line 0\n")
    assert result.output.endswith("THE END\n")
    assert (
        f"[... {len(whole) - LIMIT:,} characters left out; the whole output is in last_output"
        in (result.output)
    )
    assert result.full_output is not None
    assert result.full_output.parent == session.folder
    assert re.fullmatch(r"\d{4,}\.txt", result.full_output.name)
    assert result.full_output.read_text() == whole
    assert session.shown("len(last_output), last_output[-8:]") == f"({len(whole)}, 'THE END\\n')"


def test_no_output_makes_no_file(session: Session) -> None:
    result = session.run("x = 1")
    assert (result.output, result.omitted, result.full_output) == ("", 0, None)
    assert session.shown("last_output") == "''"


def test_b11_a_huge_value_is_shown_in_part(session: Session) -> None:
    result = session.run("list(range(1_000_000))")
    assert result.status == "ok"
    assert result.output.startswith("[0,")
    assert "..." in result.output
    assert len(result.output) < LIMIT + 200
    result = session.run("'x' * 10_000_000")
    assert "(length 10,000,000)" in result.output
    assert session.shown("Out if 'Out' in globals() else {}") == "{}"


def test_a_50_mb_string_is_cut_with_an_exact_count(session: Session) -> None:
    result = session.run("print('x' * 50_000_000 + 'END')")
    assert result.omitted == 50_000_004 - LIMIT
    assert result.output.endswith("xEND\n")
    assert result.full_output is not None
    assert result.full_output.stat().st_size == 50_000_004
    assert session.shown("len(last_output)") == "50000004"


def test_surrogates_and_nul_are_shown_as_escapes(session: Session) -> None:
    assert session.shown("print('a\\ud800b\\0c', 'é')") == "a\\ud800b\\x00c é"
    assert session.shown("last_output") == "'a\\\\ud800b\\\\x00c é\\n'"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("exit()", "SystemExit: exit() ends this block, not the run"),
        ("quit()", "SystemExit: exit() ends this block, not the run"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("input('name?')", "EOFError: nobody can answer input() here"),
        ("def f(): return f()\nf()", "RecursionError"),
        (
            "class E(Exception):\n    def __str__(self): raise ValueError\nraise E()",
            "E: <its __str",
        ),
        (
            "class R:\n    def __repr__(self): raise ValueError('no text')\nR()",
            "ValueError: no text",
        ),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise ValueError('x' * 1_000_000)", "ValueError: xxx"),
    ],
)
def test_what_ends_a_block_leaves_the_state(session: Session, code: str, error: str) -> None:
    if session.kind == "inprocess" and "KeyboardInterrupt" in code:
        pytest.skip("the double lets its caller's Ctrl-C through")
    session.run("still = 'here'")
    result = session.fails(code)
    assert result.error is not None
    assert result.error.startswith(error)
    assert len(result.output) < LIMIT + 200
    assert session.shown("still") == "'here'"


def test_closing_standard_output_silences_nobody(session: Session) -> None:
    session.run("import sys; sys.stdout.close(); sys.stderr.close()")
    assert session.shown("print('still')") == "still"


def test_methods_that_are_not_offered_are_not_there(tmp_path: Path, session: Session) -> None:
    host = Host()
    functions = host.functions()
    functions["hello"] = lambda params: {"functions": [], "methods": ["final"]}
    kind = IPythonInterpreter if session.kind == "kernel" else InProcessInterpreter
    interpreter = kind(functions, folder=tmp_path, output_limit=500, cell_seconds=30)
    interpreter.start()
    try:
        names = "[n for n in ('FINAL', 'llm_query', 'llm_map', 'graph_map') if n in globals()]"
        assert interpreter.run(names).output == "['FINAL']\n"
    finally:
        interpreter.close()


def test_graph_map_goes_to_the_host_where_it_offers_it(tmp_path: Path) -> None:
    host = Host()
    functions = host.functions()
    hello: Any = functions["hello"]({})
    asked = []

    def graph_map(params: dict[str, Any]) -> Any:
        asked.append(params)
        return [{"result": 1}, {"error": {"kind": "NotInGraph", "message": "no"}}]

    functions["graph_map"] = graph_map
    functions["hello"] = lambda params: {**hello, "methods": [*hello["methods"], "graph_map"]}
    interpreter = InProcessInterpreter(functions, folder=tmp_path)
    assert interpreter.run("graph_map(claims, ['Q1', 'Q2'], limit=3)").output == (
        "[1, NotInGraph('no')]\n"
    )
    call = {"args": ["Q1"], "kwargs": {"limit": 3}}
    assert asked == [{"function": "claims", "calls": [call, {**call, "args": ["Q2"]}]}]
