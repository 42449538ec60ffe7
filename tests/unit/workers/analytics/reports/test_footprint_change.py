"""The decomposition of a change: its parts add up, and a change of one factor alone is that factor's."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.analytics.reports.footprint_change import DIGITS, Cell, change_of, effects, logarithmic_mean

UNITS = st.integers(1, 10**6)
FOOTPRINTS = st.one_of(st.just(0.0), st.floats(1e-9, 1e9))
CELLS = st.dictionaries(st.integers(0, 5), st.builds(Cell, UNITS, FOOTPRINTS), max_size=6)
POSITIVE = st.dictionaries(st.integers(0, 5), st.builds(Cell, UNITS, st.floats(1e-6, 1e6)), min_size=1, max_size=6)


def total(cells: dict[int, Cell]) -> float:
    """Return a footprint as it is shown."""
    return float(f"{math.fsum(cell.footprint for cell in cells.values()):.{DIGITS}g}")


@given(CELLS, CELLS)
def test_the_parts_add_up_to_the_change_without_a_remainder(before: dict[int, Cell], now: dict[int, Cell]) -> None:
    was, is_now = total(before), total(now)
    found = change_of(was, is_now, effects(before, now))
    parts = [Decimal(repr(value)) for value in (found.volume, found.mix, found.intensity)]
    assert sum(parts) == Decimal(repr(found.change))
    largest = max(was, is_now)
    assert Decimal(repr(found.change)) == pytest.approx(Decimal(repr(is_now)) - Decimal(repr(was)), abs=largest * 1e-8)
    exact = effects(before, now)
    for part, unrounded in zip(parts, exact, strict=True):
        # Of parts that are much larger than both footprints a double has fewer digits.
        assert float(part) == pytest.approx(unrounded, rel=1e-9, abs=3e-8 * largest)


@given(CELLS, CELLS)
def test_the_way_back_is_the_same_with_the_other_sign(before: dict[int, Cell], now: dict[int, Cell]) -> None:
    there, back = effects(before, now), effects(now, before)
    scale = max((cell.footprint for cells in (before, now) for cell in cells.values()), default=0.0)
    assert there == pytest.approx([-part for part in back], rel=1e-9, abs=1e-12 * scale)


@given(POSITIVE, st.integers(2, 50))
def test_more_of_everything_is_volume_alone(cells: dict[int, Cell], times: int) -> None:
    now = {place: Cell(cell.units * times, cell.footprint * times) for place, cell in cells.items()}
    found = change_of(total(cells), total(now), effects(cells, now))
    assert (found.mix, found.intensity, found.volume) == (0.0, 0.0, found.change)


@given(POSITIVE, st.floats(1.001, 50.0))
def test_larger_footprints_of_the_same_units_are_intensity_alone(cells: dict[int, Cell], times: float) -> None:
    now = {place: Cell(cell.units, cell.footprint * times) for place, cell in cells.items()}
    found = change_of(total(cells), total(now), effects(cells, now))
    assert (found.volume, found.mix, found.intensity) == (0.0, 0.0, found.change)


@given(st.lists(st.tuples(UNITS, UNITS, st.integers(1, 1000)), min_size=2, max_size=6))
def test_another_composition_of_as_many_units_is_mix_alone(drawn: list[tuple[int, int, int]]) -> None:
    before = {place: Cell(units, float(units * per_unit)) for place, (units, _, per_unit) in enumerate(drawn)}
    wanted = [units for _, units, _ in drawn]
    # As many units as before, in the proportions that were drawn; the last cell takes what is left.
    count = sum(cell.units for cell in before.values())
    units = [max(1, int(Fraction(count * one, sum(wanted)))) for one in wanted[:-1]]
    if sum(units) >= count:
        return
    units.append(count - sum(units))
    now = {place: Cell(many, float(many * drawn[place][2])) for place, many in enumerate(units)}
    found = change_of(total(before), total(now), effects(before, now))
    assert (found.volume, found.intensity, found.mix) == (0.0, 0.0, found.change)


def test_two_categories_are_decomposed_as_on_paper() -> None:
    before = {1: Cell(10, 30.0), 2: Cell(40, 20.0)}
    now = {1: Cell(40, 80.0), 2: Cell(40, 16.0)}
    # Of 50 units 20 % are of the first category, and of 80 units 50 %; a unit of it has 3, and then 2.
    weights = [50 / math.log(80 / 30), 4 / math.log(20 / 16)]
    volume = sum(weights) * math.log(80 / 50)
    mix = weights[0] * math.log(0.5 / 0.2) + weights[1] * math.log(0.5 / 0.8)
    intensity = weights[0] * math.log(2 / 3) + weights[1] * math.log(0.4 / 0.5)
    assert effects(before, now) == pytest.approx((volume, mix, intensity))
    assert volume + mix + intensity == pytest.approx(96 - 50)


def test_cells_that_are_new_or_gone_are_mix_and_the_whole_is_volume() -> None:
    tea, coffee = {1: Cell(10, 5.0)}, {2: Cell(10, 30.0)}
    assert effects(tea, coffee) == (0.0, 25.0, 0.0)
    assert effects({}, tea) == (5.0, 0.0, 0.0)
    assert effects(tea, {}) == (-5.0, 0.0, 0.0)
    assert effects(tea, {1: Cell(10, 0.0)}) == (0.0, 0.0, -5.0)
    assert effects({}, {}) == (0.0, 0.0, 0.0)


def test_the_logarithmic_mean_is_between_its_numbers_however_near_they_are() -> None:
    for other in (1e18, 3.0, 1.5, 1 + 1e-9, math.nextafter(1.0, 2.0), 1.0):
        assert 1.0 <= logarithmic_mean(1.0, other) <= other
        assert logarithmic_mean(1.0, other) == pytest.approx(logarithmic_mean(other, 1.0), rel=1e-15)
