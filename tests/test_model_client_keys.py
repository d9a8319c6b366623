"""Keys: where they come from, where they go, and that they show up nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from model_client.errors import ModelError, ModelRequestRefused, ModelSetupError
from model_client.key_redaction import without_keys
from model_client.litellm_client import LiteLLMClient
from model_client.opening import open_model
from model_client.profile import ModelProfile
from model_client.retrying import RetryPolicy
from model_client.types import Message
from tests.support.data import ROOT
from tests.support.model_servers import Reply, ScriptedServer

QUESTION = [Message(role="user", content="Who?")]
SECRET = "sk-proj-A1b2C3d4E5f6G7h8I9"
AT_ONCE = RetryPolicy(retries=0)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL")):
            monkeypatch.delenv(name)


def run_python(code: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    keep = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env=keep | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_no_key_of_a_provider_reaches_another_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither OPENAI_API_KEY nor the account goes to a server given by its address."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_ORGANIZATION", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, SECRET)
    names = ["gpt-6-luna", "openai/gpt-oss-120b", "anthropic/claude", "Qwen/Qwen3.8-27B"]
    with ScriptedServer(["x"] * len(names)) as server:
        for name in names:
            with open_model(name, api_base=server.url) as model:
                model.complete(QUESTION)
    for request in server.requests:
        assert request.headers["authorization"] == "Bearer none"
        assert SECRET not in str(request)


def test_an_own_server_gets_the_key_that_is_meant_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", "own-server-key")
    monkeypatch.setenv("LAB_KEY", "lab-server-key")
    with ScriptedServer(["x", "x"]) as server:
        open_model("m", api_base=server.url).complete(QUESTION)
        profile = ModelProfile(name="m", model="m", api_base=server.url, key_variable="LAB_KEY")
        LiteLLMClient(profile).complete(QUESTION)
    sent = [request.headers["authorization"] for request in server.requests]
    assert sent == ["Bearer own-server-key", "Bearer lab-server-key"]


def test_the_openai_key_may_not_be_named_for_another_host() -> None:
    def profile(api_base: str) -> ModelProfile:
        return ModelProfile(name="m", model="m", api_base=api_base, key_variable="OPENAI_API_KEY")

    assert profile("https://api.openai.com/v1").key_variable == "OPENAI_API_KEY"
    for host in ("evil.example", "openai.com.evil.example", "notopenai.com"):
        with pytest.raises(ValidationError, match=r"api\.openai\.com only"):
            profile(f"https://{host}/v1")


def test_a_provider_without_its_key_does_not_borrow_the_openai_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """LiteLLM falls back on OPENAI_API_KEY for providers that speak OpenAI's protocol."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with ScriptedServer(["x"]) as server:
        monkeypatch.setenv("ZAI_API_BASE", server.url)
        client = LiteLLMClient(ModelProfile(name="z", model="zai/glm-5.3-flash"))
        with pytest.raises(ModelSetupError, match=r"needs a key: set ZAI_API_KEY$"):
            client.complete(QUESTION)
        assert server.requests == []
        monkeypatch.setenv("ZAI_API_KEY", "zai-key-for-tests")
        client.complete(QUESTION)
    assert server.requests[0].headers["authorization"] == "Bearer zai-key-for-tests"


@pytest.mark.parametrize(
    ("model", "variables"),
    [
        ("gpt-6-luna", "OPENAI_API_KEY"),
        ("openai/gpt-6-luna", "OPENAI_API_KEY"),
        ("gemini/gemini-3.1-flash-lite", "GOOGLE_API_KEY or GEMINI_API_KEY"),
        ("zai/glm-5.3-flash", "ZAI_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("openrouter/x/y", "OPENROUTER_API_KEY"),
        ("together_ai/x", "TOGETHERAI_API_KEY"),
        ("nano-gpt/x", "NANOGPT_API_KEY"),
    ],
)
@pytest.mark.parametrize("value", [None, ""])
def test_a_missing_key_is_named(
    model: str, variables: str, value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if value is not None:
        for name in variables.split(" or "):
            monkeypatch.setenv(name, value)
    with pytest.raises(ModelSetupError) as raised:
        open_model(model)
    assert str(raised.value) == f"model {model!r} needs a key: set {variables}" or (
        value == "" and str(raised.value).endswith(variables.split(" or ")[-1])
    )


@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
def test_errors_never_repeat_a_key(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", SECRET)
    stars = f"{SECRET[:8]}******{SECRET[-4:]}"
    reply: Reply = {
        "status": status,
        "error": f"Incorrect key: {SECRET} or {stars}, Bearer {SECRET}",
    }
    with ScriptedServer([reply]) as server:
        profile = ModelProfile(name="m", model="m", api_base=server.url)
        client = LiteLLMClient(profile, retry_policy=AT_ONCE)
        with pytest.raises(ModelError) as raised:
            client.complete(QUESTION)
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    error: BaseException | None = raised.value
    while error is not None:  # What a traceback would print counts too.
        assert SECRET not in f"{error} {error!r}"
        assert stars not in str(error)
        error = error.__cause__ or error.__context__
    assert isinstance(raised.value, ModelRequestRefused) == (status in (400, 401, 403))
    for shown in (repr(client), str(client.settings), repr(client._route), repr(profile)):
        assert SECRET not in shown


def test_redaction_knows_the_environment_and_the_usual_shapes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "plain words of a secret")
    monkeypatch.setenv("SHORT_KEY", "on")
    text = "on plain words of a secret; sk-abc***xyz; Bearer ey.J0, AIzaSyA-123456789 or skiing"
    assert without_keys(text) == "on [key]; [key]; [key] [key] or skiing"


@pytest.mark.parametrize(
    "address",
    [
        "http://user:hunter22@host/v1",
        "http://host/v1?api-key=hunter22",
        "http://host/v1#hunter22",
        "ftp://host",
        "host:8000",
        "",
    ],
)
def test_an_address_that_is_none_or_holds_a_secret(address: str) -> None:
    with pytest.raises(ModelSetupError) as raised:
        open_model("m", api_base=address)
    assert str(raised.value).startswith("api_base: ")
    assert "hunter22" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://h:8000", "http://h:8000/v1"),
        ("http://h:8000/", "http://h:8000/v1"),
        ("http://h:8000/v1/", "http://h:8000/v1"),
        (" https://h/openai/v1/chat/completions ", "https://h/openai/v1"),
    ],
)
def test_addresses_are_tidied(given: str, used: str) -> None:
    assert ModelProfile(name="m", model="m", api_base=given).api_base == used


@pytest.mark.parametrize("field", ["api_key", "Authorization"])
def test_a_profile_holds_no_key(field: str) -> None:
    with pytest.raises(ValidationError, match="may hold no key"):
        ModelProfile(name="m", model="m", extra_body={field: SECRET})
    with pytest.raises(ValidationError):
        ModelProfile.model_validate({"name": "m", "model": "m", "api_key": SECRET})


def test_importing_opens_no_socket_and_loads_no_litellm() -> None:
    """B34."""
    code = (ROOT / "tests/support/import_model_client.py").read_text(encoding="utf-8")
    done = run_python(code, ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "quiet\n"


@pytest.mark.slow
def test_loading_litellm_uses_no_network_no_dotenv_and_no_log(tmp_path: Path) -> None:
    """B34, and that LiteLLM logs no request, whatever level the program logs at."""
    (tmp_path / ".env").write_text("ANTHROPIC_API_KEY=from-a-file-1234\n", encoding="utf-8")
    code = (ROOT / "tests/support/load_litellm.py").read_text(encoding="utf-8")
    done = run_python(code, tmp_path, LITELLM_LOG="DEBUG", HOSTED_VLLM_API_KEY=SECRET)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "quiet\n"
    assert "logged by httpcore" in done.stderr  # The log was on.
    assert "logged by LiteLLM" not in done.stderr
    assert SECRET not in done.stderr
