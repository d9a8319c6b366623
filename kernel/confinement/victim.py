"""What attacks aim at: a process with a secret in every place where a harness might have one.

Run as a script: ``victim.py FOLDER SECRET``. It prints one line of JSON that says where it is (see
``main``) and lives until its standard input ends. Standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path

_PR_SET_PTRACER = 0x59616D61


def main(folder: Path, secret: str) -> None:
    """Lay the secret out, say where, and wait.

    Printed: ``pid``, ``address`` of the secret in memory, ``secret``, ``folder``, files ``gold``
    and ``trace``, ports ``tcp`` and ``udp`` on loopback, ``abstract`` socket name and ``socket``
    path. Whoever reaches a socket is sent the secret.
    """
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    # Where only descendants may look into a process, it lets anybody: that is not what is tested.
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(-1))
    memory = ctypes.create_string_buffer(secret.encode())
    files = {"gold": folder / "gold.json", "trace": folder / "trace.jsonl"}
    for file in files.values():
        file.write_text(secret)
    abstract = f"wikidata-rlm-victim-{os.getpid()}"
    path = folder / "socket"
    tcp = _serve(socket.AF_INET, ("127.0.0.1", 0), secret)
    _serve(socket.AF_UNIX, "\0" + abstract, secret)
    _serve(socket.AF_UNIX, str(path), secret)
    where = {
        "pid": os.getpid(),
        "address": ctypes.addressof(memory),
        "secret": secret,
        "folder": str(folder),
        **{name: str(file) for name, file in files.items()},
        "tcp": tcp.getsockname()[1],
        "udp": _echo(secret).getsockname()[1],
        "abstract": abstract,
        "socket": str(path),
    }
    print(json.dumps(where), flush=True)
    sys.stdin.read()


def _serve(family: socket.AddressFamily, address: object, secret: str) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.bind(address)  # type: ignore[arg-type]
    listener.listen()

    def answer() -> None:
        while True:
            peer, _ = listener.accept()
            with peer:
                peer.sendall(secret.encode())

    threading.Thread(target=answer, daemon=True).start()
    return listener


def _echo(secret: str) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            _, sender = sock.recvfrom(65_536)
            sock.sendto(secret.encode(), sender)

    threading.Thread(target=answer, daemon=True).start()
    return sock


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
