"""What a confined kernel must not be able to do, as functions that try it from inside.

An attack returns what it got where it succeeds, and raises ``OSError`` or ``MemoryError`` where it
is refused. None does harm: what they aim at is a ``victim`` made for the purpose. They run in a
kernel, so they need the standard library only.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kernel.confinement import connection_attacks, exhaustion_attacks, raw
from kernel.confinement.raw import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

Target = dict[str, Any]
"""Where the victim is, as ``kernel.confinement.victim`` prints it."""

_REPLY_SECONDS: Final = 1.0


@dataclass(frozen=True)
class Attack:
    """One thing to try.

    Attributes:
        name: short name, as in a level's list of what it cannot refuse.
        title: what it is, for a table.
        run: tries it against a target; returns what it got.
        ends_kernel: whether being refused may cost the kernel that tries.
    """

    name: str
    title: str
    run: Callable[[Target], str]
    ends_kernel: bool = False


def show(name: str, target: str) -> None:
    """Run one attack and print its outcome as a line of JSON: ``{"open": bool, "detail": str}``.

    Args:
        name: the attack's name.
        target: the target as JSON.
    """
    try:
        detail, succeeded = BY_NAME[name].run(json.loads(target)), True
    except (OSError, MemoryError) as error:
        detail, succeeded = f"{type(error).__name__}: {error}".rstrip(": "), False
    print(json.dumps({"open": succeeded, "detail": detail}))


def read_gold(target: Target) -> str:
    """Read the gold answers of a benchmark."""
    return _read_any(_ways_to(target["gold"]), target["secret"])


def read_trace(target: Target) -> str:
    """Read another run's trace."""
    return _read_any(_ways_to(target["trace"]), target["secret"])


def read_raw(target: Target) -> str:
    """Read the gold answers by system calls."""
    descriptor = raw.call("openat", raw.AT_FDCWD, target["gold"].encode(), os.O_RDONLY, 0)
    try:
        return _proof(os.read(descriptor, 1000), target["secret"])
    finally:
        os.close(descriptor)


def read_environment(target: Target) -> str:
    """Read the harness's environment, where its keys are."""
    return _read_any(_of_processes(target, "environ"), target["secret"])


def read_command_line(target: Target) -> str:
    """Read the harness's command line."""
    return _read_any(_of_processes(target, "cmdline"), target["secret"])


def read_memory(target: Target) -> str:
    """Read the harness's memory through /proc."""
    with open(f"/proc/{target['pid']}/mem", "rb", buffering=0) as memory:  # noqa: PTH123
        memory.seek(target["address"])
        return _proof(memory.read(len(target["secret"])), target["secret"])


def read_memory_raw(target: Target) -> str:
    """Read the harness's memory by a system call."""
    data = raw.read_memory(target["pid"], target["address"], len(target["secret"]))
    return _proof(data, target["secret"])


def send_signal(target: Target) -> str:
    """Send the harness a signal."""
    os.kill(target["pid"], signal.SIGUSR1)
    return f"process {target['pid']} got SIGUSR1"


def send_signal_raw(target: Target) -> str:
    """Send the harness a signal by a system call."""
    raw.call("kill", target["pid"], int(signal.SIGUSR1))
    return f"process {target['pid']} got SIGUSR1"


def connect_tcp(target: Target) -> str:
    """Reach a server on this machine."""
    with socket.create_connection(("127.0.0.1", target["tcp"]), _REPLY_SECONDS) as sock:
        return _proof(sock.recv(100), target["secret"])


def connect_tcp_raw(target: Target) -> str:
    """Reach a server on this machine by system calls."""
    descriptor = raw.call("socket", socket.AF_INET, socket.SOCK_STREAM, 0)
    with socket.socket(fileno=descriptor) as sock:
        address = raw.internet_address("127.0.0.1", target["tcp"])
        raw.call("connect", sock.fileno(), address, len(address))
        sock.settimeout(_REPLY_SECONDS)
        return _proof(sock.recv(100), target["secret"])


def send_udp(target: Target) -> str:
    """Exchange a datagram."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(_REPLY_SECONDS)
        sock.sendto(b"hello", ("127.0.0.1", target["udp"]))
        return _proof(sock.recv(100), target["secret"])


def ask_dns(target: Target) -> str:
    """Ask a name server, as a resolver does: a datagram on a connected socket."""
    query = bytes.fromhex("1234010000010000000000000765786d616d706c65036f72670000010001")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(_REPLY_SECONDS)
        sock.connect(("127.0.0.1", target["udp"]))
        sock.send(query)
        return _proof(sock.recv(100), target["secret"])


def connect_abstract(target: Target) -> str:
    """Reach an abstract Unix socket."""
    return _connect_unix("\0" + target["abstract"], target["secret"])


def connect_path(target: Target) -> str:
    """Reach a Unix socket in the file system."""
    return _connect_unix(target["socket"], target["secret"])


def write_outside(target: Target) -> str:
    """Leave a file outside the scratch folder."""
    package = str(Path(__file__).parent)
    folders = [target["folder"], "/tmp", "/var/tmp", "/dev", "/etc", "/usr", "/", sys.prefix]
    name = f"attack-{os.getpid()}-{time.monotonic_ns()}"
    problem: OSError = Refused("nothing could be written")
    for folder in [*folders, package]:
        path = Path(folder, name)
        try:
            path.write_text("attack")
        except OSError as error:
            problem = error
        else:
            path.unlink()
            return f"wrote {path}"
    raise problem


def _ways_to(path: str) -> list[str]:
    """A file's path, and ways around a view of the file system."""
    return [path, f"/proc/1/root{path}", f"/proc/self/cwd/{'../' * 12}{path}", f"/old_root{path}"]


def _of_processes(target: Target, name: str) -> list[str]:
    """A file of the harness in /proc, and of every process that is seen there."""
    try:
        seen = [entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    except OSError:
        seen = []
    return [f"/proc/{pid}/{name}" for pid in (target["pid"], *seen)]


def _read_any(paths: list[str], secret: str) -> str:
    problem: OSError = Refused("the secret is in none of them")
    for path in paths:
        try:
            return _proof(Path(path).read_bytes(), secret, path)
        except OSError as error:
            problem = error if path == paths[0] else problem
    raise problem


def _proof(data: bytes, secret: str, where: str = "") -> str:
    if secret.encode() not in data:
        raise Refused("the secret is not in it")
    return f"got the secret {where}".rstrip()


def _connect_unix(address: str, secret: str) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(_REPLY_SECONDS)
        sock.connect(address)
        return _proof(sock.recv(100), secret)


ATTACKS: Final = (
    Attack("gold-file", "read a gold file", read_gold),
    Attack("gold-file-raw", "read a gold file, by system calls", read_raw),
    Attack("other-trace", "read another run's trace", read_trace),
    Attack("harness-environment", "read the harness's environment", read_environment),
    Attack("harness-command-line", "read the harness's command line", read_command_line),
    Attack("harness-memory", "read the harness's memory", read_memory),
    Attack("harness-memory-raw", "read the harness's memory, by a system call", read_memory_raw),
    Attack("harness-signal", "send the harness a signal", send_signal),
    Attack("harness-signal-raw", "send it a signal, by a system call", send_signal_raw),
    Attack("tcp", "reach a TCP server on loopback", connect_tcp),
    Attack("tcp-raw", "reach a TCP server, by system calls", connect_tcp_raw),
    Attack("udp", "exchange UDP datagrams", send_udp),
    Attack("dns", "ask a name server", ask_dns),
    Attack("abstract-socket", "reach an abstract Unix socket", connect_abstract),
    Attack("path-socket", "reach a Unix socket outside its folder", connect_path),
    Attack("write-outside", "write outside the scratch folder", write_outside),
    Attack(
        "privileges", "get capabilities in a user namespace", exhaustion_attacks.become_privileged
    ),
    Attack("memory", "allocate 3 GiB", exhaustion_attacks.allocate, ends_kernel=True),
    Attack(
        "memory-raw",
        "allocate 3 GiB, by a system call",
        exhaustion_attacks.allocate_raw,
        ends_kernel=True,
    ),
    Attack(
        "fill-scratch",
        "fill the disk from the scratch folder",
        exhaustion_attacks.fill_scratch,
        ends_kernel=True,
    ),
    Attack(
        "fill-outputs",
        "fill the disk from the outputs' folder",
        exhaustion_attacks.fill_outputs,
        True,
    ),
    *(
        Attack(f"connection-{name}", f"harness connection: {title}", function, ends_kernel=True)
        for name, title, function in connection_attacks.ATTACKS
    ),
    Attack("left-child", "leave a process behind (setsid)", exhaustion_attacks.leave_child),
    Attack(
        "fork-bomb", "start processes without end", exhaustion_attacks.fork_bomb, ends_kernel=True
    ),
)
"""Every attack, the most dangerous last."""

BY_NAME: Final = {attack.name: attack for attack in ATTACKS}
