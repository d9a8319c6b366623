"""Every command in the README and in docs/ is run, and every link between pages leads somewhere."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from kg_functions.demo import demo_graph_folder
from kg_functions.demo.tables import json_lines, read_tables
from kg_functions.reference_page import render
from tests.support.cli import run_cli
from tests.support.data import ROOT
from tests.support.model_servers import ScriptedServer
from tests.support.sparql_servers import oxigraph_server

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
MODEL_ADDRESS = "http://localhost:8000/v1"
GRAPH_ADDRESS = "http://localhost:7001"


def commands(page: Path) -> list[str]:
    """The lines after ``$`` in the page's console blocks."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def answer(_: dict[str, Any]) -> str:
    return "```python\nFINAL(search_entity('Göttingen')['matches'][0]['id'])\n```"


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    """Where the addresses that the pages name are to be found in a test."""
    store = demo_graph_folder() / "store"
    with ScriptedServer(answer) as model, oxigraph_server(store) as graph:
        yield {MODEL_ADDRESS: model.url, GRAPH_ADDRESS: graph}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_runs(page: Path, tmp_path: Path, servers: dict[str, str]) -> None:
    lines = "".join(json_lines(read_tables())).encode()
    (tmp_path / "items.jsonl.zst").write_bytes(zstandard.compress(lines))
    for command in commands(page):
        words = shlex.split(command)
        if words[0] == "make":
            makefile = (ROOT / "Makefile").read_text()
            assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), command
            continue
        assert words[0] == "wikidata-rlm", command
        for shown, real in servers.items():
            words = [word.replace(shown, real) for word in words]
        done = run_cli(*words[1:], cwd=tmp_path)
        if "openai/" in command:
            assert "OPENAI_API_KEY" in done.stderr, "all is well but for the key"
        else:
            assert done.returncode == 0, (command, done.stdout, done.stderr)


def test_the_pages_show_commands() -> None:
    assert sum(len(commands(page)) for page in PAGES) > 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_functions_page_is_that_of_the_registry() -> None:
    page = (ROOT / "docs" / "functions.md").read_text()
    assert page == render(), "python -m kg_functions.reference_page > docs/functions.md"
