"""First process of a bubblewrap namespace: closes the last doors, then keeps the kernel.

Run as a script by path: ``warden.py SETTINGS COMMAND...``, where SETTINGS is a JSON object (see
``Settings``). It ends with the kernel, and the namespace ends with it. Standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any, NoReturn, TypedDict

if __name__ == "__main__":  # run by path, with nothing said of where this package lies
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from kernel.confinement import usage

_LOOK_EVERY = 250  # milliseconds between looks at what the kernel uses
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 4, 24, 38
_CAPABILITY_VERSION = 0x20080522
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2


class Settings(TypedDict):
    """What the launcher tells.

    Attributes:
        orders: descriptor of a socket: each byte read is an interrupt, its end is the harness's
            end, and the report ``{"exit": 7}``, ``{"signal": 9}`` or ``{"why": "..."}`` is
            written to it.
        connection: descriptor that the kernel inherits.
        home: the scratch folder, a file system of its own.
        shared: folders on the machine's disk.
        pid_max: whether process numbers can be bounded in this namespace.
        count_threads: whether the limit of a user's threads is this namespace's own.
        filter: seccomp program in hexadecimal, or "" for none.
        limits: as in ``kernel.confinement.limits``.
    """

    orders: int
    connection: int
    home: str
    shared: list[str]
    pid_max: bool
    count_threads: bool
    filter: str
    limits: dict[str, int]


def main(settings: Settings, command: list[str]) -> NoReturn:
    """Confine this process, start the kernel below it and wait for its end."""
    _close_doors(settings)
    os.environ.pop("PWD", None)
    Path(settings["home"], ".shm").mkdir(0o700)  # where /dev/shm leads
    orders = socket.socket(fileno=settings["orders"])
    orders.set_inheritable(False)
    woken, waker = os.pipe()
    for descriptor in (woken, waker):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel = os.fork()
    if kernel == 0:
        signal.set_wakeup_fd(-1)
        _become(settings, command)
    os.close(settings["connection"])
    report = _watch(kernel, orders, woken, settings)
    with contextlib.suppress(OSError):  # where nobody is left to be told
        orders.send(json.dumps(report).encode())
    os._exit(report.get("exit", 1))


def _become(settings: Settings, command: list[str]) -> NoReturn:
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _set_limits(settings)
        os.set_inheritable(settings["connection"], True)
        _refuse_calls(bytes.fromhex(settings["filter"]))
        os.execv(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error}", file=sys.stderr, flush=True)
        os._exit(127)


def _watch(kernel: int, orders: socket.socket, woken: int, settings: Settings) -> dict[str, Any]:
    """Pass interrupts on until the kernel ends or must be ended; return the report."""
    poll = select.poll()
    poll.register(orders, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        ready = dict(poll.poll(_LOOK_EVERY))
        if woken in ready:
            os.read(woken, 4096)
            status = _reap(kernel)
            if status is not None:
                return status
        if orders.fileno() in ready:
            if not orders.recv(4096):
                return {"why": "the harness is gone"}
            os.kill(kernel, signal.SIGINT)
        processes = [entry for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        why = usage.excess(processes, settings["shared"], settings["limits"])
        if why:
            return {"why": why}


def _reap(kernel: int) -> dict[str, Any] | None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return {"exit": 1}
        if pid == 0:
            return None
        if pid == kernel:
            if os.WIFSIGNALED(status):
                return {"signal": os.WTERMSIG(status)}
            return {"exit": os.WEXITSTATUS(status)}


def _close_doors(settings: Settings) -> None:
    """Bound this namespace, show no more of /proc than processes, drop every capability."""
    libc = ctypes.CDLL(None, use_errno=True)
    _write_bounds(libc, settings)
    flags = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    _must(libc.mount(b"proc", b"/proc", b"proc", flags, b"subset=pid"), "mount /proc")
    _must(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    number = 0
    while libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) == 0:
        number += 1
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _must(libc.capset(header, (ctypes.c_uint32 * 6)()), "drop capabilities")
    _must(libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "become unreadable")


def _write_bounds(libc: ctypes.CDLL, settings: Settings) -> None:
    """Write this namespace's own system settings, through a /proc that is gone afterwards."""
    place = settings["home"]
    _must(libc.mount(b"proc", place.encode(), b"proc", 0, None), "mount a /proc of its own")
    try:
        folder = Path(place, "sys")
        # A user namespace of its own would give the model capabilities and mounts.
        (folder / "user/max_user_namespaces").write_text("0")
        if settings["pid_max"]:
            _write_pid_max(folder / "kernel/pid_max", settings["limits"]["processes"])
    finally:
        _must(libc.umount2(place.encode(), 0), "unmount it")


def _write_pid_max(file: Path, number: int) -> None:
    """Write the bound, or the lowest one allowed on a machine of many processors."""
    while True:
        try:
            file.write_text(str(number))
            return
        except OSError:
            number *= 2
            if number > 1 << 22:
                raise


def _set_limits(settings: Settings) -> None:
    limits = settings["limits"]
    bounds = {
        resource.RLIMIT_AS: limits["memory"],
        resource.RLIMIT_FSIZE: limits["files"],
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_MSGQUEUE: 0,
    }
    if settings["count_threads"]:
        bounds[resource.RLIMIT_NPROC] = limits["processes"]
    for kind, bound in bounds.items():
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


def _refuse_calls(program: bytes) -> None:
    """Install a seccomp filter."""
    if program:
        code = ctypes.create_string_buffer(program, len(program))
        head = _Program(len(program) // 8, ctypes.addressof(code))
        libc = ctypes.CDLL(None, use_errno=True)
        _must(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(head)), "filter calls")


class _Program(ctypes.Structure):
    """``struct sock_fprog``."""

    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def _must(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"cannot {what}: {os.strerror(number)}")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
