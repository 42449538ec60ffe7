"""Which prices nothing confirms, from the rule as the guide states it. Shares no code with the product. Pure."""

import math
from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from statistics import median
from typing import NamedTuple

OFFER, RISE, NEAR, SUPPORT = 1.95, 0.66, 0.1, 0.35
STATED = math.log(10) - 0.01


class Observed(NamedTuple):
    """One observation; amounts are in minor units, the list price 0 where none is stated."""

    channel: str
    day: date
    price: int
    list_price: int


def outliers(rows: Sequence[Observed]) -> list[bool]:
    """Return which of an item's observations of one month, currency and kind are outliers."""
    channels: dict[str, list[int]] = defaultdict(list)
    for place in sorted(
        range(len(rows)), key=lambda place: (rows[place].day, rows[place].price, rows[place].list_price)
    ):
        channels[rows[place].channel].append(place)
    value = [math.log(max(row.price, 0.5)) for row in rows]
    found = [False] * len(rows)
    for name, places in channels.items():
        for position, place in enumerate(places):
            contradicted = _contradicted(rows, value, places, position) or _is_above_all(rows, value, places, place)
            if contradicted and not _confirmed(rows, value, channels, name, position):
                found[place] = True
    return found


def _contradicted(rows: Sequence[Observed], value: list[float], places: list[int], position: int) -> bool:
    place = places[position]
    own = [value[other] for other in places if other != place]
    others = own if len(own) >= 3 else [value[other] for other in range(len(rows)) if other != place]
    if len(others) < 3:
        return False
    level = median(others)
    away = value[place] - level
    if abs(away) > OFFER:
        return True
    if abs(away) <= RISE or not 0 < position < len(places) - 1:
        return False
    before, after = places[position - 1], places[position + 1]
    rise = value[place] - max(value[before], value[after])
    fall = min(value[before], value[after]) - value[place]
    if max(rise, fall) > OFFER:
        return True
    if min(rise, away) <= RISE:
        return False
    at_level = sum(abs(value[other] - level) <= NEAR for other in places)
    if (rows[after].day - rows[before].day).days <= 3 and at_level >= max(6, 0.25 * len(own)):
        return True
    states_list_prices = any(rows[other].list_price for other in places)
    if states_list_prices and not rows[before].list_price and not rows[after].list_price:
        return True
    return all(_are_exchanged(rows[place].price, rows[other].price) for other in (before, after))


def _is_above_all(rows: Sequence[Observed], value: list[float], places: list[int], place: int) -> bool:
    """Return whether a price is far above six others or more, of its channel and of another."""
    others = [other for other in range(len(rows)) if other != place]
    return (
        len(others) >= 6 and 1 < len(places) < len(rows) and value[place] - max(value[other] for other in others) > RISE
    )


def _are_exchanged(price: int, other: int) -> bool:
    """Return whether one price is the other with two neighbouring digits exchanged."""
    digits, others = list(str(price)), str(other)
    for at in range(len(digits) - 1):
        exchanged = digits.copy()
        exchanged[at], exchanged[at + 1] = digits[at + 1], digits[at]
        if "".join(exchanged) == others != str(price):
            return True
    return False


def _confirmed(
    rows: Sequence[Observed], value: list[float], channels: dict[str, list[int]], name: str, position: int
) -> bool:
    places = channels[name]
    place = places[position]
    row, own = rows[place], value[place]
    if row.list_price > row.price and math.log(row.list_price) - own < STATED:
        return True
    if any(other.list_price and abs(math.log(other.list_price) - own) <= NEAR for other in rows):
        return True
    beside = places[max(position - 1, 0) : position] + places[position + 1 : position + 2]
    if any(abs(value[other] - own) <= NEAR for other in beside):
        return True
    if sum(abs(value[other] - own) <= NEAR for other in places) - 1 >= max(2, 0.05 * len(places)):
        return True
    for channel, others in channels.items():
        if channel == name:
            continue
        if any(rows[other].day == row.day and abs(value[other] - own) <= NEAR for other in others):
            return True
        if len(others) >= 3 and abs(median(value[other] for other in others) - own) <= SUPPORT:
            return True
    return False
