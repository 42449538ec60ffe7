"""Quantities as values, and every unit with its spellings, read once from units.toml."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

SPELLED_TOKENS_MAX = 6
"""The most tokens that one spelling has: `pounds per square inch` has four, `lb/in2` four."""

COUNT = "count"
BARE = "bare"
"""The dimension of a number without a unit, in sizes such as 32x34."""


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
        return (value - self.zero) * self.size


@lru_cache(maxsize=1)
def units() -> Mapping[str, Unit]:
    """Return the unit of each spelling."""
    units: dict[str, Unit] = {}
    for dimension in _declarations():
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
    return MappingProxyType({dimension["name"]: dimension["base"] for dimension in _declarations()})


def _declarations() -> list[dict[str, Any]]:
    with Path(__file__).with_name("units.toml").open("rb") as file:
        dimensions: list[dict[str, Any]] = tomllib.load(file)["dimension"]
    return dimensions


class Measure(NamedTuple):
    """A value in base units of its dimension. `noun` names what a count counts; empty where it is any article."""

    dimension: str
    value: Fraction
    noun: str = ""

    @property
    def text(self) -> str:
        """The measure as people read it, in the base unit: `750 ml`."""
        unit = self.noun or bases().get(self.dimension, "" if self.dimension == BARE else self.dimension)
        return f"{decimal_text(self.value)} {unit}".strip()


@dataclass(frozen=True, slots=True)
class Quantity:
    """A size or an amount that a name states.

    `form` is single, sides (a x b), range (a to b) or size (clothes and shoes; `system` names whose).
    `packs` is how many of it one article holds. `container` is true of a count of packs, cans or bottles.
    """

    measures: tuple[Measure, ...]
    form: str = "single"
    packs: Fraction = Fraction(1)
    system: str = ""
    container: bool = False

    @property
    def dimension(self) -> str:
        """The dimension of the first measure."""
        return self.measures[0].dimension if self.measures else self.form

    @property
    def text(self) -> str:
        """The normal form for people: `24 x 500 ml`, `10 mm x 20000 mm`, `size US 10.5`."""
        joined = {"sides": " x ", "range": " to "}.get(self.form, " ").join(measure.text for measure in self.measures)
        shown = " ".join(part for part in (self.form if self.system else "", self.system, joined) if part)
        return shown if self.packs == 1 else f"{decimal_text(self.packs)} x {shown}"

    @property
    def generic(self) -> "Quantity":
        """The same quantity without the noun of what is counted."""
        measures = tuple(Measure(measure.dimension, measure.value) for measure in self.measures)
        return Quantity(measures, self.form, self.packs, self.system)

    @property
    def nouns(self) -> tuple[str, ...]:
        """The noun that is counted, where the name has one."""
        return tuple(measure.noun for measure in self.measures)

    def same_as(self, other: "Quantity") -> bool:
        """Return whether two quantities are equal; a count of no named thing equals a count of any."""
        if self.generic != other.generic:
            return False
        nouns = zip(self.nouns, other.nouns, strict=True)
        return all(mine == theirs or not mine or not theirs for mine, theirs in nouns)


def decimal_text(value: Fraction) -> str:
    """Return a value in decimal digits, or as a fraction where decimals would not end."""
    rest, decimals = value.denominator, 0
    for prime in (2, 5):
        times = 0
        while rest % prime == 0:
            rest, times = rest // prime, times + 1
        decimals = max(decimals, times)
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(int(value * 10**decimals))).rjust(decimals + 1, "0")
    text = f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits
    return f"-{text}" if value < 0 else text


def sides(measures: Sequence[Measure]) -> Quantity:
    """Return a size of several sides, in their order."""
    return Quantity(tuple(measures), "sides")
