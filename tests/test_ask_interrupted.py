"""What is left when a run is cut short: by Ctrl-C, by kill -9, by a closed terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.cli import HANG_SECONDS, refusal, run_cli
from tests.support.data import ROOT
from tests.support.loop_runs import block
from tests.support.model_servers import ScriptedServer
from traces.reading import read_trace
from traces.recorder import TRACE_FILE

HELPERS = 32


def slow_helpers(request: dict[str, Any]) -> Any:
    """The main conversation at once, helper calls after two seconds each."""
    if "Question:" in str(request["messages"]):
        return block(f"llm_map(['a'] * {HELPERS}, 'read')")
    return {"content": "yes", "delay": 2.0}


def start(cwd: Path, url: str, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "wikidata_rlm.main", "ask", "Who?", "--out", "run"]
    return subprocess.Popen(
        [*command, "--model", "m", "--api-base", url],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def wait_for(condition: Any) -> None:
    end = time.monotonic() + HANG_SECONDS
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def descendants(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def test_ctrl_c_ends_the_run_at_once_and_queued_helper_calls_are_not_made(tmp_path: Path) -> None:
    with ScriptedServer(slow_helpers) as server:
        process = start(tmp_path, server.url)
        wait_for(lambda: len(server.requests) > 3)
        kernels = descendants(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANG_SECONDS)
        asked = len(server.requests)
        time.sleep(2.5)
        assert len(server.requests) == asked < HELPERS, "nothing is asked after the end"
    assert process.returncode == 130, (out, err)
    assert b"Traceback" not in err
    trace = read_trace(tmp_path / "run")
    assert (trace.stop_reason, len(trace.turns)) == ("interrupted", 1)
    assert kernels
    assert not any(kernel.is_running() for kernel in kernels)


def test_a_block_that_passes_its_time_makes_no_further_helper_calls(tmp_path: Path) -> None:
    with ScriptedServer(slow_helpers) as server:
        done = run_cli(
            "ask", "Who?", "--out", "run", "--model", "m", "--api-base", server.url,
            "--cell-seconds", "1", "--turns", "1", cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 3, done.stderr
        assert len(server.requests) < HELPERS
    trace = read_trace(tmp_path / "run")
    assert trace.turns[0].status == "interrupted"
    assert trace.stop_reason == "turn_limit"


def test_kill_9_leaves_no_kernel_and_a_readable_run(tmp_path: Path) -> None:
    def reply(request: dict[str, Any]) -> Any:
        turns = len(request["messages"])
        return block("x = 1") if turns < 4 else {"content": block("x"), "delay": 600}

    with ScriptedServer(reply) as server:
        process = start(tmp_path, server.url)
        wait_for(lambda: len(server.requests) == 2)
        kernels = descendants(process)
        process.kill()
        process.communicate(timeout=HANG_SECONDS)
        wait_for(lambda: not any(kernel.is_running() for kernel in kernels))
    assert kernels
    assert not (tmp_path / "run" / TRACE_FILE).exists()
    trace = read_trace(tmp_path / "run")
    assert trace.stop_reason is None
    assert trace.turns[0].status == "ok"


def test_a_reader_that_has_seen_enough_costs_no_trace(tmp_path: Path) -> None:
    command = f"{sys.executable} -m wikidata_rlm.main ask --demo --out run | head -1"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert done.stdout.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert read_trace(tmp_path / "run").stop_reason == "answered"


def test_an_own_server_that_knows_no_such_model_is_a_line(tmp_path: Path) -> None:
    with ScriptedServer([{"status": 404, "error": "The model `m` does not exist."}]) as server:
        done = run_cli(
            "ask", "Who?", "--out", "run", "--model", "m", "--api-base", server.url, cwd=tmp_path
        )
    assert done.returncode == 2
    assert "does not exist" in done.stderr
    assert read_trace(tmp_path / "run").stop_reason == "model_error"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("Who?", "--model", "m", "--api-base", "http://127.0.0.1:9/v1", "--max-cost", "1"),
         "price"),
        (("--demo", "--answer", "year"), "--answer"),
        (("Who?", "--pick", "2", "--model", "m"), "--demo"),
        (("Who?", "--demo"), "--demo"),
        (("--demo", "--pick", "99"), "--pick 1 to"),
        (("--demo", "--graph", "elsewhere"), "--graph"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together(
    tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    assert says in refusal(run_cli("ask", *arguments, cwd=tmp_path))
    assert not list(tmp_path.iterdir())
