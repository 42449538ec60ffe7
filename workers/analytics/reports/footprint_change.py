"""The change of a footprint between two periods, split into volume, mix and intensity, which add up to it. Pure."""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

DIGITS = 9
"""A change is shown to this significant digit of the larger footprint."""


class Cell(NamedTuple):
    """What a category or brand has in a period: units sold, or items, and the footprint of these."""

    units: int
    footprint: float


class Effects(NamedTuple):
    """By how much more or fewer units, another composition, and other footprints per unit changed a footprint."""

    volume: float = 0.0
    mix: float = 0.0
    intensity: float = 0.0


class Change(NamedTuple):
    """A change as it is shown: its three parts add up to it in decimals, without a remainder."""

    change: float
    volume: float
    mix: float
    intensity: float


Cells = Mapping[int, Cell]


def effects(before: Cells, now: Cells) -> Effects:
    """Return the effects on the footprint Σ units × share × footprint per unit, over cells.

    This is LMDI-I (Ang, Energy Policy 33 (2005) 867-871): each factor's logarithm is weighted by the logarithmic mean
    of a cell's two footprints. The parts add up whatever the order of factors and cells. Where a cell is new or gone,
    the limit is its whole footprint, as mix, or as volume where the whole is new or gone; where a footprint is 0 in one
    of both periods, as intensity (Wood and Lenzen, Energy Policy 34 (2006) 1326-1331).
    """
    units_before, units_now = (sum(cell.units for cell in cells.values()) for cells in (before, now))
    parts: list[Effects] = []
    for place in sorted(before.keys() | now.keys()):
        was, is_now = before.get(place, Cell(0, 0.0)), now.get(place, Cell(0, 0.0))
        difference = is_now.footprint - was.footprint
        if not was.units or not is_now.units:
            is_whole = not units_before or not units_now
            parts.append(Effects(volume=difference) if is_whole else Effects(mix=difference))
        elif not was.footprint or not is_now.footprint:
            parts.append(Effects(intensity=difference))
        else:
            weight = logarithmic_mean(is_now.footprint, was.footprint)
            shares = is_now.units / units_now, was.units / units_before
            per_unit = is_now.footprint / is_now.units, was.footprint / was.units
            factors = ((units_now, units_before), shares, per_unit)
            parts.append(Effects(*(weight * _log_ratio(*factor) for factor in factors)))
    return Effects(*(math.fsum(part) for part in zip(*parts, strict=True))) if parts else Effects()


def logarithmic_mean(one: float, other: float) -> float:
    """Return (a - b) / ln(a / b) of two positive numbers; of equal ones it is their value."""
    return (one - other) / _log_ratio(one, other) if one != other else one


def _log_ratio(one: float, other: float) -> float:
    """Return ln(one / other) of two positive numbers."""
    ratio = one / other
    # Of nearly equal numbers the quotient has lost the digits by which they differ.
    return math.log1p((one - other) / other) if 0.5 < ratio < 2 else math.log(ratio)


def change_of(footprint_before: float, footprint_now: float, found: Effects) -> Change:
    """Return the change between two footprints and its parts, rounded so that they add up exactly."""
    largest = Decimal(repr(max(footprint_before, footprint_now)))
    step = Decimal((0, (1,), largest.adjusted() - DIGITS + 1))
    change = (Decimal(repr(footprint_now)) - Decimal(repr(footprint_before))).quantize(step)
    parts = [Decimal(repr(part)).quantize(step) for part in found]
    # The largest part is the one that another last digit changes least.
    widest = max(range(len(parts)), key=lambda place: abs(found[place]))
    parts[widest] += change - sum(parts)
    return Change(*(float(value) + 0.0 for value in (change, *parts)))
