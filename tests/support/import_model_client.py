"""Run in a process of its own: the package loads without sockets and without LiteLLM."""

from __future__ import annotations

import importlib
import pkgutil
import sys

_seen: list[str] = []


def _watch(event: str, args: tuple[object, ...]) -> None:
    # Recorded, not raised: a library might swallow the exception.
    if event.startswith("socket."):
        _seen.append(f"{event} {args}")


def main() -> None:
    """Import every module of the package under an audit hook."""
    sys.addaudithook(_watch)
    package = importlib.import_module("model_client")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"model_client.{module.name}")
    heavy = {"litellm", "openai", "httpx", "xllamacpp"} & set(sys.modules)
    assert not heavy, f"loaded at import: {sorted(heavy)}"
    assert not _seen, _seen
    print("quiet")


if __name__ == "__main__":
    main()
