"""Exact conversion between common units, from the shipped table ``units.toml``."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path


@dataclass(frozen=True)
class Unit:
    """One unit.

    Attributes:
        id: its Wikidata item.
        label: its English name, for people.
        dimension: the kind of quantity; only units of one dimension convert.
        factor: how many base units of the dimension one such unit is, exactly.
    """

    id: str
    label: str
    dimension: str
    factor: Fraction


@functools.cache
def units() -> dict[str, Unit]:
    """Every unit of the shipped table by its item id."""
    with Path(__file__).with_name("units.toml").open("rb") as file:
        tables = tomllib.load(file)
    return {
        identifier: Unit(identifier, row["label"], dimension, Fraction(row["factor"]))
        for dimension, rows in tables.items()
        for identifier, row in rows.items()
    }


def same_quantity(amount: str, unit: str | None, other: str, other_unit: str | None) -> bool:
    """Whether two amounts are equal, converting exactly where both units are known.

    Args:
        amount, other: decimal strings.
        unit, other_unit: item ids, or None for no unit, which converts to no unit but itself.
    """
    left, right = Fraction(amount), Fraction(other)
    if unit == other_unit:
        return left == right
    if unit is None or other_unit is None or not convertible(unit, other_unit):
        return False
    return left * units()[unit].factor == right * units()[other_unit].factor


def convertible(unit: str, other: str) -> bool:
    """Whether the table holds both units under one dimension."""
    known = units()
    return unit in known and other in known and known[unit].dimension == known[other].dimension
