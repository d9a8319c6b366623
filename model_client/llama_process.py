"""The process of a local llama.cpp server: runs until its standard input closes.

Run as a script with the model's path and the context size; it imports nothing of this project.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def serve(model_path: str, context_tokens: int) -> None:
    """Load a model, tell the address as one JSON line on standard output, wait for the end."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What llama.cpp prints goes to the log.
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model_path
    params.model_alias = {Path(model_path).stem}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = context_tokens
    params.n_parallel = 1
    # Its threads wait for each other in busy loops: on a machine that has other work, one for
    # each core is many times slower than fewer.
    threads = max(1, (os.cpu_count() or 2) // 2)
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(params)
    print(json.dumps({"address": server.listening_address}), file=answers, flush=True)
    sys.stdin.buffer.read()
    os._exit(0)  # Nothing is left to save; the library's own end waits for open requests.


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
