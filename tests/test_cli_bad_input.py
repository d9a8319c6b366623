"""Bad input: one clear line that says what was wrong and what to do, exit code 2, no traceback."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.support.cli import refusal, run_cli
from tests.support.sparql_servers import free_port


def entity(number: int) -> dict[str, object]:
    label = {"en": {"language": "en", "value": f"thing {number}"}}
    return {"type": "item", "id": f"Q{number}", "labels": label, "claims": {}}


def test_a_wrong_graph_path(tmp_path: Path) -> None:
    line = refusal(run_cli("graph", "call", "degree", "Q42", "--graph", str(tmp_path / "none")))
    assert "none" in line


def test_a_folder_that_is_no_graph(tmp_path: Path) -> None:
    line = refusal(run_cli("graph", "info", str(tmp_path)))
    assert str(tmp_path) in line
    assert "graph build" in line


def test_an_unreachable_endpoint() -> None:
    address = f"http://127.0.0.1:{free_port()}/sparql"
    line = refusal(run_cli("graph", "call", "degree", "Q42", "--graph", address))
    assert address in line


def test_an_unreachable_endpoint_in_ask_leaves_no_run(tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{free_port()}/sparql"
    model = ("--model", "m", "--api-base", f"http://127.0.0.1:{free_port()}/v1")
    refusal(run_cli("ask", "Who?", "--graph", address, *model, cwd=tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_missing_key(tmp_path: Path) -> None:
    line = refusal(run_cli("ask", "Who?", "--model", "openai/gpt-6-luna", cwd=tmp_path))
    assert "OPENAI_API_KEY" in line
    assert not list(tmp_path.iterdir())


def test_an_unknown_model(tmp_path: Path) -> None:
    line = refusal(run_cli("ask", "Who?", "--model", "no-such-model", cwd=tmp_path))
    assert "no-such-model" in line


def test_no_model(tmp_path: Path) -> None:
    assert "--model" in refusal(run_cli("ask", "Who?", cwd=tmp_path))


def test_no_question(tmp_path: Path) -> None:
    assert "ask --demo" in refusal(run_cli("ask", cwd=tmp_path))


def test_reference_needs_a_bundled_question(tmp_path: Path) -> None:
    assert "ask --demo" in refusal(run_cli("ask", "Who?", "--model", "reference", cwd=tmp_path))


@pytest.mark.parametrize("cut", [10, 60])
def test_a_truncated_input_file(tmp_path: Path, cut: int) -> None:
    lines = "".join(json.dumps(entity(n)) + "\n" for n in range(1, 200))
    whole = gzip.compress(lines.encode(), mtime=0)
    source = tmp_path / "dump.jsonl.gz"
    source.write_bytes(whole[:-cut])
    line = refusal(run_cli("graph", "build", str(source), "--out", str(tmp_path / "g"), "--quiet"))
    assert "dump.jsonl.gz" in line
    assert [path.name for path in tmp_path.iterdir()] == ["dump.jsonl.gz"], "nothing half-made"


def test_a_missing_input_file(tmp_path: Path) -> None:
    source = str(tmp_path / "none.jsonl")
    assert source in refusal(run_cli("graph", "build", source, "--out", str(tmp_path / "g")))


def test_a_graph_folder_of_a_newer_format(tmp_path: Path) -> None:
    source = tmp_path / "one.jsonl"
    source.write_text(json.dumps(entity(1)) + "\n")
    folder = tmp_path / "g"
    assert run_cli("graph", "build", str(source), "--out", str(folder), "--quiet").returncode == 0
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["format_version"] += 1
    (folder / "manifest.json").write_text(json.dumps(manifest))
    line = refusal(run_cli("graph", "call", "degree", "Q1", "--graph", str(folder)))
    assert "newer" in line


def test_a_folder_that_is_already_there_is_not_written_over(tmp_path: Path) -> None:
    source = tmp_path / "one.jsonl"
    source.write_text(json.dumps(entity(1)) + "\n")
    (tmp_path / "g").mkdir()
    (tmp_path / "g" / "mine.txt").write_text("precious")
    refusal(run_cli("graph", "build", str(source), "--out", str(tmp_path / "g"), "--overwrite"))
    assert (tmp_path / "g" / "mine.txt").read_text() == "precious"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("degree", "42"), "expected a string such as 'Q42'"),
        (("degree", "Q999999999"), "Q999999999"),
        (("degree",), "needs 'entity'"),
        (("edges", "Q64", "limit=many"), "whole number"),
        (("edges", "Q64", "direction=up"), "one of both, out, in"),
        (("neighbours", "Q64"), "there are search_entity"),
    ],
)
def test_a_wrong_call(arguments: tuple[str, ...], says: str) -> None:
    assert says in refusal(run_cli("graph", "call", *arguments))


def test_a_run_folder_is_not_written_over(tmp_path: Path) -> None:
    first = run_cli("ask", "--demo", "--out", "run", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    before = (tmp_path / "run" / "trace.json").read_bytes()
    assert "--out" in refusal(run_cli("ask", "--demo", "--out", "run", cwd=tmp_path))
    assert (tmp_path / "run" / "trace.json").read_bytes() == before
