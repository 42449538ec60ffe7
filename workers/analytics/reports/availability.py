"""Availability: on which days items were seen in a channel, which are new or gone, and what channels have in common."""

from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.results import SIX_DECIMALS, Rows
from shared.db.connect import Connection
from shared.price_index.rows import MATCHED_LEAST
from workers.analytics.reports.aggregator import Key
from workers.analytics.reports.columns import Names, grouped_schema, in_row_order
from workers.analytics.reports.filters import SQL, Filter, Tree, filter_of
from workers.analytics.reports.intervals import BOUNDS
from workers.analytics.reports.item_ratios import METHOD as INTERVALS
from workers.analytics.reports.item_ratios import item_ratios
from workers.analytics.reports.periods import Range, day_of, last_day_of, number
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.reports.window import range_of
from workers.analytics.rollups.arrays import Array, coded, joined, numbered_rows, order_by, starts_of
from workers.analytics.rollups.codec import unpack

_OVERLAP = [
    pa.field("channel", pa.string()),
    pa.field("items", pa.int64()),
    *(pa.field(name, pa.float64()) for name in ("jaccard", "share", "share_of_other")),
]
_FIGURES = [
    ("channel", pa.string()),
    ("kind", pa.string()),
    ("items", pa.int64()),
    ("observed_days", pa.int64()),
    ("item_days", pa.int64()),
    ("missing_days", pa.int64()),
    *((name, pa.float64()) for name in ("share_seen", "share_seen_low", "share_seen_high")),
    ("first_day", pa.date32()),
    ("last_day", pa.date32()),
    ("new_items", pa.int64()),
    ("gone_items", pa.int64()),
    ("overlaps", pa.list_(pa.struct(_OVERLAP))),
]
UNITS = {
    **dict.fromkeys(("items", "new_items", "gone_items", "overlaps.items"), "items"),
    "observed_days": "days",
    **dict.fromkeys(("item_days", "missing_days"), "days × items"),
    **dict.fromkeys(("share_seen", "share_seen_low", "share_seen_high"), "share of days × items"),
    "overlaps.jaccard": "share of the items of either channel",
    "overlaps.share": "share of the row's items",
    "overlaps.share_of_other": "share of the other channel's items",
}
ROUNDING = {
    **dict.fromkeys(("share_seen", "overlaps.jaccard", "overlaps.share", "overlaps.share_of_other"), SIX_DECIMALS),
    **dict.fromkeys(("share_seen_low", "share_seen_high"), BOUNDS),
}
METHOD = (
    "an item is missing on a day between the first and the last of the period on which the channel has it, if the "
    "channel was observed on that day, of whatever item; new and gone items are against the whole previous period, "
    f"null if the channel was not observed in it; every observation counts, outliers too; {INTERVALS}"
)


class _Periods:
    """The periods of a range, from 1 on, and as number 0 the whole one before the first of them."""

    def __init__(self, days: Range) -> None:
        starts, start = [days.before().first], days.first
        while start <= days.last:
            starts.append(day_of(days.periods_of(np.array([number(start)]))[0]))
            start = last_day_of(starts[-1], days.granularity, days.last) + timedelta(days=1)
        self.starts = np.array([number(one) for one in starts], "i8")
        self.first = np.maximum(self.starts, [self.starts[0], *[number(days.first)] * (len(starts) - 1)])
        self.last = np.append(self.starts[1:] - 1, number(days.last))

    def of(self, day: Array) -> Array:
        """Return the number of each day's period."""
        return np.searchsorted(self.starts, day, "right") - 1


class _Sightings(NamedTuple):
    """Which items were seen in which channel on which day, once each, in this order; their groups are the filter's."""

    item: Array
    channel: Array
    day: Array
    first_group: Array
    second_group: Array

    @classmethod
    def read(cls, reader: Reader, chosen: Filter) -> "_Sightings":
        parts: list[tuple[Array, ...]] = [(np.empty(0, "i8"), *(np.empty(0, "i4"),) * 4)]
        for part, day, *groups in reader.dated_entries(chosen):
            parts.append((part.ids, part.channel.astype("i4"), day, *groups))
        item, channel, day, *groups = joined(parts)
        item = coded(item)[1].astype("i8")
        sightings = cls(item, channel, day, *groups).take(order_by(item, channel, day - day.min(initial=0)))
        return sightings.take(starts_of(sightings.item, sightings.channel, sightings.day))

    def take(self, rows: Array) -> "_Sightings":
        return _Sightings(*(column.take(rows) for column in self))


class _Cells(NamedTuple):
    """The items of each channel in each period, and their days; `offer` numbers items in channels over all periods."""

    offer: Array
    period: Array
    first: _Sightings
    last_day: Array
    seen_days: Array

    @classmethod
    def of(cls, sightings: _Sightings, offer: Array, period: Array) -> "_Cells":
        starts = starts_of(offer, period)
        ends = np.append(starts, len(offer))[1:] - 1
        first = sightings.take(starts)
        return cls(offer.take(starts), period.take(starts), first, sightings.day.take(ends), ends - starts + 1)

    def are_in(self, others: "_Cells", periods_later: int) -> Array:
        """Return which of them the others have too, so many periods later."""
        width = 1 + max(int(cells.period.max(initial=0)) for cells in (self, others)) + abs(periods_later)
        wanted = self.offer * width + self.period + periods_later
        return np.isin(wanted, others.offer * width + others.period)

    def take(self, rows: Array) -> "_Cells":
        return _Cells(
            self.offer.take(rows),
            self.period.take(rows),
            self.first.take(rows),
            self.last_day.take(rows),
            self.seen_days.take(rows),
        )

    def groups(self, periods_later: int = 0) -> tuple[Array, ...]:
        """Return the columns of their rows: period, groups and channel."""
        return self.period + periods_later, self.first.first_group, self.first.second_group, self.first.channel


class _ObservedDays:
    """On which days each channel was observed at all, of whatever brand or category."""

    def __init__(self, reader: Reader, chosen: Filter) -> None:
        months = list(reader.days.months())
        self._start = number(months[0])
        width = number(reader.days.last) - self._start + 1
        by_channel: dict[int, Array] = defaultdict(lambda: np.zeros(width, "i4"))
        rows = reader.rows(SQL.item_counts, "h", months, chosen.currency, list(chosen.strata), False)
        for channel, month, *_, packed, _ in rows:
            first = number(month) - self._start
            counts = unpack(packed)[0][: width - first]
            by_channel[channel][first : first + len(counts)] |= counts > 0
        self._row = np.zeros(max(by_channel, default=0) + 1, "i8")
        self._row[list(by_channel)] = np.arange(len(by_channel))
        days = np.array([*by_channel.values()], "i4").reshape(-1, width)
        self._until = np.pad(np.cumsum(days, axis=1), ((0, 0), (1, 0)))

    def count(self, channel: Array, first: Array, last: Array) -> Array:
        """Return on how many days from the first to the last each channel was observed."""
        row = self._row.take(channel)
        counted: Array = self._until[row, last - self._start + 1] - self._until[row, first - self._start]
        return counted


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Compute on which days items were seen.

    Raises BrandNotFound, CategoryNotFound, InvalidParameter, and what `report_progress` raises to stop it.
    """
    with snapshot(connection):
        tree = Tree.read(connection)
        chosen = replace(filter_of(connection, tree, parameters), outliers=True)
        days = range_of(connection, tree, chosen, parameters)
        reader = Reader(connection, tree, days, report_progress)
        chosen = reader.with_default_kind(chosen)
        wider = reader.of(days._replace(first=days.before().first))
        sightings, observed = _Sightings.read(wider, chosen), _ObservedDays(wider, chosen)
        rows = _Rows(sightings, observed, days)
        names = Names.read(connection, tree, chosen, rows.keys)
    seen = {int(day) for day in np.unique(sightings.day) if number(days.first) <= day}
    return Answer(_listed(rows, chosen, names), days, seen, UNITS, METHOD, ROUNDING, kind=chosen.kind)


class _Rows:
    """The figures of each period, group and channel, an array each, in one order."""

    def __init__(self, sightings: _Sightings, observed: _ObservedDays, days: Range) -> None:
        periods = _Periods(days)
        offer = np.zeros(len(sightings.day), "i8")
        offer[starts_of(sightings.item, sightings.channel)[1:]] = 1
        offer, period = np.cumsum(offer), periods.of(sightings.day)
        whole = _Cells.of(sightings, offer, period)
        in_range = np.flatnonzero(sightings.day >= number(days.first))
        cells = _Cells.of(sightings.take(in_range), offer.take(in_range), period.take(in_range))
        gone = self._gone(whole, cells, observed, periods)
        columns = map(np.concatenate, zip(cells.groups(), gone.groups(1), strict=True))
        (number_of, *groups, self.channel), place = numbered_rows(*columns)
        self.period = periods.starts.take(number_of)
        self.keys = [Key("", *key) for key in zip(*(column.tolist() for column in (self.period, *groups)), strict=True)]
        row, count = place[: len(cells.offer)], len(self.keys)
        missing = observed.count(cells.first.channel, cells.first.day, cells.last_day) - cells.seen_days
        self.items = np.bincount(row, minlength=count)
        self.item_days, self.missing_days = (
            np.bincount(row, n, count).astype("i8") for n in (cells.seen_days, missing)
        )
        self.share_seen = item_ratios(row, cells.first.item, cells.seen_days, cells.seen_days + missing, count)
        self.first_day, self.last_day = np.full(count, np.iinfo("i4").max), np.full(count, -1)
        np.minimum.at(self.first_day, row, cells.first.day)
        np.maximum.at(self.last_day, row, cells.last_day)
        self.observed_days = observed.count(self.channel, periods.first.take(number_of), periods.last.take(number_of))
        # The whole of the previous period, also where the range cuts it.
        earlier = number_of - 1
        before = observed.count(self.channel, periods.starts.take(earlier), periods.last.take(earlier))
        self.is_compared = before > 0
        self.new = np.bincount(row, ~cells.are_in(whole, -1), count).astype("i8")
        self.gone = np.bincount(place[len(cells.offer) :], minlength=count)
        self.overlaps = self._overlaps(row, cells, count)

    @staticmethod
    def _gone(whole: _Cells, cells: _Cells, observed: _ObservedDays, periods: _Periods) -> _Cells:
        """Return the cells that the next period lacks, where the channel was observed in that one."""
        following = np.minimum(whole.period + 1, len(periods.starts) - 1)
        there = observed.count(whole.first.channel, periods.first.take(following), periods.last.take(following)) > 0
        is_gone = (following > whole.period) & there & ~whole.are_in(cells, 1)
        return whole.take(np.flatnonzero(is_gone))

    def _overlaps(self, row: Array, cells: _Cells, count: int) -> dict[tuple[int, int], int]:
        """Return how many items each two rows have in common, of those that differ in their channel alone."""
        from scipy.sparse import csr_array  # only here: no other statistic needs it

        _, item = numbered_rows(cells.period, cells.first.item)
        has = csr_array((np.ones(len(row), "i8"), (item, row)), shape=(int(item.max(initial=-1)) + 1, count))
        shared = (has.T @ has).tocoo()
        pairs = zip(shared.row.tolist(), shared.col.tolist(), shared.data.tolist(), strict=True)
        return {(one, other): n for one, other, n in pairs}


def _listed(rows: _Rows, chosen: Filter, names: Names) -> Rows:
    listed = []
    beside: dict[Key, list[int]] = defaultdict(list)
    for row, key in enumerate(rows.keys):
        if rows.items[row]:
            beside[key].append(row)
    for row, key in enumerate(rows.keys):
        items, ratio, is_compared = int(rows.items[row]), rows.share_seen[row], bool(rows.is_compared[row])
        listed.append(
            {
                "period": day_of(key.period),
                **names.of(chosen.group_by, key),
                "channel": names.channels[int(rows.channel[row])],
                "kind": chosen.kind,
                "items": items,
                "observed_days": int(rows.observed_days[row]),
                "item_days": int(rows.item_days[row]),
                "missing_days": int(rows.missing_days[row]),
                "share_seen": ratio.value,
                "share_seen_low": ratio.low,
                "share_seen_high": ratio.high,
                "first_day": day_of(rows.first_day[row]) if items else None,
                "last_day": day_of(rows.last_day[row]) if items else None,
                "new_items": int(rows.new[row]) if is_compared else None,
                "gone_items": int(rows.gone[row]) if is_compared else None,
                "overlaps": sorted(
                    (_overlap(rows, row, other, names) for other in beside[key] if other != row and items),
                    key=lambda one: one["channel"],
                ),
            }
        )
    schema = grouped_schema(chosen.group_by, _FIGURES)
    return in_row_order(Rows.of(listed, schema), chosen.group_by)


def _overlap(rows: _Rows, row: int, other: int, names: Names) -> dict[str, Any]:
    """Return what the assortments of two channels have in common; no share of fewer than three items is stated."""
    own, others, shared = int(rows.items[row]), int(rows.items[other]), rows.overlaps.get((row, other), 0)
    is_known = min(own, others) >= MATCHED_LEAST
    return {
        "channel": names.channels[int(rows.channel[other])],
        "items": shared,
        "jaccard": round(shared / (own + others - shared), 6) if is_known else None,
        "share": round(shared / own, 6) if is_known else None,
        "share_of_other": round(shared / others, 6) if is_known else None,
    }
