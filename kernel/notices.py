"""What a model is told of its state after a cell that did not simply end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.kernel_process import GRACE, CellEnd

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_NAMES: Final = 50


def after_cell(
    end: CellEnd, seconds: float, lost: Sequence[str], *, files_kept: bool = True
) -> str | None:
    """The notice for a cell.

    Args:
        end: how it ended.
        seconds: its time limit.
        lost: variables that a restart lost.
        files_kept: whether a restart keeps the files that the model's code wrote.

    Returns:
        One or more sentences, or None where there is nothing to tell.
    """
    if end.how == "finished":
        assert end.report is not None
        return " ".join(_finished(end, end.report, seconds)) or None
    files = "" if files_kept else " Files you wrote are gone."
    return f"{_why(end, seconds)} The kernel was restarted. {_gone(lost)}{files}"


def moved_names(moved: Sequence[Sequence[str]]) -> str | None:
    """The notice for variables that had taken the name of a helper: ``(name, new name)`` each."""
    if not moved:
        return None
    named = ", ".join(f"{name} (your value is now {other})" for name, other in moved)
    return f"Names of built-in functions were given back to them: {named}."


def _finished(end: CellEnd, report: dict[str, Any], seconds: float) -> list[str]:
    parts = []
    if report["interrupted"]:
        what = f"passed its time limit of {seconds:g} s and " if end.interrupted == "limit" else ""
        parts.append(f"The block {what}was interrupted; variables are kept.")
    moved = moved_names(report["moved"])
    if moved:
        parts.append(moved)
    if report["dropped"]:
        parts.append(
            f"{report['dropped']:,} characters printed by threads of earlier blocks were dropped."
        )
    return parts


def _why(end: CellEnd, seconds: float) -> str:
    if end.how == "killed":
        passed = f"passed its time limit of {seconds:g} s" if end.interrupted == "limit" else ""
        return (
            f"The block {passed or 'was interrupted'} and did not stop within {GRACE:g} s "
            "of the interrupt."
        )
    if end.how == "died":
        return f"The kernel died while the block ran ({end.detail})."
    return f"The block broke the kernel's connection ({end.detail})."


def _gone(lost: Sequence[str]) -> str:
    if not lost:
        return "There were no variables to lose; imports are gone."
    named = ", ".join(lost[:_MOST_NAMES])
    more = f" and {len(lost) - _MOST_NAMES} more" if len(lost) > _MOST_NAMES else ""
    return f"These variables are gone, as are imports: {named}{more}."
