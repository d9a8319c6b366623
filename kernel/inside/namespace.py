"""The model's variables, and the names among them that must keep their meaning."""

from __future__ import annotations

import builtins
import difflib
import types
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

# fmt: off
KEPT_BUILTINS: Final = (
    "print", "len", "str", "int", "float", "bool", "list", "dict", "set", "tuple", "range",
    "sorted", "reversed", "enumerate", "zip", "map", "filter", "sum", "min", "max", "any", "all",
    "abs", "round", "isinstance", "open", "repr", "getattr", "iter", "next",
)
# fmt: on
"""Builtins that a variable of the same name hides only until its cell ends."""

_MOST_NAMES: Final = 500


class Namespace:
    """The global variables of the cells.

    Args:
        variables: the dict in which cells are executed.
        helpers: the functions and classes given to the model, by name.
    """

    def __init__(self, variables: dict[str, Any], helpers: dict[str, Any]) -> None:
        self.variables = variables
        self._helpers = helpers
        self._builtins = dict(vars(builtins))
        variables.update(helpers)
        self._hidden = {*variables, "last_output"}
        self._fixtures = dict(variables)
        self._displaced: set[str] = set()

    def restore_builtins(self) -> None:
        """Undo changes to the ``builtins`` module."""
        vars(builtins).update(self._builtins)

    def restore(self) -> list[tuple[str, str]]:
        """Give helpers and common builtins their meaning back.

        A variable that took such a name is kept under another one.

        Returns:
            ``(name, new name of the variable)`` for each name that a variable had taken.
        """
        self.restore_builtins()
        variables = self.variables
        moved = []
        for name in (*self._helpers, *KEPT_BUILTINS):
            right = self._fixtures.get(name, self._builtins.get(name))
            if name in variables and variables[name] is not right:
                other = self._free_name(name)
                variables[other] = variables.pop(name)
                moved.append((name, other))
        for name, value in self._fixtures.items():
            variables.setdefault(name, value)
        return moved

    def _free_name(self, name: str) -> str:
        """A name for a displaced variable; it may take the place of one displaced before."""
        other = name + "_"
        while other in self.variables and other not in self._displaced:
            other += "_"
        self._displaced.add(other)
        return other

    def names(self) -> list[str]:
        """What the model has defined, modules aside, in order of definition."""
        names = [
            name
            for name, value in list(self.variables.items())
            if not name.startswith("_")
            and name not in self._hidden
            and not isinstance(value, types.ModuleType)
        ]
        return names[:_MOST_NAMES]

    def lookup(self, name: str) -> Any:
        """The value of a variable.

        Raises:
            NameError: naming variables like it and those there are.
        """
        names = self.names()
        if name in names or name == "last_output":
            return self.variables[name]
        raise NameError(
            f"there is no variable {name!r}.{_close(name, names)} Variables: "
            f"{', '.join(names[:50]) or 'none'}. To give the text itself, call FINAL({name!r:.80})."
        )


def _close(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), n=3, cutoff=0.5)
    return f" Close: {', '.join(close)}." if close else ""
