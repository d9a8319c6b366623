"""Run in a process of its own: loading LiteLLM connects to nobody, and its log stays silent."""

from __future__ import annotations

import logging
import sys
from urllib.parse import urlsplit

from model_client.errors import ModelError, ModelSetupError
from model_client.opening import open_model
from model_client.types import Message
from tests.support.model_servers import ScriptedServer

_seen: list[str] = []
_allowed: set[object] = set()


def _watch(event: str, args: tuple[object, ...]) -> None:
    # Recorded, not raised: LiteLLM would swallow the exception.
    if event == "socket.getaddrinfo" and args[0] not in ("127.0.0.1", None):
        _seen.append(f"looked up {args[0]!r}")
    if event == "socket.connect" and isinstance(args[1], tuple) and args[1][1] not in _allowed:
        _seen.append(f"connected to {args[1]!r}")


def main() -> None:
    """Check a model whose key stands in a ``.env`` file only, then call a scripted server."""
    sys.addaudithook(_watch)
    logging.basicConfig(level=logging.DEBUG, format="logged by %(name)s: %(message)s")
    try:
        open_model("anthropic/claude-sonnet-4-5")
    except ModelSetupError:
        pass
    else:
        _seen.append("a key was read from a file")
    with ScriptedServer(["hello", {"status": 400, "error": "no"}]) as server:
        _allowed.add(urlsplit(server.url).port)
        model = open_model("m", api_base=server.url)
        assert model.complete([Message(role="user", content="Hi.")]).text == "hello"
        try:
            model.complete([Message(role="user", content="Hi.")])
        except ModelError as error:
            assert "no" in str(error)
    assert not _seen, _seen
    print("quiet")


if __name__ == "__main__":
    main()
