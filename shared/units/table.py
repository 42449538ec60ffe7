"""Every unit with its spellings, read once from units.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

SPELLED_TOKENS_MAX = 6
"""The most tokens that one spelling has: `pounds per square inch` has four, `lb/in2` four."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: `size` base units of its dimension, counted from `zero`.

    A unit that counts things names the noun, empty where it says only "pieces"; `pack` where it holds other things.
    `whole`: no name states a thousandth of it.
    """

    dimension: str
    size: Fraction
    zero: Fraction = Fraction(0)
    noun: str = ""
    pack: bool = False
    whole: bool = False

    def in_base(self, value: Fraction) -> Fraction:
        """Return a value of this unit in base units."""
        return (value - self.zero) * self.size


@lru_cache(maxsize=1)
def units() -> Mapping[str, Unit]:
    """Return the unit of each spelling."""
    units: dict[str, Unit] = {}
    for dimension in _declared():
        for entry in dimension["units"]:
            unit = Unit(
                dimension["name"],
                Fraction(entry["size"]),
                Fraction(entry.get("zero", 0)),
                entry.get("noun", ""),
                entry.get("pack", False),
                entry.get("whole", False),
            )
            for spelling in entry["spelled"]:
                if spelling in units:
                    raise ValueError(f"units.toml spells two units {spelling!r}")
                units[spelling] = unit
    return MappingProxyType(units)


@lru_cache(maxsize=1)
def bases() -> Mapping[str, str]:
    """Return the base unit of each dimension."""
    return MappingProxyType({dimension["name"]: dimension["base"] for dimension in _declared()})


def _declared() -> list[dict[str, Any]]:
    with Path(__file__).with_name("units.toml").open("rb") as file:
        dimensions: list[dict[str, Any]] = tomllib.load(file)["dimension"]
    return dimensions
