"""What a text states of amounts, as matching compares it: measures, how many are packed together, colours."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shared.units.names import PACKABLE, SOLD_BY_THE_PIECE, read
from shared.units.quantity import COUNT, Quantity, bases
from workers.articles.matching.records import MatchRecord
from workers.articles.matching.text import compose

COLOURS = frozenset(
    "black white silver grey gray red blue green yellow pink purple orange brown gold beige navy violet teal ivory "
    "champagne bronze turquoise burgundy charcoal platinum copper".split()
)
_WORDS = re.compile(r"[a-z]+")
_ONE_COMMA = re.compile(r"[1-9]\d{0,2},\d{3}\b")
# Nobody packs this many grams or millilitres: `1,250 kg` may be 1.25 kg.
_TOO_MUCH = 1_000_000
# A single sheet is named as often as a thousand, a single piece is not.
_PIECES = SOLD_BY_THE_PIECE - {"sheet"}
# What shops state to tell articles apart; other units are read from model numbers too often: `24 T`, `12 D`, or of a
# warranty: `two years`.
_COMPARED = frozenset(
    {
        *("mass", "volume", "length", "area", "memory", "frequency", "power", "heating power", "voltage", "charge"),
        *("resolution", "activity", "share", COUNT),
    }
)
_Values = Mapping[str, frozenset[float]]


@dataclass(frozen=True, slots=True)
class StatedAmounts:
    """What texts say of amounts; all may be empty.

    `measures` maps a base unit to its values, `totals` those of which several may be packed to what all hold together:
    of `24 x 330 ml` 330 and 7,920.
    """

    measures: _Values
    totals: _Values
    packs: frozenset[int]
    colours: frozenset[str]


def amounts(*texts: str) -> StatedAmounts:
    """Read every count, measure and colour that a record's texts state; a count of one is not stated.

    Case tells `5G` and `3M` from 5 g and 3 m, so the texts must have that of their seller.
    """
    measures: dict[str, set[float]] = {}
    packed: dict[str, set[tuple[float, int]]] = {}
    packs, containers = set[int](), set[int]()
    for quantity, spelled in _stated(texts):
        for unit, value in _measured(quantity):
            values = {value, value / 1000} if value >= _TOO_MUCH and _ONE_COMMA.search(spelled) else {value}
            measures.setdefault(unit, set()).update(values)
            if quantity.dimension in PACKABLE and quantity.form == "single":
                packed.setdefault(unit, set()).update((one, int(quantity.packs)) for one in values)
        count = _count(quantity)
        packs.add(count)
        if quantity.container:
            containers.add(count)
    words = {"grey" if word == "gray" else word for text in texts for word in _WORDS.findall(text.lower())}
    held = containers - {1}
    together = held.pop() if len(held) == 1 else 1
    return StatedAmounts(
        {unit: frozenset(values) for unit, values in measures.items()},
        {unit: frozenset(_totals(stated, together)) for unit, stated in packed.items()},
        frozenset(packs - {1}),
        frozenset(words & COLOURS),
    )


def amounts_of(record: MatchRecord) -> StatedAmounts:
    """Read what a record's name and attributes state."""
    return amounts(compose(record.name), *(compose(value) for _, value in record.attributes))


def contradictions(left: StatedAmounts, right: StatedAmounts) -> list[str]:
    """Name what both texts state differently: `pack`, `colour` or a base unit. Measures differ from 3 % on.

    So many packed together contradict one alone, and another number of them.
    """
    contradictory = []
    if _disjoint(left.packs, right.packs) or _packed_differently(left, right):
        contradictory.append("pack")
    for unit in sorted(left.measures.keys() & right.measures.keys()):
        if not (_meet(left.measures, right.measures, unit) or _meet(left.totals, right.totals, unit)):
            contradictory.append(unit)
    if _disjoint(left.colours, right.colours):
        contradictory.append("colour")
    return contradictory


def agree(left: StatedAmounts, right: StatedAmounts) -> bool:
    """Say whether both texts state the same measure or number of pieces."""
    return bool(left.packs & right.packs) or any(_meet(left.measures, right.measures, unit) for unit in left.measures)


def _stated(texts: tuple[str, ...]) -> Iterator[tuple[Quantity, str]]:
    for text in texts:
        reading = read(text)
        yield from zip(reading.quantities, reading.spelled, strict=True)


def _measured(quantity: Quantity) -> Iterator[tuple[str, float]]:
    """Yield the measures of a quantity, each with its unit: the base unit, the noun that is counted, or the size."""
    for one in quantity.measures:
        if quantity.system:
            yield f"size {quantity.system}", float(one.value)
        elif one.dimension in _COMPARED and (one.dimension != COUNT or one.noun not in _PIECES):
            yield one.noun or bases().get(one.dimension, one.dimension), round(float(one.value), 4)


def _count(quantity: Quantity) -> int:
    """Return how many pieces a quantity states, 1 where none."""
    one = quantity.measures[0] if quantity.form == "single" else None
    if one and one.dimension == COUNT and one.noun in _PIECES:
        return int(one.value * quantity.packs)
    return int(quantity.packs)


def _totals(stated: set[tuple[float, int]], together: int) -> Iterator[float]:
    """Yield what each measure comes to; one that is stated packed and alone, as in an attribute, counts as packed."""
    packed = {value for value, packs in stated if packs > 1}
    for value, packs in stated:
        if packs > 1:
            yield value * packs
        elif value not in packed:
            yield value * together


def _packed_differently(left: StatedAmounts, right: StatedAmounts) -> bool:
    if left.packs & right.packs:
        return False
    return any(
        _meet(left.measures, right.measures, unit) and not _meet(left.totals, right.totals, unit)
        for unit in left.totals.keys() & right.totals.keys()
    )


def _disjoint(one: frozenset[Any], other: frozenset[Any]) -> bool:
    return bool(one and other) and one.isdisjoint(other)


def _meet(left: _Values, right: _Values, unit: str) -> bool:
    return any(_close(one, other) for one in left.get(unit, ()) for other in right.get(unit, ()))


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= 0.03 * max(one, other)
