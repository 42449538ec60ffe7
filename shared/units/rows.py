"""Quantities of several numbers: ranges, sides, so many times an amount. Pure."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from shared.units.quantity import BARE, COUNT, Measure, Quantity, Unit, sides, units
from shared.units.reader import TEMPERATURE, Atom, NameReader

# Sawn timber is sold by its nominal inches and its length in feet: `2x4x8 ft` is 2 in x 4 in x 8 ft.
_TIMBER_THICKNESS = frozenset({1, 2, 4, 6})
_TIMBER_WIDTH = frozenset({2, 3, 4, 6, 8, 10, 12})
_TIMBER_FEET = frozenset({6, 8, 10, 12, 14, 16, 20, 24})
_TIMES = frozenset({"x", "*", "by"})
_TO = frozenset({"-", "to", "~", "or"})


class ReadQuantity(NamedTuple):
    """A quantity and the position of the first token behind it."""

    quantity: Quantity
    end: int


def read_range(reader: NameReader, position: int) -> ReadQuantity | None:
    """Return the range that begins at a position: `18-24 V`, `5 to 8 kg`, `-20 to 50 °C`, `6 or 8 pack`."""
    low = reader.atom(position) or reader.below_zero(position)
    if low is None or reader.word(low.end) not in _TO:
        return None
    if reader.word(low.end) == "-" and reader.glued(low.end) != reader.glued(low.end + 1):
        return None
    high = reader.atom(low.end + 1)
    if high is None or high.unit is None or high.measure is None or low.unit not in {None, high.unit}:
        return None
    if low.value >= high.value or (low.value < 0 and high.unit.dimension != TEMPERATURE):
        return None
    measures = (Measure(high.unit.dimension, high.unit.in_base(low.value), high.unit.noun), high.measure)
    return ReadQuantity(Quantity(measures, "range"), high.end)


def read_row(reader: NameReader, position: int) -> ReadQuantity | None:
    """Return the quantity that begins at a position: one number with its unit, or several with `x` between them."""
    first = reader.atom(position)
    if first is None:
        return None
    row = [first]
    while reader.word(row[-1].end) in _TIMES:
        following = reader.atom(row[-1].end + 1)
        if following is None:
            break
        row.append(following)
    if len(row) == 1:
        if first.measure is None or first.unit is None:
            return None
        return ReadQuantity(_single(first.unit, first.measure), first.end)
    quantity = _row(row)
    return ReadQuantity(quantity, row[-1].end) if quantity else None


def _single(unit: Unit, measure: Measure) -> Quantity:
    return Quantity((measure,), container=unit.pack)


def _row(row: Sequence[Atom]) -> Quantity | None:
    named = [number for number in row if number.unit is not None]
    if not named:
        return sides([Measure(BARE, number.value) for number in row])
    unit = named[-1].unit
    if unit is None:
        return None
    if unit.dimension != "length":
        return _pack(row, named)
    if _is_timber(row):
        inch, foot = units()["inch"], units()["foot"]
        return sides([Measure("length", (foot if number is row[-1] else inch).in_base(number.value)) for number in row])
    return sides([one.measure or _with_unit_of_neighbour(row, position) for position, one in enumerate(row)])


def _pack(row: Sequence[Atom], named: Sequence[Atom]) -> Quantity | None:
    """Read a row with one measure as so many of it; a row of several measures, as 5 V x 2 A, is none."""
    measured = named[0]
    if len(named) > 1:
        # In `24 x 330 ml x 2 pack` and `330 ml x 24 cans` the measure is what is not counted.
        others = [one for one in named if one.unit and one.unit.dimension != COUNT]
        if len(others) != 1:
            return sides([one.measure or Measure(BARE, one.value) for one in row]) if not others else None
        measured = others[0]
    packs = Fraction(1)
    for number in row:
        packs *= 1 if number is measured else number.value
    if measured.measure is None or packs.denominator != 1:
        return None
    return Quantity((measured.measure,), packs=packs)


def _is_timber(row: Sequence[Atom]) -> bool:
    if len(row) != 3 or row[0].unit or row[1].unit or row[2].unit != units()["foot"]:
        return False
    thickness, width, feet = (number.value for number in row)
    return (
        thickness in _TIMBER_THICKNESS
        and width in _TIMBER_WIDTH
        and feet in _TIMBER_FEET
        and thickness <= width
        and (feet > width or feet >= min(_TIMBER_FEET))
    )


def _with_unit_of_neighbour(row: Sequence[Atom], position: int) -> Measure:
    """Read a side without a unit in that of the next side that has one, else of the last."""
    unit = next((one.unit for one in (*row[position:], *reversed(row[:position])) if one.unit), None)
    value = row[position].value
    return Measure("length", unit.in_base(value)) if unit else Measure(BARE, value)
