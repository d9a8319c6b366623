"""Wikidata identifiers: their syntax, their numeric order, and where they stand in a text."""

from __future__ import annotations

import re
from typing import Final

from kg_functions.errors import InvalidIdentifier

_ITEM: Final = re.compile(r"Q[1-9][0-9]{0,9}")
_PROPERTY: Final = re.compile(r"P[1-9][0-9]{0,9}")
_IN_TEXT: Final = re.compile(r"(?<![A-Za-z0-9_])[QP][1-9][0-9]{0,9}(?![A-Za-z0-9_])")


def is_item(identifier: object) -> bool:
    """Whether ``identifier`` has the form of an item id such as ``Q42``."""
    return isinstance(identifier, str) and _ITEM.fullmatch(identifier) is not None


def is_property(identifier: object) -> bool:
    """Whether ``identifier`` has the form of a property id such as ``P31``."""
    return isinstance(identifier, str) and _PROPERTY.fullmatch(identifier) is not None


def check_entity(identifier: object) -> str:
    """Return ``identifier`` if it is an item or property id.

    Raises:
        InvalidIdentifier: with a message that says what was expected.
    """
    if isinstance(identifier, str) and (is_item(identifier) or is_property(identifier)):
        return identifier
    raise InvalidIdentifier(
        f"{identifier!r} is not an identifier: expected a string such as 'Q42' (an item) "
        "or 'P31' (a property). Use search_entity or search_property to find one by name."
    )


def check_property(identifier: object) -> str:
    """Return ``identifier`` if it is a property id.

    Raises:
        InvalidIdentifier: with a message that says what was expected.
    """
    if isinstance(identifier, str) and is_property(identifier):
        return identifier
    raise InvalidIdentifier(
        f"{identifier!r} is not a property identifier: expected a string such as 'P31'. "
        "Use search_property to find one by name."
    )


def number(identifier: str) -> int:
    """The numeric part of an identifier: ``number('Q42') == 42``."""
    return int(identifier[1:])


def sort_key(identifier: str) -> tuple[str, int]:
    """A key that orders properties before items and both by number."""
    return (identifier[0], int(identifier[1:]))


def find_identifiers(text: str) -> set[str]:
    """Every item and property id that stands as a word of its own in ``text``."""
    return set(_IN_TEXT.findall(text))
