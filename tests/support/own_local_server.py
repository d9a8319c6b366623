"""Run in a process of its own: starts a local model server, tells its address and waits."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from model_client.local_server import LocalServer

if __name__ == "__main__":
    with LocalServer(Path(sys.argv[1])) as server:
        print(server.api_base, flush=True)
        time.sleep(60)
