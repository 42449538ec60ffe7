"""Which articles of an event are watched, and their newest prices, from what a load's rollups are made of."""

import threading
from collections.abc import Iterator
from datetime import date
from enum import Enum
from typing import NamedTuple

import numpy as np

from shared.analytics.observations import ObservationKind
from shared.db.copy_binary import EPOCH, TableLayout
from workers.analytics.rollups.arrays import Array, starts_of
from workers.analytics.rollups.entries import Entries, Stratum
from workers.analytics.rollups.items import Items
from workers.analytics.rollups.strata import ByStratum

NEVER = 2**31 - 1
"""The absence of articles whose return no watch waits for."""
LAYOUT = TableLayout((("scope", "S1"), ("id", "i8"), ("absent", "i4")))
"""A row for each watched thing: its WatchedScope, its id, and the days of an absence, 0 for a watch of prices."""


class WatchedScope(Enum):
    """The kind of a watched thing, with its letter in the statement `watched`."""

    ITEM = b"a"
    BRAND = b"b"
    CATEGORY = b"c"


class Watched(NamedTuple):
    """Articles that are watched, in the order of their ids.

    `priced`: whether a watch waits for a price; `absent`: the shortest absence that one waits for, in days.
    """

    owner: Array
    priced: Array
    absent: Array

    @classmethod
    def among(cls, items: "Items", rows: Array) -> "Watched":
        """Return the watched ones among the articles of `items`; `rows` have the columns of LAYOUT."""
        found = [cls._least(*(np.empty(0, kind) for kind in ("i8", bool, "i8")))]
        columns = (
            (WatchedScope.ITEM, items.item),
            (WatchedScope.BRAND, items.brand),
            (WatchedScope.CATEGORY, items.category),
        )
        for scope, column in columns:
            of_scope = rows[rows["scope"] == scope.value]
            absent = of_scope["absent"].astype("i8")
            names = cls._least(of_scope["id"].astype("i8"), absent == 0, np.where(absent, absent, NEVER))
            place = names.places(column)
            known = np.flatnonzero((place >= 0) & (items.owner >= 0))
            place = place[known]
            found.append(cls(items.owner[known], names.priced[place], names.absent[place]))
        return cls._least(*(np.concatenate(columns) for columns in zip(*found, strict=True)))

    @classmethod
    def _least(cls, owner: Array, priced: Array, absent: Array) -> "Watched":
        """Merge the rows of each owner."""
        owners, place = np.unique(owner, return_inverse=True)
        any_priced, least = np.zeros(len(owners), bool), np.full(len(owners), NEVER)
        any_priced[place[priced]] = True
        np.minimum.at(least, place, absent)
        return cls(owners, any_priced, least)

    def places(self, owner: Array) -> Array:
        """Return the place of each owner among these, -1 where it is none of them."""
        if not len(self.owner):
            return np.full(len(owner), -1)
        place = np.searchsorted(self.owner, owner)
        place[place == len(self.owner)] = 0
        return np.where(self.owner[place] == owner, place, -1)


LATEST = TableLayout(
    (
        ("owner", "i8"),
        ("kind", "S1"),
        ("currency", "S3"),
        ("day", "i4"),
        ("low", "i8"),
        ("before", "i8"),
        ("first", "i4"),
    )
)
"""An article's newest day in a currency, with its lowest price. Of that day's month: the lowest price before that day
(-1: none), and the first day."""
DAYS = TableLayout((("owner", "i8"), ("kind", "S1"), ("day", "i4"), ("absence", "i4")))
"""Days of an article before which it was absent for longer than a watch waits for: for so many days, or 0 where no day
before it is known."""
_DAY_BITS = 5
_NO_PRICE = np.iinfo("i8").max
_NO_DAY = np.iinfo("i4").min


class _Newest(NamedTuple):
    """By place among the watched articles; days count from 2000."""

    day: Array
    low: Array
    before: Array
    first: Array


class WatchedMonths:
    """Collects the months that an event changes, in any order. Months may come from several threads."""

    def __init__(self, watched: Watched, *, any_active: bool) -> None:
        self.any_active = any_active
        self.months: set[date] = set()
        self._watched = watched
        self._newest: dict[Stratum, _Newest] = {}
        self._stretches: dict[ObservationKind, list[tuple[Array, Array, Array]]] = {}
        self._lock = threading.Lock()

    def observe(self, month: date, by_stratum: ByStratum) -> None:
        """Take the entries that a month has of touched items: of each of them all."""
        self.months.add(month)
        if not len(self._watched.owner):
            return
        first = (month - EPOCH).days - 1
        returning: dict[ObservationKind, list[Array]] = {}
        for stratum, entries in by_stratum.items():
            kind = stratum.kind.without_outliers
            place, priced, awaited = self._places(entries)
            if stratum.kind == kind and priced.any():
                self._observe_prices(stratum, place[priced], entries.day[priced], entries.price[priced], first)
            keys = (place[awaited] << _DAY_BITS) | entries.day[awaited]
            returning.setdefault(kind, []).append(keys)  # an outlier is a day as well
        for kind, parts in returning.items():
            stretches = self._without_absence(_sort_keys(np.concatenate(parts)), first)
            with self._lock:
                self._stretches.setdefault(kind, []).append(stretches)

    def latest(self) -> Iterator[Array]:
        """Yield rows of LATEST: articles that a watch of prices waits for."""
        for stratum, newest in self._newest.items():
            place = np.flatnonzero(newest.day != _NO_DAY)
            rows = LATEST.blank(len(place))
            rows["owner"], rows["kind"], rows["currency"] = self._watched.owner[place], stratum.kind, stratum.currency
            for name, column in zip(_Newest._fields, newest, strict=True):
                rows[name] = column[place]
            yield rows

    def days(self) -> Iterator[Array]:
        """Yield rows of DAYS: articles whose return a watch waits for."""
        for kind, parts in self._stretches.items():
            place, begin, end = (np.concatenate(columns) for columns in zip(*parts, strict=True))
            order = np.lexsort((begin, place))
            place, begin, end = place[order], begin[order], end[order]
            absence = np.zeros(len(place), "i8")
            absence[1:] = np.where(place[1:] == place[:-1], begin[1:] - end[:-1], 0)
            chosen = np.flatnonzero((absence == 0) | (absence > self._watched.absent[place]))
            rows = DAYS.blank(len(chosen))
            rows["owner"], rows["kind"] = self._watched.owner[place[chosen]], kind
            rows["day"], rows["absence"] = begin[chosen], absence[chosen]
            yield rows

    def _places(self, entries: Entries) -> tuple[Array, Array, Array]:
        """Return the place of each entry's article, and whether a price and whether a return of it is waited for.

        Entries of an item are mostly side by side: it is found once a stretch.
        """
        stretches = starts_of(entries.item)
        place = self._watched.places(entries.item[stretches])
        lengths = np.diff(stretches, append=len(entries.item))
        known = place >= 0
        columns = (place, known & self._watched.priced[place], known & (self._watched.absent[place] < NEVER))
        place, priced, awaited = (np.repeat(column, lengths) for column in columns)
        return place, priced, awaited

    def _observe_prices(self, stratum: Stratum, place: Array, day: Array, price: Array, first: int) -> None:
        places, found = _newest(place, day, price, first)
        with self._lock:
            if stratum not in self._newest:
                size = len(self._watched.owner)
                self._newest[stratum] = _Newest(np.full(size, _NO_DAY), *(np.zeros(size, "i8") for _ in range(3)))
            newest = self._newest[stratum]
            later = np.flatnonzero(found.day > newest.day[places])
            for kept, column in zip(newest, found, strict=True):
                kept[places[later]] = column[later]

    def _without_absence(self, keys: Array, first: int) -> tuple[Array, Array, Array]:
        """Return place, first and last day of stretches of days; `keys` are places and days of the month, in order."""
        keys = keys.take(starts_of(keys))
        place, day = keys >> _DAY_BITS, keys & ((1 << _DAY_BITS) - 1)
        begins = np.ones(len(keys), bool)
        begins[1:] = (place[1:] != place[:-1]) | (day[1:] - day[:-1] > self._watched.absent[place[1:]])
        ends = np.ones(len(keys), bool)
        ends[:-1] = begins[1:]
        return place[begins], day[begins] + first, day[ends] + first


def _newest(place: Array, day: Array, price: Array, first: int) -> tuple[Array, _Newest]:
    """Return the distinct places, and the newest of each."""
    keys = (place << _DAY_BITS) | day
    if _is_unsorted(keys):
        order = np.argsort(keys, kind="stable")
        keys, price = keys.take(order), price.take(order)
    of_days = starts_of(keys)
    low, keys = np.minimum.reduceat(price, of_days), keys.take(of_days)
    place = keys >> _DAY_BITS
    starts = starts_of(place)
    newest = np.append(starts[1:], len(place)) - 1
    day = (keys & ((1 << _DAY_BITS) - 1)) + first
    earlier = low.copy()
    earlier[newest] = _NO_PRICE
    before = np.minimum.reduceat(earlier, starts)
    return place[starts], _Newest(day[newest], low[newest], np.where(before == _NO_PRICE, -1, before), day[starts])


def _sort_keys(keys: Array) -> Array:
    return np.sort(keys) if _is_unsorted(keys) else keys


def _is_unsorted(keys: Array) -> bool:
    """Return whether keys must be sorted: those of one load mostly need not."""
    return bool((keys[1:] < keys[:-1]).any())
