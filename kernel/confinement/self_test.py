"""Runs the attack list in kernels of one kind of confinement and says what was refused."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from kernel.confinement.attacks import ATTACKS, Attack
from kernel.confinement.choose import launcher_of
from kernel.confinement.limits import Limits
from kernel.interpreter import KernelError
from kernel.ipython_kernel import IPythonInterpreter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kernel.interpreter import CellResult
    from kernel.launcher import Launcher

Outcome = Literal["refused", "open", "not run"]

_QUOTA: Final = 64 << 20
"""Bytes that a kernel under test may keep; the attacks try to write four times as many."""
_CELL_SECONDS: Final = 30.0
_VICTIM: Final = Path(__file__).with_name("victim.py")


@dataclass(frozen=True)
class Verdict:
    """How one attack ended at one level.

    Attributes:
        attack: which.
        outcome: ``refused``, ``open`` (it succeeded), or ``not run``.
        detail: what it got, what refused it, or why it was not run.
    """

    attack: Attack
    outcome: Outcome
    detail: str


def run_attacks(
    level: str,
    *,
    attacks: Sequence[Attack] = ATTACKS,
    launcher: Launcher | None = None,
    progress: Callable[[Verdict], None] = lambda verdict: None,
) -> list[Verdict]:
    """Try every attack from inside a kernel.

    Args:
        level: the kind of confinement.
        attacks: which to try.
        launcher: starts the kernels; without one, the level's own with small quotas.
        progress: told of each verdict as it comes.

    Returns:
        A verdict an attack, in their order. Where the level's kernels do not even start, every
        attack is ``not run``.
    """
    starter = launcher or launcher_of(level, Limits(files=_QUOTA, outputs=_QUOTA))
    verdicts: list[Verdict] = []
    with _victim() as target, tempfile.TemporaryDirectory(prefix="wrlm-test-") as folder:
        interpreter = IPythonInterpreter(
            {}, folder=Path(folder), cell_seconds=_CELL_SECONDS, launcher=starter
        )
        with contextlib.closing(interpreter):
            for attack in attacks:
                verdict = _verdict(attack, interpreter, target)
                verdicts.append(verdict)
                progress(verdict)
    return verdicts


def _verdict(attack: Attack, interpreter: IPythonInterpreter, target: dict[str, Any]) -> Verdict:
    """Try one attack and see that the harness can go on."""
    try:
        if attack.name == "fork-bomb":
            interpreter.restart()
        outcome, detail = _outcome(attack, interpreter.run(_cell(attack, target)))
        if attack.name == "left-child" and outcome == "open":
            interpreter.restart()
            outcome, detail = _left(target["sleep"])
        if interpreter.run("print('goes on')").output != "goes on\n":
            outcome, detail = "open", "no further block could be run"
    except KernelError as error:
        return Verdict(attack, "not run", str(error))
    return Verdict(attack, outcome, detail)


def _cell(attack: Attack, target: dict[str, Any]) -> str:
    call = f"attacks.show({attack.name!r}, {json.dumps(target)!r})"
    return f"from kernel.confinement import attacks\n{call}"


def _outcome(attack: Attack, result: CellResult) -> tuple[Outcome, str]:
    """What a cell's result says; a kernel that is lost without need proves nothing."""
    try:
        said = json.loads(result.output)
    except ValueError:
        if result.status == "restarted" and attack.ends_kernel:
            return "refused", result.notice or ""
        return "not run", result.notice or result.error or "the kernel said nothing"
    return ("open" if said["open"] else "refused"), said["detail"]


def _left(word: str) -> tuple[Outcome, str]:
    """Whether the process that was to stay behind is still there; it is ended."""
    left = [pid for pid in _processes_with(word) if pid != os.getpid()]
    for pid in left:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    if left:
        return "open", f"process {left[0]} outlived the kernel"
    return "refused", "it ended with the kernel"


def _processes_with(word: str) -> list[int]:
    """The processes of this machine that have a word in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if word.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


@contextlib.contextmanager
def _victim() -> Iterator[dict[str, Any]]:
    """A victim process, and where it is; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="wrlm-victim-") as folder:
        secret = f"secret-{secrets.token_hex(16)}"
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_VICTIM), folder, secret],
            env={"OPENAI_API_KEY": secret},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            where = json.loads(process.stdout.readline())
            # A number of seconds for sleep, by which its process is found again.
            where["sleep"] = f"600.{secrets.randbelow(10**12):012}"
            where["most_files"] = 4 * _QUOTA
            yield where
        finally:
            process.kill()
            process.communicate()
