"""Confines its own process with Landlock and its helpers, then becomes the kernel.

Run as a script by path: ``restrict.py SETTINGS COMMAND...``, where SETTINGS is a JSON object (see
``Settings``). Standard library only, and nothing of it that starts threads.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import stat
import sys
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIBC = ctypes.CDLL(None, use_errno=True)
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_RULE_PATH_BENEATH = 1
_RULESET_VERSION = 1

# Landlock's rights, by bit.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1 << 0, 1 << 1
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_LOOK_UP = _READ_FILE | _READ_DIR | _EXECUTE

_CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWNET = 0x08000000, 0x10000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP = 1, 22, 24
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION = 0x20080522


class Settings(TypedDict):
    """What the launcher tells.

    Attributes:
        connection: descriptor that the kernel inherits.
        watch: what ``kernel.confinement.watch`` is told.
        readable: files and folders to read and execute from.
        hidden: folders below them that are not to be read.
        writable: folders to write to.
        devices: device files to read and write.
        namespaces: whether to use a user, network and ipc namespace where they are allowed.
        count_threads: whether a user namespace counts its threads for itself.
        filters: seccomp programs in hexadecimal: without and with a network of its own.
        limits: as in ``kernel.confinement.limits``.
    """

    connection: int
    watch: dict[str, Any]
    readable: list[str]
    hidden: list[str]
    writable: list[str]
    devices: list[str]
    namespaces: bool
    count_threads: bool
    filters: list[str]
    limits: dict[str, int]


def main(settings: Settings, command: list[str]) -> NoReturn:
    """Start the watcher, confine this process and become the kernel."""
    supervisor = os.getppid()
    _start_watcher(settings)
    own_network = settings["namespaces"] and _allows_namespaces()
    if own_network:
        _enter_namespaces()
    _set_limits(settings, own_network)
    _drop_capabilities()
    _must(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _restrict_files(settings)
    # A change of credentials takes the signal back.
    _must(_LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "die with the supervisor")
    if os.getppid() != supervisor:
        os._exit(1)
    _filter_calls(bytes.fromhex(settings["filters"][own_network]))
    os.set_inheritable(settings["connection"], True)
    os.execv(command[0], command)


# The watcher: a sibling of the kernel, outside its confinement.


def _start_watcher(settings: Settings) -> None:
    kernel = os.getpid()
    between = os.fork()
    if between == 0:
        if os.fork() == 0:
            os.close(settings["connection"])
            _watch(settings["watch"], kernel)
        os._exit(0)  # the supervisor adopts the watcher
    os.waitpid(between, 0)
    os.close(settings["watch"]["why"])


def _watch(settings: Any, kernel: int) -> NoReturn:
    # Run by path, with nothing said of where this package lies.
    sys.path.append(__file__.rsplit("/", 3)[0])
    from kernel.confinement import watch

    try:
        watch.main(settings, kernel)
    finally:
        os.kill(kernel, signal.SIGKILL)  # never without a watcher
        os._exit(0)


# Namespaces.


def _allows_namespaces() -> bool:
    """Whether the namespaces can be entered: there is no way back from half of it."""
    child = os.fork()
    if child == 0:
        try:
            _enter_namespaces()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def _enter_namespaces() -> None:
    user, group = os.geteuid(), os.getegid()
    flags = _CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC
    _must(_LIBC.unshare(flags), "make namespaces")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


# Limits and capabilities.


def _set_limits(settings: Settings, own_user_namespace: bool) -> None:
    limits = settings["limits"]
    threads = limits["processes"]
    if os.getuid() != 0 and not (own_user_namespace and settings["count_threads"]):
        threads += _threads_of_user()  # the bound is the user's, over all that runs here
    for kind, bound in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["files"]),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_NPROC, threads),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


def _threads_of_user() -> int:
    from pathlib import Path  # a fifth of this script's time, and seldom needed

    total = 0
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                total += len(list((entry / "task").iterdir()))
        except OSError:
            continue
    return total


def _drop_capabilities() -> None:
    number = 0
    while _LIBC.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) == 0:
        number += 1
    _LIBC.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _must(_LIBC.capset(header, (ctypes.c_uint32 * 6)()), "drop capabilities")


# Landlock.


def landlock_abi() -> int:
    """The version of Landlock that this Linux has.

    Raises:
        OSError: where it has none (ENOSYS) or it is switched off (EOPNOTSUPP).
    """
    version: int = _LIBC.syscall(_CREATE_RULESET, None, 0, _RULESET_VERSION)
    if version < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return version


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


def handled(abi: int) -> tuple[int, int, int]:
    """What a version of Landlock can refuse: rights to files, to the network, and scopes.

    Version 2 adds links and renames between folders, 3 truncation, 4 TCP, 5 the controls of
    devices, 6 signals and abstract sockets. What later versions add, the seccomp filter refuses.
    """
    files = (1 << 13) - 1
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        files |= right if abi >= since else 0
    network = _BIND_TCP | _CONNECT_TCP if abi >= 4 else 0
    scopes = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS if abi >= 6 else 0
    return files, network, scopes


def _restrict_files(settings: Settings) -> None:
    files, network, scopes = handled(landlock_abi())
    attributes = _Ruleset(files, network, scopes)
    ruleset = _LIBC.syscall(
        _CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(ctypes.sizeof(attributes)), 0
    )
    _must(min(ruleset, 0), "make a Landlock ruleset")
    write = files & ~(_EXECUTE | _MAKE_CHAR | _MAKE_BLOCK | _IOCTL_DEV)
    read = files & _LOOK_UP
    for path, rights in _readable(settings["readable"], settings["hidden"], read):
        _allow(ruleset, path, rights)
    _allow(ruleset, "/proc/self", read & ~_EXECUTE)
    for path in settings["devices"]:
        _allow(ruleset, path, files & (_READ_FILE | _WRITE_FILE | _TRUNCATE))
    for path in settings["writable"]:
        _allow(ruleset, path, write)
    _must(_LIBC.syscall(_RESTRICT_SELF, ruleset, 0), "restrict itself")
    os.close(ruleset)


def _readable(paths: list[str], hidden: list[str], rights: int) -> Iterator[tuple[str, int]]:
    """Rules for paths without what is hidden below them: a rule always holds for all below."""
    for path in paths:
        if path in hidden:
            continue
        if any(other.startswith(path + "/") for other in hidden):
            yield path, rights & _READ_DIR  # names alone: an import looks for them
            inner = [entry.path for entry in os.scandir(path) if not entry.is_symlink()]
            yield from _readable(inner, hidden, rights)
        else:
            yield path, rights


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _FILE_RIGHTS
        if rights:
            rule = _PathBeneath(rights, descriptor)
            added = _LIBC.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0)
            _must(added, f"allow {path}")
    finally:
        os.close(descriptor)


# Seccomp.


class _Program(ctypes.Structure):
    _fields_ = (("steps", ctypes.c_ushort), ("code", ctypes.c_char_p))


def _filter_calls(code: bytes) -> None:
    program = _Program(len(code) // 8, code)
    _must(
        _LIBC.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
        "filter system calls",
    )


def _must(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"cannot {what}: {os.strerror(number)}")


def unsupported() -> str | None:
    """Why this Linux has not what is needed, in one line; None where it has."""
    try:
        landlock_abi()
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            return "Landlock is switched off: add landlock to the boot option lsm="
        return "this Linux has no Landlock, or a container's filter hides it (5.13 has it)"
    return None


def _run(arguments: list[str]) -> Any:
    try:
        main(json.loads(arguments[0]), arguments[1:])
    except OSError as error:
        print(f"the kernel cannot be confined: {error}", file=sys.stderr, flush=True)
        os._exit(1)


if __name__ == "__main__":
    _run(sys.argv[1:])
