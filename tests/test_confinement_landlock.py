"""Confinement ``landlock``: real kernels under attack; each attack works where nothing confines."""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if sys.platform != "linux":
    pytest.skip("Landlock needs Linux", allow_module_level=True)

from kernel.confinement import landlock
from kernel.confinement.landlock import LandlockLauncher, unavailable
from kernel.confinement.limits import Limits
from kernel.launcher import PlainLauncher
from tests.support import kernels
from tests.support.kernels import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.interpreter import CellResult
    from kernel.launcher import Launcher

if unavailable() and not os.environ.get("CI"):
    pytest.skip(str(unavailable()), allow_module_level=True)

HANG = 30.0
MIB = 1 << 20
SECRET = b"the harness keeps this to itself"
DONE = "the attack worked"


class Kernel(kernels.Kernel):
    """A kernel with a launcher of its own, for code as it stands in a test."""

    def __init__(self, folder: Path, launcher: Launcher, seconds: float = HANG) -> None:
        super().__init__(folder, seconds, launcher, output_limit=10_000)

    def run(self, code: str) -> CellResult:
        return super().run(textwrap.dedent(code))

    def attack(self, code: str) -> bool:
        """Whether code reaches its end."""
        result = self.run(textwrap.dedent(code).rstrip() + f"\nprint({DONE!r})")
        assert result.status in ("ok", "error"), result
        return DONE in result.output


@pytest.fixture(scope="module")
def plain(tmp_path_factory: Any) -> Iterator[Kernel]:
    kernel = Kernel(tmp_path_factory.mktemp("plain"), PlainLauncher())
    yield kernel
    kernel.interpreter.close()


@pytest.fixture(scope="module", params=[True, False], ids=["namespaces", "no-namespaces"])
def kernel(request: Any, tmp_path_factory: Any) -> Iterator[Kernel]:
    launcher = LandlockLauncher(namespaces=request.param)
    kernel = Kernel(tmp_path_factory.mktemp("outputs"), launcher)
    yield kernel
    kernel.interpreter.close()


@contextlib.contextmanager
def limited(folder: Path, **limits: int) -> Iterator[Kernel]:
    kernel = Kernel(folder, LandlockLauncher(Limits(**limits)))
    try:
        yield kernel
    finally:
        kernel.interpreter.close()


@pytest.fixture
def victim() -> Iterator[int]:
    process = subprocess.Popen(["sleep", "600"])
    yield process.pid
    process.kill()
    process.wait()


def with_argument(word: str) -> list[int]:
    """Processes with a word among their arguments."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if word.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
    return found


# It is a kernel like any other.


def test_variables_stay_and_calls_reach_the_harness(kernel: Kernel) -> None:
    assert kernel.interpreter.confinement == "landlock"
    kernel.run("kept = 41")
    assert kernel.shown("claims('Q1')['id'], kept + 1") == "('Q1', 42)"
    assert kernel.shown("!echo from shell") == "from shell"
    assert kernel.shown("import shutil\nopen('a', 'w').write('x')\nshutil.copy2('a', 'b')") == "'b'"
    assert kernel.shown("import numpy\nfloat((numpy.ones((9, 9)) @ numpy.ones(9)).sum())") == "81.0"


def test_an_interrupt_keeps_the_state(kernel: Kernel) -> None:
    kernel.run("kept = 'yes'")
    for code in ("import time; time.sleep(999)", "while True: pass", "!sleep 999"):
        timer = threading.Timer(0.3, kernel.interpreter.interrupt)
        timer.start()
        assert kernel.run(code).status == "interrupted"
        assert kernel.shown("kept") == "'yes'"


def test_a_killed_kernel_is_replaced_and_files_stay(kernel: Kernel) -> None:
    kernel.run("alpha = 1\nopen('stays', 'w').write('here')")
    result = kernel.run("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert result.status == "restarted"
    assert result.notice is not None
    assert "killed by SIGKILL" in result.notice
    assert "alpha" in result.lost
    kernel.interpreter.restart()
    assert kernel.shown("open('stays').read()") == "'here'"


def test_it_has_no_rights(kernel: Kernel) -> None:
    code = "print(open('/proc/self/status').read())\nimport os\nprint(*os.listdir('/proc/self/fd'))"
    lines = dict(line.split(":\t", 1) for line in kernel.shown(code).splitlines() if ":\t" in line)
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(lines[name], 16) == 0
    # Without namespaces only root may give the bounding set up; no_new_privs makes it void.
    if os.geteuid() == 0:
        assert int(lines["CapBnd"], 16) == 0
    assert lines["NoNewPrivs"] == "1"
    assert lines["Seccomp"] == "2"


# Files and other processes.


def test_it_reads_nothing_of_ours(kernel: Kernel, plain: Kernel, tmp_path: Path) -> None:
    gold = tmp_path / "gold.json"
    gold.write_text("Q42")
    for code in (
        f"open({str(gold)!r}).read()",
        f"import os; os.listdir({str(tmp_path)!r})",
        f"import os; os.link({str(gold)!r}, 'l{os.urandom(3).hex()}')",
        f"import os; os.symlink({str(gold)!r}, os.urandom(4).hex()); open('/proc/self/root{gold}')",
        f"import os; os.open({str(gold)!r}, os.O_RDONLY | os.O_DIRECT)",
        "import subprocess; assert subprocess.run(['cat', "
        + repr(str(gold))
        + "]).returncode == 0",
        f"open({str(Path(__file__).resolve())!r}).read()",
        "import glob; open(glob.glob('/root/.bash*')[0]).read()"
        if glob_root()
        else "open('/etc/passwd').read()",
    ):
        assert plain.attack(code), code
        assert not kernel.attack(code), code


def glob_root() -> bool:
    try:
        return any(path.name.startswith(".bash") for path in Path("/root").iterdir())
    except PermissionError:
        return False


def test_it_does_not_see_the_harness(kernel: Kernel, plain: Kernel) -> None:
    pid = os.getpid()
    for name in ("environ", "cmdline", "status", "maps", "fd"):
        look = "import os; os.listdir" if name == "fd" else "open"
        code = f"{look}('/proc/{pid}/{name}')"
        assert plain.attack(code), code
        assert not kernel.attack(code), code
    assert plain.attack("import os; os.listdir('/proc')")
    assert not kernel.attack("import os; os.listdir('/proc')")
    # Documented as open: that a file is there and how large it is.
    assert "file-metadata" in landlock.KNOWN_OPEN
    assert kernel.attack(f"import os; os.stat({str(Path(__file__).resolve())!r})")


def test_it_does_not_read_the_memory_of_the_harness(kernel: Kernel, plain: Kernel) -> None:
    import ctypes

    held = ctypes.create_string_buffer(SECRET)
    address, size, pid = ctypes.addressof(held), len(SECRET), os.getpid()
    by_file = f"""
        with open('/proc/{pid}/mem', 'rb', 0) as file:
            file.seek({address})
            assert file.read({size}) == {SECRET!r}
    """
    number = {"x86_64": 310, "aarch64": 270}[platform.machine()]
    by_call = f"""
        import ctypes
        class Part(ctypes.Structure):
            _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]
        here = ctypes.create_string_buffer({size})
        ours, theirs = Part(ctypes.addressof(here), {size}), Part({address}, {size})
        call = ctypes.CDLL(None).syscall
        got = call({number}, {pid}, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
        assert got == {size} and here.raw == {SECRET!r}
    """
    for code in (by_file, by_call):
        if allows_attach():
            assert plain.attack(code), code
        assert not kernel.attack(code), code


def allows_attach() -> bool:
    """Whether a process may read its parent's memory at all (Yama)."""
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    return os.geteuid() == 0 or not scope.exists() or scope.read_text().strip() == "0"


def test_it_signals_nobody(kernel: Kernel, plain: Kernel, victim: int) -> None:
    numbers = {"x86_64": (62, 234, 200), "aarch64": (129, 131, 130)}[platform.machine()]
    raw = "import ctypes; assert ctypes.CDLL(None).syscall"
    for code in (
        f"import os; os.kill({victim}, 0)",
        f"{raw}({numbers[0]}, {victim}, 0) == 0",
        f"{raw}({numbers[1]}, {victim}, {victim}, 0) == 0",
        f"{raw}({numbers[2]}, {victim}, 0) == 0",
        f"import os, signal; signal.pidfd_send_signal(os.pidfd_open({victim}), 0)",
        f"import os; os.kill({os.getpid()}, 0)",
        f"import os; os.setpriority(os.PRIO_PROCESS, {victim}, 5)",
        f"import resource; resource.prlimit({victim}, resource.RLIMIT_NOFILE, (100, 100))",
        f"import os; os.kill({victim}, 9)",
    ):
        if "kill({victim}, 9)" not in code:
            assert not kernel.attack(code), code
        assert plain.attack(code), code
    # Its own children are its own business.
    own = "import subprocess; p = subprocess.Popen(['sleep', '99']); p.kill(); p.wait()"
    assert kernel.attack(own)


def test_it_writes_nowhere_else(kernel: Kernel, plain: Kernel, tmp_path: Path) -> None:
    for work in (
        "open({}, 'w')",
        "import os; os.mkdir({} + '/new')",
        "import os; os.truncate({} + '/old', 0)",
        "import os; os.rename('mine', {} + '/mine')",
        "import os; os.symlink('/', {} + '/link')",
        "import os; os.unlink({} + '/old')",
        "import os; os.mkfifo({} + '/pipe')",
        "import os; os.setxattr({} + '/old', 'user.mark', b'1')",
        "import socket; socket.socket(socket.AF_UNIX).bind({} + '/socket')",
        "import os; os.chmod({} + '/old', 0); assert os.stat({} + '/old').st_mode & 0o777 == 0",
        "import os; os.utime({} + '/old', (1, 1)); assert os.stat({} + '/old').st_mtime == 1",
    ):
        for place, attacked in ((tmp_path / "in", kernel), (tmp_path / "out", plain)):
            place.mkdir(exist_ok=True)
            (place / "old").unlink(missing_ok=True)
            (place / "old").write_text("content")
            (place / "old").chmod(0o600)
            attacked.run("open('mine', 'w').close()")
            target = str(place / "file" if work.startswith("open") else place)
            worked = attacked.attack(work.replace("{}", repr(target)))
            assert worked == (attacked is plain), work
    assert {path.name for path in (tmp_path / "in").iterdir()} == {"old"}
    assert (tmp_path / "in" / "old").read_text() == "content"
    for folder in ("/tmp", "/dev/shm", "/var/tmp", str(Path(sys.prefix))):
        assert not kernel.attack(f"open({folder!r} + '/x', 'w')")
    assert kernel.shown("import tempfile\ntempfile.gettempdir()").endswith("/home'")


def test_our_other_packages_are_hidden_where_they_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "lib" / "site-packages"
    for name in ("shown", "questions"):
        (site / name).mkdir(parents=True)
        (site / name / "data.json").write_text("Q42")
    paths = landlock.readable_paths()
    monkeypatch.setattr(landlock, "readable_paths", lambda: [*paths, tmp_path])
    monkeypatch.setattr(landlock, "hidden_paths", lambda readable: [site / "questions"])
    with limited(tmp_path / "outputs") as kernel:
        assert kernel.shown(f"open('{site}/shown/data.json').read()") == "'Q42'"
        assert kernel.shown(f"import os; sorted(os.listdir('{site}'))") == "['questions', 'shown']"
        assert not kernel.attack(f"open('{site}/questions/data.json')")


# Network.


@contextlib.contextmanager
def listening(family: int, kind: int, address: Any) -> Iterator[socket.socket]:
    with socket.socket(family, kind) as server:
        server.bind(address)
        server.settimeout(5)
        if kind == socket.SOCK_STREAM:
            server.listen(50)
        yield server


def test_it_reaches_no_address(kernel: Kernel, plain: Kernel, tmp_path: Path) -> None:
    loopback = ("127.0.0.1", 0)
    unix = str(tmp_path / "socket")
    abstract = f"\0wrlm-{os.getpid()}"
    sockets = "import socket\nfrom socket import *\n"
    for family, kind, bound in (
        (socket.AF_INET, socket.SOCK_STREAM, loopback),
        (socket.AF_INET, socket.SOCK_DGRAM, loopback),
        (socket.AF_UNIX, socket.SOCK_STREAM, unix),
        (socket.AF_UNIX, socket.SOCK_DGRAM, unix + "-datagrams"),
        (socket.AF_UNIX, socket.SOCK_STREAM, abstract),
        (socket.AF_UNIX, socket.SOCK_DGRAM, abstract),
    ):
        with listening(family, kind, bound) as server:
            code = sockets + f"s = socket({int(family)}, {int(kind)})\n"
            address = server.getsockname()
            if isinstance(address, bytes):
                address = address.decode()
            connect = code + f"s.connect({address!r})\ns.send(b'hello')"
            others = []
            if kind == socket.SOCK_DGRAM:
                others.append(code + f"s.sendto(b'hello', {address!r})")
                others.append(code + f"s.sendmsg([b'hello'], [], 0, {address!r})")
                if family == socket.AF_UNIX:
                    pair = "s, _ = socketpair(AF_UNIX, SOCK_DGRAM)\n"
                    others.append(sockets + pair + f"s.sendto(b'hello', {address!r})")
            elif family == socket.AF_INET:
                others.append(code + f"s.sendto(b'hello', 0x20000000, {address!r})")
                others.append(code + f"s.sendmsg([b'hello'], [], 0x20000000, {address!r})")
            for attack in (connect, *others):
                assert not reached(kernel, attack, server), attack
                assert reached(plain, attack, server), attack


def reached(kernel: Kernel, attack: str, server: socket.socket) -> bool:
    """Whether something came to a server; nothing may be waiting there before."""
    worked = kernel.attack(attack)
    server.settimeout(5 if worked else 0.05)
    try:
        if server.type == socket.SOCK_STREAM:
            connection, _ = server.accept()
            with connection:
                connection.settimeout(5)
                return bool(connection.recv(9))
        return bool(server.recv(9))
    except (TimeoutError, BlockingIOError):
        return False


def test_it_makes_no_other_sockets(kernel: Kernel, plain: Kernel) -> None:
    for code in (
        "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9)",  # audit
        "import socket; socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)",
    ):
        if not plain.attack(code):
            continue  # this Linux has no such family
        assert not kernel.attack(code), code


# System calls that nothing else refuses.

CALLS = {
    # name: (x86_64, aarch64, arguments)
    "add_key": (248, 217, "b'user', b'a', b'b', 1, -3"),
    "bpf": (321, 280, "99, None, 0"),
    "io_uring_setup": (425, 425, "1, None"),
    "keyctl": (250, 219, "0, -3, 0"),
    "memfd_create": (319, 279, "b'a', 0"),
    "mount": (165, 40, "None, b'/nowhere', None, 0, None"),
    "perf_event_open": (298, 241, "None, 0, -1, -1, 0"),
    "ptrace": (101, 117, "0xffff, 0, 0, 0"),
    "shmget": (29, 194, "0, 4096, 0o600"),
    "unshare": (272, 97, "0"),
    "userfaultfd": (323, 282, "-1"),
    "inotify_init1": (294, 26, "0"),
    "kexec_load": (246, 104, "0, 0, None, -1"),
    "prctl": (157, 167, "1, 0, 0, 0, 0"),
}


def test_dangerous_calls_are_refused(kernel: Kernel, plain: Kernel) -> None:
    column = 0 if platform.machine() == "x86_64" else 1
    errors = {}
    for place in (kernel, plain):
        lines = ["import ctypes", "libc = ctypes.CDLL(None, use_errno=True)"]
        for name, call in CALLS.items():
            lines.append("ctypes.set_errno(0)")
            lines.append(f"_ = libc.syscall({call[column]}, {call[2]})")
            lines.append(f"print({name!r}, ctypes.get_errno())")
        errors[place] = dict(line.split() for line in place.shown("\n".join(lines)).splitlines())
    assert errors[kernel] == dict.fromkeys(CALLS, "1")
    if os.geteuid() == 0:  # others are refused some of them anywhere
        assert "1" not in errors[plain].values()


def test_no_new_namespace_and_no_call_of_another_table(kernel: Kernel) -> None:
    number, last = {"x86_64": (56, 0x40000000 + 39), "aarch64": (220, 2000)}[platform.machine()]
    code = f"""
        import ctypes, errno
        libc = ctypes.CDLL(None, use_errno=True)
        for call in (({number}, 0x10000000 | 17, 0, 0, 0, 0), (435, None, 0), ({last},), (463,)):
            assert libc.syscall(*call) == -1
            print(errno.errorcode[ctypes.get_errno()])
    """
    assert kernel.shown(code).split() == ["EPERM", "ENOSYS", "ENOSYS", "ENOSYS"]


# Bounds.


def test_b16_3_gb_are_refused_and_the_kernel_lives(kernel: Kernel, plain: Kernel) -> None:
    mapped = "import mmap; mmap.mmap(-1, 3 << 30).close()"
    assert plain.attack(mapped)
    assert not kernel.attack(mapped)
    assert kernel.run("bytearray(3 << 30)").error == "MemoryError"
    assert kernel.shown("1 + 1") == "2"


def test_processes_cannot_share_more_memory_out(tmp_path: Path) -> None:
    code = """
        import os, time
        for _ in range(4):
            if os.fork() == 0:
                held = bytearray(os.urandom(1 << 20) * 100)
                time.sleep(60)
        time.sleep(60)
    """
    with limited(tmp_path, total_memory=300 * MIB) as kernel:
        result = kernel.run("alpha = 1\n" + textwrap.dedent(code))
        assert result.status == "restarted"
        assert result.seconds < HANG / 2
        assert result.notice is not None
        assert "its processes used more than 0.292969 GiB of memory" in result.notice
        assert kernel.shown("1 + 1") == "2"


FORKS = """
    import os, time
    for _ in range(150):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    time.sleep(1)
"""


def test_forks_are_bounded(plain: Kernel, tmp_path: Path) -> None:
    assert plain.attack(FORKS)
    plain.interpreter.restart()
    with limited(tmp_path, processes=100) as kernel:
        result = kernel.run(FORKS)
        if result.status == "error":
            # The resource limit, which holds everybody but root.
            assert "BlockingIOError" in str(result.error)
        else:
            assert result.status == "restarted"
            assert result.notice is not None
            assert "more than 100 processes" in result.notice
        kernel.interpreter.restart()
        assert kernel.shown("1 + 1") == "2"


@pytest.mark.parametrize("namespaces", [True, False])
def test_a_fork_bomb_ends(tmp_path: Path, namespaces: bool) -> None:
    launcher = LandlockLauncher(Limits(processes=200), namespaces=namespaces)
    kernel = Kernel(tmp_path, launcher, seconds=4)
    try:
        kernel.run("alpha = 1")
        connection = str(kernel.interpreter.connection_file)
        started = time.monotonic()
        result = kernel.run("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass")
        assert time.monotonic() - started < 4 + HANG
        assert result.status in ("restarted", "interrupted"), result
        assert result.status == "interrupted" or "alpha" in result.lost
        kernel.interpreter.restart()
        assert kernel.shown("1 + 1") == "2"
        assert wait_for(lambda: not with_argument(connection), 5)
    finally:
        kernel.interpreter.close()


MANY_FILES = """
    import time
    for number in range(40):
        open(f'file{number}', 'wb').write(bytes(1 << 20))
    time.sleep(8)
"""
UNLINKED = """
    import os, time
    held = []
    for number in range(40):
        held.append(open('file', 'wb'))
        os.unlink('file')
        held[-1].write(bytes(1 << 20))
    time.sleep(8)
"""
DEEP = """
    import os, time
    for _ in range(200):
        os.mkdir('d')
        os.chdir('d')
    time.sleep(8)
"""
OUTPUT = "for _ in range(40): print('x' * (1 << 20))\nimport time; time.sleep(8)"


@pytest.mark.parametrize("code", [MANY_FILES, UNLINKED, DEEP, OUTPUT])
def test_the_disk_is_not_filled(tmp_path: Path, code: str) -> None:
    with limited(tmp_path, files=20 * MIB, outputs=20 * MIB) as kernel:
        kernel.run("alpha = 1")
        result = kernel.run(code)
        assert result.status == "restarted", result
        assert result.notice is not None
        assert "it put more than 0.0195312 GiB into" in result.notice
        assert result.seconds < 7
        assert kernel.shown("import os; os.listdir('.')") == "['.ipython']"
        time.sleep(1)
        assert kernel.shown("1 + 1") == "2"


def test_the_disk_is_filled_where_nothing_watches(plain: Kernel) -> None:
    assert plain.attack(MANY_FILES.replace("sleep(8)", "sleep(1)"))


def test_no_file_is_larger_than_all_files_may_be(tmp_path: Path) -> None:
    with limited(tmp_path, files=20 * MIB) as kernel:
        result = kernel.run("open('big', 'wb').write(bytes(30 << 20))")
        assert result.error is not None
        assert "File too large" in result.error


# Nothing outlives it.

DAEMON = """
    import os
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv('/usr/bin/sleep', ['sleep', '{seconds}'])
        os._exit(0)
    os.wait()
"""


def test_a_child_in_a_session_of_its_own_ends_with_the_kernel(kernel: Kernel) -> None:
    seconds = f"600.{os.getpid()}"
    kernel.run(DAEMON.replace("{seconds}", seconds))
    assert wait_for(lambda: len(with_argument(seconds)) == 1)
    kernel.interpreter.restart()
    assert not with_argument(seconds)


def test_b15_everything_ends_with_a_killed_harness(tmp_path: Path) -> None:
    script = tmp_path / "harness.py"
    seconds = f"601.{os.getpid()}"
    script.write_text(
        "import sys, time\n"
        "from pathlib import Path\n"
        "from tests.test_confinement_landlock import DAEMON, Kernel, LandlockLauncher\n"
        "kernel = Kernel(Path(sys.argv[1]), LandlockLauncher())\n"
        f"kernel.run(DAEMON.replace('{{seconds}}', {seconds!r}))\n"
        "print(kernel.interpreter.connection_file, flush=True)\n"
        "time.sleep(600)\n"
    )
    root = Path(__file__).resolve().parents[1]
    harness = subprocess.Popen(
        [sys.executable, script, tmp_path], stdout=subprocess.PIPE, text=True, cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip
    assert harness.stdout is not None
    with harness, harness.stdout:
        connection = harness.stdout.readline().strip()
        assert with_argument(connection)
        assert with_argument(seconds)
        harness.send_signal(signal.SIGKILL)
    assert wait_for(lambda: not with_argument(connection) + with_argument(seconds), 10)
    assert wait_for(lambda: not Path(connection).parents[1].exists(), 10)
