"""Standings of brands and of categories: how many items each has in a period, and its rank among its equals.

Most counts are those of rollups: where all that a rollup observed in a period is what its brand or category has in it.
Items are read where one may be in two rollups of a period, observations where a period has only some of a rollup's.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from datetime import date
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from shared.analytics.rollup_scope import RollupScope
from workers.analytics.reports.filters import SQL, Filter
from workers.analytics.reports.periods import Range, number
from workers.analytics.reports.query import Reader
from workers.analytics.rollups.arrays import Array, coded, distinct, joined, numbered, ranges, starts_of, sums_by
from workers.analytics.rollups.codec import unpack_joined

Subject = Literal["brand", "category"]
Moment = tuple[int, str, int]
"""A channel (0: those of the filter together), a currency, the first day of a period."""
TotalOf = Literal["items", "observations"] | None
_DAYS_MAX = 31


class Rank(NamedTuple):
    """A place among others: 1 is the one with most items; equals share a place."""

    rank: int
    of: int
    percentile: float


class Counted(NamedTuple):
    """How many of something each brand or category has, in the order of their ids."""

    owner: Array
    n: Array


class Ranks:
    """Standings of one moment, computed once for all rows."""

    def __init__(self, items: Counted) -> None:
        self._items = dict(zip(items.owner.tolist(), items.n.tolist(), strict=True))
        self._ascending = np.sort(items.n).tolist()

    def of(self, number: int) -> Rank | None:
        """Return the standing of an id; None where it has no items. The percentile is of the others with fewer."""
        n = self._items.get(number)
        if n is None:
            return None
        others = len(self._ascending) - 1
        fewer = bisect_left(self._ascending, n)
        more = len(self._ascending) - bisect_right(self._ascending, n)
        return Rank(more + 1, others + 1, round(100 * fewer / others, 4) if others else 100.0)


class ItemCounts:
    """The items that a filter without brands and categories finds, of each brand or category with those below it.

    `now` are the moments of the range, `before` those of the periods that its rows are compared with. `by_channel`: in
    each channel apart. `total_of` says what `totals` are of, if anything: observations cost less than items.
    """

    def __init__(
        self,
        reader: Reader,
        subject: Subject,
        chosen: Filter,
        *,
        by_channel: bool,
        total_of: TotalOf,
    ) -> None:
        days = reader.days
        spans = [_Span(one, chosen.channels, by_channel=by_channel) for one in (days, days.before())]
        if total_of:
            whole = days._replace(granularity=None)
            spans.append(_Span(whole, chosen.channels, by_currency=False, items=total_of == "items"))
        owners = _Owners(reader, subject)
        counted = _count(reader, subject, chosen, spans)
        self.now, self.before = ({moment: owners.sums(one) for moment, one in of.items()} for of in counted[:2])
        self._totals = [owners.sums(one) for of in counted[2:] for one in of.values()]

    def totals(self) -> dict[int, int]:
        """Return what each has in the range: an item that has prices in two currencies or periods is one."""
        return {owner: n for one in self._totals for owner, n in zip(one.owner.tolist(), one.n.tolist(), strict=True)}


def total_of(listing: Mapping[str, Any] | None) -> TotalOf:
    """Return what a list must know of all that it may name: what it is sorted by; of names, that there is something."""
    if listing is None:
        return None
    return "items" if listing["sort"].removeprefix("-") == "items" else "observations"


class _Owners:
    """For which ids the items of a brand or of a category count: for a brand itself, or a category and those above."""

    def __init__(self, reader: Reader, subject: Subject) -> None:
        self._is_own = subject == "brand"
        pairs = [] if self._is_own else [(low, one.id) for one in reader.tree.by_id.values() for low in one.below]
        below, self._above = np.array(sorted(pairs), "i8").reshape(-1, 2).T
        ids = np.arange(below.max(initial=0) + 1)
        self._starts, self._ends = (np.searchsorted(below, ids, side) for side in ("left", "right"))

    def sums(self, counted: Counted) -> Counted:
        """Return the counts of brands or categories as those of their owners."""
        if self._is_own:
            return counted
        first = self._starts.take(counted.owner)
        lengths = self._ends.take(counted.owner) - first
        return Counted(*sums_by((self._above.take(ranges(first, lengths)),), np.repeat(counted.n, lengths)))


class _Span(NamedTuple):
    """Days, and what is counted in each of their periods: items or observations, in which channels, and what apart."""

    days: Range
    channels: tuple[int, ...] | None
    by_currency: bool = True
    by_channel: bool = False
    items: bool = True

    @property
    def of_channels(self) -> bool:
        """Return whether the counts of a rollup's channels are the answer, not those of the whole rollup."""
        return self.by_channel or self.channels is not None

    @property
    def adds_channels(self) -> bool:
        """Return whether counts of several channels come into one, where an item may be in two of them."""
        return not self.by_channel and len(self.channels or ()) > 1


class _Rollups(NamedTuple):
    """The counts of rollups, a row each. `month` is its first day, `source` its month, currency and stratum."""

    group: Array
    month: Array
    currency: Array
    source: Array
    n: Array
    items: Array
    by_day: Array
    channels: tuple[bytes, ...]
    currencies: list[str]
    keys: list[tuple[int, date, str, str]]

    def channel_ids(self) -> list[int]:
        """Return the ids of channels that have any observation, in any order, perhaps more than once."""
        return list(unpack_joined(self.channels, 1)[1][0].tolist())

    @classmethod
    def read(
        cls, reader: Reader, scope: RollupScope, chosen: Filter, months: list[date], *, channels: bool
    ) -> "_Rollups | None":
        rows = list(reader.rows(SQL.item_counts, scope, months, chosen.currency, list(chosen.strata), channels))
        if not rows:
            return None
        keys = [row[:4] for row in rows]
        group, month, currency, _, n, items, by_day, packed = zip(*rows, strict=True)
        sources = {one: place for place, one in enumerate(sorted({key[1:] for key in keys}))}
        currencies = sorted(set(currency))
        first_days = {one: number(one) for one in months}
        return cls(
            np.array(group, "i8"),
            np.array([first_days[one] for one in month]),
            np.array([currencies.index(one) for one in currency]),
            np.array([sources[key[1:]] for key in keys]),
            np.array(n, "i8"),
            np.array(items, "i8"),
            unpack_joined(by_day, 1)[1][0].reshape(len(rows), -1),
            packed,
            currencies,
            keys,
        )


class _Read(NamedTuple):
    """What was read of a month: rollups with their items, one after the other, and observations of some of them.

    `row` is the rollup of each item, `entry_row` of each observation, whose item is at `place`.
    """

    month: int
    row: Array
    ids: Array
    entry_row: Array
    place: Array
    day: Array
    channel: Array


def _count(reader: Reader, subject: Subject, chosen: Filter, spans: list[_Span]) -> list[dict[Moment, Counted]]:
    """Return the counts of each span; what several of them need is read once."""
    months = sorted({month for span in spans for month in span.days.months()})
    of_channels = any(span.of_channels for span in spans)
    scope = RollupScope[subject.upper()]
    rollups = _Rollups.read(reader, scope, chosen, months, channels=of_channels)
    if rollups is None:
        return [{} for _ in spans]
    counts = [_Count(span, rollups) for span in spans]
    by_ids, by_entries = (np.logical_or.reduce(one) for one in zip(*(count.needs for count in counts), strict=True))
    by_ids |= by_entries
    unread = [month for month in months if by_ids[rollups.month == number(month)].any()]
    rows = {key: row for row, key in enumerate(rollups.keys)} if unread else {}
    for done, month in enumerate(unread):
        reader.report_progress("counting", done, len(unread))
        of_month = rollups.month == number(month)
        ids, entries = ((needed & of_month).nonzero()[0] for needed in (by_ids, by_entries))
        values = (scope, month, rollups.group.take(ids).tolist(), chosen.currency, list(chosen.strata))
        listed = list(reader.rows(SQL.items_and_entries, *values, rollups.group.take(entries).tolist()))
        read = _joined(month, [(rows[one[0], month, one[1], one[2]], *one[3:]) for one in listed])
        for count in counts:
            count.add(read)
    reader.report_progress("counting", len(unread), len(unread))
    return [count.by_moment() for count in counts]


def _joined(month: date, rows: list[tuple[int, bytes, bytes | None]]) -> _Read:
    lengths = np.array([len(packed) // 8 for _, packed, _ in rows])
    number_of, first = np.array([row for row, _, _ in rows]), np.cumsum(lengths) - lengths
    ids = np.frombuffer(b"".join(packed for _, packed, _ in rows), "<i8")
    there = [place for place, (_, _, entries) in enumerate(rows) if entries is not None]
    none = np.empty(0, "i8")
    row, place, day, channel = none, none, none, none
    if there:
        n, (_, item, _, day, channel) = unpack_joined([rows[one][2] or b"" for one in there], 5)
        row, place = np.repeat(number_of.take(there), n), np.repeat(first.take(there), n) + item
    return _Read(number(month), np.repeat(number_of, lengths), ids, row, place, day, channel)


class _Count:
    """The counts of one span: those that rollups have, then those of what is read."""

    def __init__(self, span: _Span, rollups: _Rollups) -> None:
        self._span = span
        self._rollups = rollups
        row, period, n = _cells(span.days, rollups)
        self._least = int(period.min(initial=0))
        self._moments, moment = numbered(self._moment_key(period, rollups.currency.take(row)))
        group = rollups.group.take(row)
        # A moment is of many rollups; a brand or category often has but one of them in it, and all that it observed.
        whole = n == rollups.n.take(row)
        _, pair = numbered(moment * (int(group.max(initial=0)) + 1) + group)
        is_alone = np.bincount(pair).take(pair) == 1
        are_items = whole & is_alone & (not span.adds_channels)
        is_counted = are_items if span.items else whole | (not span.of_channels)
        by_ids = ~is_counted & whole & (not span.of_channels)
        self._moment_of = np.full(len(rollups.n), -1)
        self._moment_of[row[by_ids]] = moment[by_ids]
        self._by_entries = np.zeros(len(rollups.n), bool)
        self._by_entries[row[~is_counted & ~by_ids]] = True
        sources, _ = numbered(moment * (int(rollups.source.max()) + 1) + rollups.source.take(row))
        self._sources = np.bincount(sources // (int(rollups.source.max()) + 1), minlength=len(self._moments))
        # By channel, a moment has as many places as there are ids of channels.
        self._channels = 1 + max(rollups.channel_ids()) if span.by_channel else 1
        self._counted: list[tuple[Array, ...]] = []
        self._pairs: list[tuple[Array, ...]] = []
        self._add_counts(*(column[is_counted] for column in (moment, row, n)))

    @property
    def needs(self) -> tuple[Array, Array]:
        """Return of which rollups the items must be read, and of which the observations too."""
        return self._moment_of >= 0, self._by_entries

    def add(self, read: _Read) -> None:
        """Add what was read of a month."""
        moment = self._moment_of.take(read.row)
        place = np.flatnonzero(moment >= 0)
        parts = [(moment.take(place) * self._channels, place)]
        if self._by_entries.take(read.entry_row).any():
            parts.append(self._of_entries(read))
        at, place = joined(parts)
        if not self._span.items:
            self._counted.append(sums_by((at, self._rollups.group.take(read.row).take(place)), None))
            return
        if len(parts) > 1:  # an item has many observations; among those of a rollup it is once
            at, place = np.divmod(distinct(at * len(read.row) + place), len(read.row))
        group = self._rollups.group.take(read.row.take(place))
        # Where all is of one source, no item comes twice.
        is_known = self._sources.take(at // self._channels) == 1
        self._counted.append(sums_by((at[is_known], group[is_known]), None))
        if not is_known.all():
            self._pairs.append((at[~is_known], group[~is_known], read.ids.take(place[~is_known])))

    def by_moment(self) -> dict[Moment, Counted]:
        """Return all counts."""
        if self._pairs:
            at, group, item = joined(self._pairs)
            items, item = coded(item)
            group_of = np.empty(items, "i8")
            group_of[item] = group  # an item has one brand and one category
            at, item = np.divmod(distinct(at * items + item), items)
            self._counted.append(sums_by((at, group_of.take(item)), None))
        at, group, n = sums_by(joined(self._counted)[:2], joined(self._counted)[2])
        counted = {}
        for start, stop in pairwise([*starts_of(at).tolist(), len(at)] if len(at) else []):
            moment, channel = divmod(int(at[start]), self._channels)
            period, currency = divmod(int(self._moments[moment]), len(self._rollups.currencies))
            name = self._rollups.currencies[currency] if self._span.by_currency else ""
            counted[channel, name, period + self._least] = Counted(group[start:stop], n[start:stop])
        return counted

    def _of_entries(self, read: _Read) -> tuple[Array, Array]:
        """Return where observations count, and the places of their items."""
        of_day = self._moments_of_month(read.month)
        if len(of_day) == 1:
            moment = of_day[0].take(read.day)
        else:
            moment = of_day[self._rollups.currency.take(read.entry_row), read.day]
        wanted = moment >= 0
        if not self._by_entries.all():
            wanted &= self._by_entries.take(read.entry_row)
        if self._span.channels is not None:
            wanted &= np.isin(read.channel, np.array(self._span.channels))
        if self._span.by_channel:
            moment = moment * self._channels + read.channel
        elif wanted.all():
            return moment, read.place
        return moment[wanted], read.place[wanted]

    def _add_counts(self, moment: Array, row: Array, n: Array) -> None:
        group = self._rollups.group.take(row)
        if not self._span.of_channels:
            figure = self._rollups.items.take(row) if self._span.items else n
            self._counted.append((moment, group, figure))
            return
        if not len(row):
            self._counted.append((moment, group, n))
            return
        lengths, columns = unpack_joined([self._rollups.channels[one] for one in row.tolist()], 3)
        channel, observed, items = (column.astype("i8") for column in columns)
        place = np.repeat(np.arange(len(row)), lengths)
        if self._span.channels is not None:
            wanted = np.flatnonzero(np.isin(channel, np.array(self._span.channels)))
            channel, observed, items, place = (one.take(wanted) for one in (channel, observed, items, place))
        at = moment.take(place) * self._channels + channel * self._span.by_channel
        self._counted.append((at, group.take(place), items if self._span.items else observed))

    def _moment_key(self, period: Array, currency: Array) -> Array:
        key: Array = (period - self._least) * len(self._rollups.currencies) + currency * self._span.by_currency
        return key

    def _moments_of_month(self, month: int) -> Array:
        """Return the moment of each currency and day of a month, of which the first is 1; -1 where there is none."""
        days = np.arange(month - 1, month + _DAYS_MAX)
        period = self._span.days.periods_of(days)
        currencies = np.arange(len(self._rollups.currencies))[:, None]
        keys = self._moment_key(period[None, :], currencies)
        place = np.searchsorted(self._moments, keys).clip(max=len(self._moments) - 1)
        is_in = (days >= number(self._span.days.first)) & (days <= number(self._span.days.last))
        moments: Array = np.where((self._moments.take(place) == keys) & is_in, place, -1)
        return moments


def _cells(days: Range, rollups: _Rollups) -> tuple[Array, Array, Array]:
    """Return each rollup and period in which it observed something, and how often."""
    cells = [(np.empty(0, "i8"),) * 3]
    for month in days.months():
        first = number(month)
        row = np.flatnonzero(rollups.month == first)
        low, high = max(0, number(days.first) - first), min(_DAYS_MAX, number(days.last) - first + 1)
        period = days.periods_of(np.arange(first + low, first + high))
        starts = starts_of(period)
        n = np.add.reduceat(rollups.by_day.take(row, 0)[:, low:high], starts, axis=1, dtype="i8")
        there, part = n.nonzero()
        cells.append((row.take(there), period.take(starts.take(part)), n[there, part]))
    row, period, n = joined(cells)
    return row, period, n
