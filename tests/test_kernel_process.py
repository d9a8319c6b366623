"""Real kernels under everything that stops, kills or outlives them (B5-B10, B13-B17)."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kernel.interpreter import KernelError
from kernel.ipython_kernel import IPythonInterpreter
from kernel.launcher import LaunchRequest, PlainLauncher
from tests.support.kernels import HANG, SECONDS, Kernel, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator


GRACE = 2.0

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: Any) -> Iterator[Kernel]:
    kernel = Kernel(tmp_path_factory.mktemp("outputs"))
    kernel.interpreter.start()
    yield kernel
    kernel.interpreter.close()


def running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


# What yields to an interrupt keeps its state.


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time\ntime.sleep(999)",
        "import asyncio\nawait asyncio.sleep(999)",
        "await asyncio.sleep(0)\nwhile True: pass",
        "import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')",
        "import threading\nthreading.Event().wait()",
        "import subprocess\nsubprocess.run(['sleep', '999'])",
    ],
)
def test_b5_endless_code_is_interrupted_and_the_state_stays(kernel: Kernel, code: str) -> None:
    kernel.run("kept = 'yes'; import asyncio")
    started = time.monotonic()
    result = kernel.run(code)
    assert time.monotonic() - started < SECONDS + GRACE + HANG
    assert result.status == "interrupted"
    assert result.error is not None
    assert result.error.startswith("KeyboardInterrupt")
    assert result.notice == (
        "The block passed its time limit of 1 s and was interrupted; variables are kept."
    )
    assert kernel.shown("kept") == "'yes'"


def test_a_block_can_be_interrupted_from_outside(kernel: Kernel) -> None:
    kernel.run("kept = 'yes'")
    timer = threading.Timer(0.3, kernel.interpreter.interrupt)
    timer.start()
    result = kernel.run("import time\ntime.sleep(999)")
    assert result.status == "interrupted"
    assert result.notice == "The block was interrupted; variables are kept."
    assert kernel.shown("kept") == "'yes'"
    kernel.interpreter.interrupt()  # between blocks: nothing to stop
    assert kernel.shown("kept") == "'yes'"


def test_b13_an_interrupted_graph_call_does_not_answer_the_next(kernel: Kernel) -> None:
    kernel.host.slow_seconds = 0
    kernel.run("kept = [slow() for _ in range(50)]")  # quick enough to hold the reader up later
    kernel.host.slow_seconds = SECONDS + GRACE + 1
    result = kernel.run("slow()")
    assert result.status == "interrupted"
    assert kernel.shown("len(kept)") == "50"
    assert kernel.shown("claims('Q2')['id']") == "'Q2'"
    time.sleep(GRACE + 1)
    assert kernel.shown("claims('Q3')['id']") == "'Q3'"


def test_graph_map_does_not_hold_an_interrupt_up(kernel: Kernel) -> None:
    kernel.host.slow_seconds = 5
    result = kernel.run("graph_map(slow, [()] * 4)")
    assert result.status == "interrupted"
    kernel.host.slow_seconds = 0
    assert kernel.shown("1 + 1") == "2"


# What does not yield is killed, and the model is told what is gone.


@pytest.mark.parametrize(
    "code",
    [
        "import time\nwhile True:\n    try:\n        time.sleep(1)\n    except BaseException: pass",
        "sum(range(10**12))",
    ],
)
def test_b6_code_that_does_not_yield_costs_the_kernel_and_the_model_is_told(
    kernel: Kernel, code: str
) -> None:
    kernel.run("alpha = 1\ndef beta(): pass\nimport math\n_hidden = 2")
    started = time.monotonic()
    result = kernel.run("print('so far')\n" + code)
    assert time.monotonic() - started < SECONDS + GRACE + HANG
    assert result.status == "restarted"
    assert result.output == "so far\n"
    assert set(result.lost) >= {"alpha", "beta"}
    assert not set(result.lost) & {"math", "_hidden", "claims", "FINAL", "In", "exit"}
    assert result.notice is not None
    assert "passed its time limit of 1 s and did not stop" in result.notice
    assert "alpha" in result.notice
    assert kernel.run("alpha").error == "NameError: name 'alpha' is not defined"
    assert kernel.shown("claims('Q1')['id']") == "'Q1'"


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("import os\nprint('last words')\nos._exit(7)", "exit code 7"),
        ("import ctypes\nprint('last words')\nctypes.string_at(0)", "killed by SIGSEGV"),
        (
            "import os, signal\nprint('last words')\nos.kill(os.getpid(), signal.SIGKILL)",
            "killed by SIGKILL",
        ),
    ],
)
def test_b8_a_dead_kernel_is_told_at_once_and_replaced(kernel: Kernel, code: str, how: str) -> None:
    kernel.run("alpha = 1")
    before = kernel.host.counts["claims"]
    result = kernel.run("claims('Q1')\n" + code)
    assert result.status == "restarted"
    assert result.seconds < SECONDS  # not after the limit
    assert result.notice is not None
    assert how in result.notice
    assert result.lost == ("alpha",)
    assert result.output == "last words\n"
    assert kernel.shown("last_output") == "'last words\\n'"
    assert kernel.host.counts["claims"] == before + 1  # nothing is played again


def test_a_block_that_breaks_the_connection_gets_a_new_kernel(kernel: Kernel) -> None:
    code = """
import gc, socket
for thing in gc.get_objects():
    if type(thing) is socket.socket and thing.family == socket.AF_UNIX:
        thing.sendall(bytes(100))
"""
    result = kernel.run(code)
    assert result.status == "restarted"
    assert result.notice is not None
    assert "connection (the kernel sent garbage" in result.notice
    assert kernel.shown("claims('Q1')['id']") == "'Q1'"


# Output.


def test_b9_100_000_flushed_prints_lose_nothing(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path, seconds=120)
    try:
        kernel.host.slow_seconds = 0.5
        code = """
import threading
helper = threading.Thread(target=slow)
helper.start()
for i in range(100_000): print(i, flush=True)
helper.join()
"""
        result = kernel.run(code)
        whole = "".join(f"{i}\n" for i in range(100_000))
        assert result.status == "ok"
        assert result.output.endswith("99998\n99999\n")
        assert result.omitted == len(whole) - 2_000
        assert result.full_output is not None
        assert result.full_output.read_text() == whole
    finally:
        kernel.interpreter.close()


def test_b10_late_output_is_dropped_and_counted(kernel: Kernel) -> None:
    kernel.run(
        "import threading, time\n"
        "def later():\n    time.sleep(0.2)\n    print('LATE')\n"
        "thread = threading.Thread(target=later)\nthread.start()"
    )
    result = kernel.run("thread.join(); print('mine')")
    assert result.output == "mine\n"
    assert result.notice == ("5 characters printed by threads of earlier blocks were dropped.")
    assert kernel.run("print('next')").notice is None


def test_threads_and_pools_of_a_block_print_into_it(kernel: Kernel) -> None:
    kernel.run("from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)")
    kernel.run("pool.submit(print, 'first').result()")
    assert kernel.shown("_ = pool.submit(print, 'second').result()") == "second"
    kernel.run("pool.shutdown()")


def test_b10_a_task_of_an_earlier_block_prints_nowhere(kernel: Kernel) -> None:
    kernel.run(
        "import asyncio\nasync def later():\n    await asyncio.sleep(0.1)\n    print('LATE')\n"
        "task = asyncio.ensure_future(later())\nawait asyncio.sleep(0)"
    )
    assert kernel.run("await asyncio.sleep(0.3)\nprint('mine')").output == "mine\n"


def test_child_processes_print_into_their_block(kernel: Kernel) -> None:
    code = "import subprocess\nprint('a')\nsubprocess.run(['echo', 'b'])\nprint('c')"
    assert kernel.shown(code + "\n_ = None").startswith("a\nb\nc")
    assert kernel.shown("%%bash\necho from bash") == "from bash"
    assert kernel.shown("!echo from shell") == "from shell"


def test_b11_displays_are_shown_as_text(kernel: Kernel) -> None:
    code = "from IPython.display import HTML, display\ndisplay({'a': 1}); display(HTML('<b>'))\n2"
    assert kernel.shown(code) == "{'a': 1}\n<IPython.core.display.HTML object>\n2"
    assert "Statements of an entity" in kernel.shown("claims?")


def test_a_display_hook_that_raises_ends_its_block_alone(kernel: Kernel) -> None:
    code = "import sys\ndef hook(value): raise ValueError('hook')\nsys.displayhook = hook\n5"
    assert kernel.run(code).error == "ValueError: hook"
    assert kernel.shown("5") == "5"


@pytest.mark.parametrize(
    "code",
    [
        "breakpoint()",
        "import getpass; getpass.getpass()",
        "import signal; signal.alarm(1)",
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)",
        "get_ipython().ask_exit()",
        "%reset -f",
        "globals().clear()",
        "import sys; sys.setrecursionlimit(50)",
        "import os; os.close(1); os.close(2)",
        "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
        "def = 5",
        "%nonsense",
        "1/0 if",
        "\x00",
        "\ud800",
        "import sys; sys.stdin.read()",
    ],
)
def test_odd_code_leaves_a_working_kernel(kernel: Kernel, code: str) -> None:
    before = kernel.interpreter.connection_file
    result = kernel.run(code)
    assert result.status in ("ok", "error", "interrupted"), result
    time.sleep(0.01)
    assert kernel.shown("print('works'); claims('Q1')['id']") == "works\n'Q1'"
    assert kernel.interpreter.connection_file == before


def test_an_alarm_left_behind_hurts_no_later_block(kernel: Kernel) -> None:
    kernel.run("import signal; signal.setitimer(signal.ITIMER_REAL, 0.3)")
    assert kernel.shown("import time; time.sleep(0.5); 1") == "1"


def test_a_forked_child_cannot_call_and_does_not_report(kernel: Kernel) -> None:
    code = """
import os
pid = os.fork()
if pid == 0:
    try:
        claims('Q1')
    except HarnessFault as error:
        print('child:', error)
else:
    os.waitpid(pid, 0)
    print('parent', claims('Q2')['id'])
"""
    before = kernel.host.counts["claims"]
    lines = kernel.shown(code).splitlines()
    assert lines[0].startswith("child: a forked process cannot call")
    assert lines[-1] == "parent Q2"
    assert kernel.host.counts["claims"] == before + 1
    assert kernel.shown("1") == "1"


def test_a_file_the_model_writes_can_be_imported_and_hides_nothing(kernel: Kernel) -> None:
    kernel.run(
        "for name in ('colorsys', 'httpx', 'mine'): open(f'{name}.py', 'w').write('own = 2')"
    )
    kernel.interpreter.restart()
    code = "import colorsys, httpx, mine\n[hasattr(m, 'own') for m in (colorsys, httpx, mine)]"
    assert kernel.shown(code) == "[False, False, True]"


# Start, attachment and end.


def test_the_environment_holds_no_secret(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    kernel.interpreter.restart()
    names = kernel.shown("import os; print(*sorted(os.environ))").split()
    assert set(names) <= {
        "GIT_PAGER", "HOME", "IPYTHONDIR", "LANG", "MPLBACKEND", "PAGER", "PATH", "PYTHONHASHSEED",
    }  # fmt: skip
    assert kernel.interpreter.confinement == "none"


def test_a_person_can_attach_to_a_live_kernel(kernel: Kernel) -> None:
    from jupyter_client.blocking.client import BlockingKernelClient

    kernel.run("shared = 41")
    client = BlockingKernelClient()
    client.load_connection_file(str(kernel.interpreter.connection_file))
    client.start_channels()
    try:
        client.wait_for_ready(timeout=HANG)
        seen: list[Any] = []
        client.execute_interactive(
            "print('hello'); shared + 1", output_hook=seen.append, timeout=HANG
        )
        contents = [m["content"] for m in seen]
        assert {"name": "stdout", "text": "hello\n"} in contents
        assert any(c.get("data", {}).get("text/plain") == "42" for c in contents)
        client.execute_interactive("1/0", output_hook=seen.append, timeout=HANG)
        assert any(m["content"].get("ename") == "ZeroDivisionError" for m in seen)
        # A failed cell of theirs aborts what is queued behind it: ours is sent again (B7).
        client.execute("import time; time.sleep(0.5); 1/0")
        assert kernel.shown("claims('Q7')['id']") == "'Q7'"
    finally:
        client.stop_channels()
    assert kernel.shown("print('own'); shared") == "own\n41"


def test_b17_several_interpreters_start_and_work_at_once(tmp_path: Path) -> None:
    kernels = [Kernel(tmp_path / str(i), seconds=60) for i in range(3)]
    shown: dict[int, str] = {}

    def work(number: int) -> None:
        shown[number] = kernels[number].shown(f"x = {number}\nclaims(f'Q{{x}}')['id']")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * HANG)
    # The threads that started the kernels have ended; the kernels must not end with them.
    assert [kernel.shown("x") for kernel in kernels] == ["0", "1", "2"]
    for kernel in kernels:
        kernel.interpreter.close()
    assert shown == {i: f"'Q{i}'" for i in range(3)}


LEAVE_CHILDREN = """
import os, subprocess
pids = [os.getpid(), os.getppid()]
pids.append(subprocess.Popen(['sleep', '300']).pid)
pids.append(subprocess.Popen(['sleep', '300'], start_new_session=True).pid)
subprocess.run(['sh', '-c', 'setsid sleep 300 >/dev/null 2>&1 & echo $! > orphan'])
pids.append(int(open('orphan').read()))
print(os.getcwd(), *pids)
"""


@linux_only
def test_b14_close_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path, seconds=60)
    home, *pids = kernel.shown(LEAVE_CHILDREN).split()
    assert all(running(int(pid)) for pid in pids)
    kernel.interpreter.close()
    kernel.interpreter.close()
    assert not any(running(int(pid)) for pid in pids)
    assert not Path(home).parent.exists()
    with pytest.raises(KernelError, match="closed"):
        kernel.run("1")
    with pytest.raises(KernelError, match="closed"):
        kernel.interpreter.start()


@linux_only
def test_b14_a_killed_kernel_takes_its_children_along(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    _, *pids = kernel.shown(LEAVE_CHILDREN).split()
    assert kernel.run("os._exit(1)").status == "restarted"
    assert not any(running(int(pid)) for pid in pids)
    kernel.interpreter.close()


HARNESS = Path(__file__).parent / "support" / "kernel_harness.py"


@linux_only
@pytest.mark.parametrize("ending", ["exception", "ctrl-c", "ctrl-c in a block", "kill -9"])
def test_b14_the_end_of_the_harness_is_the_end_of_its_kernels(tmp_path: Path, ending: str) -> None:
    (tmp_path / "code.py").write_text(LEAVE_CHILDREN)
    root = str(Path(__file__).parents[1])
    harness = subprocess.Popen(
        [sys.executable, str(HARNESS), str(tmp_path), ending],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": root},
        text=True,
    )
    assert harness.stdout is not None
    with contextlib.closing(harness.stdout):
        home, *pids = harness.stdout.readline().split()
        if ending.startswith("ctrl-c"):
            time.sleep(0.3)
            harness.send_signal(signal.SIGINT)
        elif ending == "kill -9":
            harness.kill()
        harness.wait(HANG)
    assert len(pids) == 5
    assert wait_for(lambda: not any(running(int(pid)) for pid in pids))
    assert wait_for(lambda: not Path(home).parent.exists())


def test_ctrl_c_in_the_harness_leaves_no_block_running(kernel: Kernel) -> None:
    kernel.run("kept = 1")

    def handler(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            kernel.run("import time\ntime.sleep(999)")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert kernel.shown("kept") == "1"


def test_a_close_from_another_thread_ends_a_running_block(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path, seconds=60)
    kernel.interpreter.start()
    timer = threading.Timer(0.5, kernel.interpreter.close)
    timer.start()
    with pytest.raises(KernelError, match="closed"):
        kernel.run("import time\ntime.sleep(999)")
    timer.join()


def test_a_kernel_that_cannot_start_says_why(tmp_path: Path) -> None:
    class Broken(PlainLauncher):
        def __call__(self, request: LaunchRequest) -> Any:
            command = [sys.executable, "-c", "raise SystemExit('no such thing here')"]
            return super().__call__(
                LaunchRequest(
                    command=command,
                    folder=request.folder,
                    work_folder=request.work_folder,
                    environment=request.environment,
                    connection=request.connection,
                    log=request.log,
                )
            )

    interpreter = IPythonInterpreter({}, folder=tmp_path, launcher=Broken())
    with pytest.raises(KernelError, match="no such thing here"):
        interpreter.start()
    interpreter.close()


def test_a_host_whose_hello_fails_is_named(tmp_path: Path) -> None:
    def hello(params: dict[str, Any]) -> Any:
        raise ValueError("no functions")

    interpreter = IPythonInterpreter({"hello": hello}, folder=tmp_path)
    with pytest.raises(KernelError, match="hello: ValueError: no functions"):
        interpreter.start()
    interpreter.close()
