"""``wikidata-rlm doctor``: how this machine can confine a model's code, and whether that holds."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kernel.confinement.choose import Level
    from kernel.confinement.self_test import Verdict

_USER_NAMESPACES = Path("/proc/sys/user/max_user_namespaces")


def doctor(
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Say how model-written code can be confined here, and attack each way from inside.

    Ends with exit code 1 where an attack succeeds that is not known to, or could not be tried.
    """
    from wikidata_rlm.console import Terminal

    levels = _levels()
    notes = Terminal(stderr=True)
    with notes.status("starting a kernel") as status:

        def tell(level: str) -> Callable[[Verdict], None]:
            return lambda verdict: status.update(f"{level}: {verdict.attack.title}")

        verdicts = _attack(levels, tell)
    known = {level: _known_open(level) for level in verdicts}
    machine = _machine()
    if as_json:
        typer.echo(json.dumps(_as_data(machine, levels, verdicts, known), indent=2))
    else:
        _show(machine, levels, verdicts, known)
    if any(_is_failure(verdict, known[level]) for level in verdicts for verdict in verdicts[level]):
        raise typer.Exit(1)


def _levels() -> dict[Level, str | None]:
    """Each kind of confinement with the reason it cannot be used here, or None."""
    from kernel.confinement.choose import LEVELS, unavailable

    return {level: unavailable(level) for level in LEVELS if level != "none"}


def _known_open(level: Level) -> Mapping[str, str]:
    from kernel.confinement.choose import known_open

    return known_open(level)


def _attack(
    levels: Mapping[Level, str | None], tell: Callable[[str], Callable[[Verdict], None]]
) -> dict[Level, list[Verdict]]:
    from kernel.confinement.self_test import run_attacks

    usable = [level for level, reason in levels.items() if reason is None]
    return {level: run_attacks(level, progress=tell(level)) for level in usable}


def _machine() -> dict[str, str]:
    """What matters of this machine, each in a few words."""
    facts = {
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
    if sys.platform != "linux":
        return facts
    from kernel.confinement import bwrap

    program = bwrap.find_bwrap()
    return facts | {
        "user namespaces": _user_namespaces(),
        "bubblewrap": f"{bwrap.version() or 'does not run'} ({program})" if program else "none",
        "landlock": _landlock(),
    }


def _landlock() -> str:
    from kernel.confinement import restrict

    try:
        return f"ABI {restrict.landlock_abi()}"
    except OSError as error:
        return f"none ({error.strerror})"


def _user_namespaces() -> str:
    try:
        most = int(_USER_NAMESPACES.read_text())
    except (OSError, ValueError):
        return "unknown"
    return f"at most {most:,}" if most else "forbidden"


def _is_failure(verdict: Verdict, known: Mapping[str, str]) -> bool:
    return verdict.outcome == "not run" or (
        verdict.outcome == "open" and verdict.attack.name not in known
    )


def _as_data(
    machine: Mapping[str, str],
    levels: Mapping[Level, str | None],
    verdicts: Mapping[Level, list[Verdict]],
    known: Mapping[Level, Mapping[str, str]],
) -> dict[str, Any]:
    return {
        "machine": dict(machine),
        "levels": [
            {
                "level": level,
                "unavailable": reason,
                "attacks": [
                    {
                        "name": verdict.attack.name,
                        "title": verdict.attack.title,
                        "outcome": verdict.outcome,
                        "detail": verdict.detail,
                        "known_open": known[level].get(verdict.attack.name),
                    }
                    for verdict in verdicts.get(level, ())
                ],
            }
            for level, reason in levels.items()
        ],
    }


def _show(
    machine: Mapping[str, str],
    levels: Mapping[Level, str | None],
    verdicts: Mapping[Level, list[Verdict]],
    known: Mapping[Level, Mapping[str, str]],
) -> None:
    from rich.table import Table

    from wikidata_rlm.console import Terminal

    console = Terminal()
    facts = Table(box=None, pad_edge=False, show_header=False)
    for name, fact in {**machine, **_offers(levels)}.items():
        facts.add_row(name, fact)
    console.print(facts, highlight=False, markup=False)
    if not verdicts:
        console.print("\nNothing confines a model's code here; --no-sandbox runs it all the same.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("attack", *verdicts):
        table.add_column(column)
    for row in zip(*verdicts.values(), strict=True):
        styles = [_styled(verdict) for verdict in row]
        table.add_row(row[0].attack.title, *styles)
    console.print()
    console.print(table, highlight=False)
    for level, of_level in verdicts.items():
        for verdict in of_level:
            if verdict.outcome != "refused":
                why = known[level].get(verdict.attack.name) or verdict.detail
                line = f"{level}: {verdict.attack.title}: {verdict.outcome}: {why}"
                console.print(line, highlight=False, markup=False)


def _offers(levels: Mapping[Level, str | None]) -> dict[str, str]:
    return {f"level {level}": reason or "available" for level, reason in levels.items()}


def _styled(verdict: Verdict) -> str:
    colour = {"refused": "green", "open": "bold red", "not run": "yellow"}[verdict.outcome]
    return f"[{colour}]{verdict.outcome}[/]"
