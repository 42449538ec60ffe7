"""Evaluates watches in a load's transaction: their reports are committed with the load, or not at all."""

import json
import threading
from collections.abc import Collection, Iterable, Iterator
from datetime import date
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from shared.db.connect import Connection
from shared.db.copy_binary import EPOCH, HEADER, TRAILER, TableLayout
from shared.db.queries import load_queries
from shared.events.types import HYSTERESIS
from shared.money import to_text
from shared.organizations.accounts import BRAND
from workers.analytics.rollups.aggregates import Items, copied_out
from workers.analytics.rollups.codec import Array, Entries, Stratum, starts_of
from workers.analytics.rollups.outliers import ByStratum, partition
from workers.analytics.rollups.rows import ItemPrices, unpacked

# Which articles of an event are watched, and for what.


NEVER = 2**31 - 1
"""The absence of articles whose return no watch waits for."""
LAYOUT = TableLayout((("scope", "S1"), ("id", "i8"), ("absent", "i4")))
"""What is watched: `a` an item, `b` a brand, `c` a category; `absent`: days of an absence, 0 of a watch of prices."""


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
        for scope, column in ((b"a", items.item), (b"b", items.brand), (b"c", items.category)):
            of_scope = rows[rows["scope"] == scope]
            absent = of_scope["absent"].astype("i8")
            names = cls._least(of_scope["id"].astype("i8"), absent == 0, np.where(absent, absent, NEVER))
            place = names.places(column)
            known = np.flatnonzero((place >= 0) & (items.owner >= 0))
            place = place[known]
            found.append(cls(items.owner[known], names.priced[place], names.absent[place]))
        return cls._least(*(np.concatenate(columns) for columns in zip(*found, strict=True)))

    @classmethod
    def _least(cls, owner: Array, priced: Array, absent: Array) -> "Watched":
        """Put together what is said of each."""
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


# The newest prices and the days of watched articles, taken from what a load's rollups are made of. Pure.


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
        self._stretches: dict[str, list[tuple[Array, Array, Array]]] = {}
        self._lock = threading.Lock()

    def observe(self, month: date, by_stratum: ByStratum) -> None:
        """Take the entries that a month has of touched items: of each of them all."""
        self.months.add(month)
        if not len(self._watched.owner):
            return
        first = (month - EPOCH).days - 1
        returning: dict[str, list[Array]] = {}
        for stratum, entries in by_stratum.items():
            kind = stratum.kind.lower()
            place, priced, awaited = self._places(entries)
            if stratum.kind == kind and priced.any():
                self._observe_prices(stratum, place[priced], entries.day[priced], entries.price[priced], first)
            keys = (place[awaited] << _DAY_BITS) | entries.day[awaited]
            returning.setdefault(kind, []).append(keys)  # an outlier is a day as well
        for kind, parts in returning.items():
            stretches = self._without_absence(_ordered(np.concatenate(parts)), first)
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
    if _disordered(keys):
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


def _ordered(keys: Array) -> Array:
    return np.sort(keys) if _disordered(keys) else keys


def _disordered(keys: Array) -> bool:
    """Return whether keys must be sorted: those of one load mostly need not."""
    return bool((keys[1:] < keys[:-1]).any())


# How far the prices of the same items in the same channels moved between two months: their Jevons index. Pure.


Rollup = tuple[str, str, str, str, date, bytes]
"""Target, code, kind, currency, month, packed prices; ordered by all but the last."""


class Move(NamedTuple):
    """The change of one target's index from the month before to `month`, in %."""

    target: str
    code: str
    kind: str
    currency: str
    month: date
    percent: float


def moves(rollups: Iterable[Rollup]) -> Iterator[Move]:
    """Yield the move of each target whose two newest months are neighbours and have an item of a channel in common."""
    for target, rows in groupby(rollups, key=lambda rollup: rollup[:4]):
        months = {month: [unpacked(rollup[5]) for rollup in part] for month, part in groupby(rows, key=lambda c: c[4])}
        if len(months) < 2:
            continue
        (before, old), (month, new) = sorted(months.items())
        if (month.year - before.year) * 12 + month.month - before.month != 1:
            continue
        index = jevons(_joined(old), _joined(new))
        if index is not None:
            yield Move(target[0], target[1], target[2], target[3], month, 100 * (index - 1))


def jevons(old: ItemPrices, new: ItemPrices) -> float | None:
    """Return the geometric mean of the price relatives of the items that both have in a channel; None without any."""
    _, first, second = np.intersect1d(old.places(), new.places(), return_indices=True)
    if not len(first):
        return None
    return float(np.exp(np.mean(np.log(new.price[second]) - np.log(old.price[first]))))


def _joined(parts: list[ItemPrices]) -> ItemPrices:
    return ItemPrices(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


# Evaluates watches in a load's transaction: their reports are committed with the load, or not at all.


SQL = load_queries(__file__, "watches.sql")


def watched(connection: Connection, items: Items) -> WatchedMonths:
    """Find which articles of an event's items are watched; what is returned collects their prices and days."""
    [[any_active]] = connection.execute(SQL.any_active).fetchall()
    rows = LAYOUT.blank(0)
    if any_active:
        connection.execute(SQL.groups)
        connection.execute(SQL.analyze_groups)
        rows = copied_out(connection, SQL.watched, LAYOUT)
    return WatchedMonths(Watched.among(items, rows), any_active=any_active)


def evaluate(connection: Connection, load_no: int, new_months: Collection[date], observed: WatchedMonths) -> int:
    """Log an event for each watch whose condition a load has made true; return how many.

    Called when the load has refreshed the rollups; `new_months` had no observations before.
    """
    if not observed.any_active:
        return 0
    _arm(connection, observed)
    _find_prices(connection, load_no, new_months, observed)
    _find_moves(connection, observed.months)
    return _report(connection)


def rearm(connection: Connection, observed: WatchedMonths) -> None:
    """Arm the watches whose price is high again by something that is no load, such as an undone one. Nothing fires."""
    if observed.any_active:
        _arm(connection, observed)


def _copy(connection: Connection, table: str, pieces: Iterable[Array]) -> None:
    with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT binary)".encode()) as copy:
        copy.write(HEADER)
        for piece in pieces:
            copy.write(piece.tobytes())
        copy.write(TRAILER)


def _of_partition(query: str, month: date) -> bytes:
    return query.replace("{table}", partition(month)).encode()


def _arm(connection: Connection, observed: WatchedMonths) -> None:
    """Keep the newest prices, and arm the watches whose price has risen."""
    connection.execute(SQL.latest)
    _copy(connection, "watch_latest", observed.latest())
    connection.execute(SQL.analyze_latest)
    if connection.execute(SQL.risen, (HYSTERESIS,)).rowcount:
        for [month] in connection.execute(SQL.later_months).fetchall():
            connection.execute(_of_partition(SQL.not_newest, month), (month,))
        connection.execute(SQL.rearm)


def _find_prices(connection: Connection, load_no: int, new_months: Collection[date], observed: WatchedMonths) -> None:
    """Find what the prices of articles report: candidates from the touched months that no other month refutes."""
    connection.execute(SQL.days)
    _copy(connection, "watch_days", observed.days())
    connection.execute(SQL.analyze_days)
    connection.execute(SQL.candidates)
    connection.execute(SQL.priced, (HYSTERESIS,))
    connection.execute(SQL.returned, (list(new_months),))
    connection.execute(SQL.members)
    connection.execute(SQL.analyze_members)
    months = connection.execute(SQL.months, (list(new_months),)).fetchall()
    read = [_of_partition(SQL.month_rows, month) for month, reached in months if reached]
    rows = b"(" + (b" UNION ALL ".join(read) or SQL.no_rows.encode()) + b")"
    connection.execute(SQL.confirmed.encode().replace(b"{table}", rows), (load_no,))
    connection.execute(SQL.analyze_confirmed)
    older = (month for month, reached in months if not reached)
    while _any_unknown(connection) and (month := next(older, None)) is not None:
        connection.execute(_of_partition(SQL.known_in_month, month))


def _any_unknown(connection: Connection) -> bool:
    [[unknown]] = connection.execute(SQL.any_unknown).fetchall()
    return bool(unknown)


def _find_moves(connection: Connection, months: Collection[date]) -> None:
    changed = list(moves(connection.execute(SQL.index_targets, (list(months),)).fetchall()))
    if changed:
        columns = [list(column) for column in zip(*changed, strict=True)]
        connection.execute(SQL.index_moved, columns)


def _report(connection: Connection) -> int:
    connection.execute(SQL.not_entitled, (BRAND,))
    fired = connection.execute(SQL.fired).fetchall()
    if fired:
        connection.execute(SQL.remember)
        data = [json.dumps(_data(*values)) for _, *values in fired]
        connection.execute(SQL.log, ([organization for organization, *_ in fired], data))
    return len(fired)


def _data(
    watch_id: str,
    label: str | None,
    target: str,
    code: str,
    condition: str,
    kind: str,
    currency: str | None,
    threshold_minor: int | None,
    days: int | None,
    percent: float | None,
    iid: str | None,
    day: date,
    low_minor: int | None,
    low_before_minor: int | None,
    change_percent: float | None,
) -> dict[str, Any]:
    """Return the event's data: the watch with its condition, and the values of the article or the index."""

    def money(minor: int | None) -> str | None:
        return None if minor is None or currency is None else to_text(minor, currency)

    return {
        "watch": watch_id,
        "label": label,
        "target": target,
        "code": code,
        "condition": condition,
        "kind": "listing" if kind == "l" else "sale",
        "amount": money(threshold_minor),
        "currency": currency,
        "days": days,
        "percent": percent,
        "iid": iid,
        "day": day.isoformat(),
        "price": money(low_minor),
        "low_before": money(low_before_minor),
        "change_percent": None if change_percent is None else round(change_percent, 4),
    }
