"""Which channel changed an item's price first, and which others followed with a change the same way."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shared.price_index.panel import Mask
from workers.analytics.reports.daily_listings import DailyListings
from workers.analytics.rollups.arrays import Array, joined, starts_of


class Roles(NamedTuple):
    """Of each change: whether another channel had the item, had changed its price before, did so on the same day."""

    matched: Mask
    following: Mask
    joint: Mask

    @property
    def first(self) -> Mask:
        """Which are first moves: those that no other channel had made before, or makes on the same day."""
        first: Mask = self.matched & ~self.following & ~self.joint
        return first


class Responses(NamedTuple):
    """What other channels did after changes: `lag` days later the same, or not within the days asked about (0)."""

    change: Array
    channel: Array
    lag: Array


class PriceMoves:
    """The changes of prices in all channels of each item, to be looked up by series, direction and day.

    `row` are the listings with a new price, `rises` says which of them are dearer. A channel follows within
    `follow_days`. It has an item where it was observed in the `gap_days_max` days before.
    """

    def __init__(
        self, listings: DailyListings, row: Array, rises: Mask, *, follow_days: int, gap_days_max: int
    ) -> None:
        self._follow_days, self._gap_days_max = follow_days, gap_days_max
        starts = listings.series()
        day = listings.day.astype("i8") - int(listings.day.min(initial=0))
        # Series and days are one number; so far apart that no day near those of one series is one of another.
        self._span = int(day.max(initial=0)) + 2 * (follow_days + gap_days_max) + 1
        series = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(day)))
        self._quotes = series * self._span + day
        self._channel = listings.channel.take(starts)
        self._day, self._rises, self._series = day.take(row), rises.astype("i8"), series.take(row)
        self._moves = np.sort(self._move_of(self._series, self._rises, self._day))
        first = starts_of(listings.currency.take(starts), listings.item.take(starts))
        channels = np.diff(first, append=len(starts))
        self._first_of_item, self._channels = np.repeat(first, channels), np.repeat(channels, channels)

    def roles(self, changes: Array) -> Roles:
        """Return the roles of some of the changes."""
        roles = Roles(*(np.zeros(len(changes), bool) for _ in Roles._fields))
        for place, other in self._others(changes):
            own = changes.take(place)
            move = self._move_of(other, self._rises.take(own), self._day.take(own))
            since, today, after = (self._moves.searchsorted(move + days) for days in (-self._follow_days, 0, 1))
            roles.matched[place] = True
            roles.following[place[since < today]] = True
            roles.joint[place[today < after]] = True
        return roles

    def responses(self, changes: Array) -> Responses:
        """Return what each other channel did after some changes, where it was observed to the end of the days."""
        parts = [(np.empty(0, "i8"), np.empty(0, "i8"), np.empty(0, "i8"))]
        for place, other in self._others(changes):
            own = changes.take(place)
            ends = other * self._span + self._day.take(own) + self._follow_days
            found = self._quotes.searchsorted(ends).clip(max=len(self._quotes) - 1)
            away = self._quotes.take(found) - ends
            known = np.flatnonzero((away >= 0) & (away <= self._gap_days_max))
            partner, own = other.take(known), own.take(known)
            move = self._move_of(partner, self._rises.take(own), self._day.take(own))
            lag = self._moves.take(self._moves.searchsorted(move + 1).clip(max=len(self._moves) - 1)) - move
            followed = (lag >= 1) & (lag <= self._follow_days)
            parts.append((place.take(known), self._channel.take(partner), np.where(followed, lag, 0)))
        return Responses(*joined(parts))

    def _move_of(self, series: Array, rises: Array, day: Array) -> Array:
        number: Array = (2 * series + rises) * self._span + day
        return number

    def _others(self, changes: Array) -> Iterator[tuple[Array, Array]]:
        """Yield places of changes, and for each the series of another channel that had its item; each pair once."""
        own = self._series.take(changes)
        first, channels = self._first_of_item.take(own), self._channels.take(own)
        for step in range(1, int(channels.max(initial=1))):
            place = np.flatnonzero(channels > step)
            other = first[place] + (own[place] - first[place] + step) % channels[place]
            day = other * self._span + self._day.take(changes.take(place))
            before = self._quotes.searchsorted(day)
            gap = day - self._quotes.take(np.maximum(before - 1, 0))
            known = np.flatnonzero((before > 0) & (gap <= self._gap_days_max))
            yield place.take(known), other.take(known)
