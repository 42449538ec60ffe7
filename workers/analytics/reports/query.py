"""Reading: whole months from counted prices where they answer, packed single observations where they must."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from psycopg import IsolationLevel, pq

from shared.analytics.observations import OBSERVATION_KINDS, ObservationKind
from shared.analytics.rollup_scope import RollupScope
from shared.db.connect import Connection
from workers.analytics.exact_unit_prices import DECIMALS
from workers.analytics.reports.aggregator import Collector, GroupedSeries, Key, Rollup
from workers.analytics.reports.filters import SQL, Filter, Tree
from workers.analytics.reports.periods import Range, number
from workers.analytics.reports.result import WithoutContent
from workers.analytics.reports.unit_prices import UnitPrices, unit_prices_of
from workers.analytics.rollups.arrays import Array
from workers.analytics.rollups.codec import unpack
from workers.analytics.rollups.group_figures import unpack_figures

ReportProgress = Callable[[str, int, int | None], None]
_DAYS_MAX = 31
# Months of few rollups are condensed together: one by one, numpy's fixed costs would be most of a small report.
_CONDENSED_FROM = 100


@contextmanager
def snapshot(connection: Connection) -> Iterator[None]:
    """Have the queries of the block see one data_version and write nothing. A caller's open transaction continues."""
    if connection.info.transaction_status != pq.TransactionStatus.IDLE:
        yield
        return
    before = connection.isolation_level, connection.read_only
    connection.isolation_level, connection.read_only = IsolationLevel.REPEATABLE_READ, True
    try:
        with connection.transaction():  # its BEGIN names both: no statement of its own, no round trip
            yield
    finally:
        if not connection.closed:
            connection.isolation_level, connection.read_only = before


Rollups = tuple[RollupScope, tuple[int, ...], bool]
"""The scope and ids of rollups, and whether they are grouped by their ids."""


class WantedObservations(NamedTuple):
    """Those of a rollup's single observations that are wanted; `item` are places among the rollup's `item_ids`.

    `value` is what statistics are of: the price, or that of a unit in millionths of the currency.
    """

    group_id: int
    currency: str
    item_ids: bytes
    item_count: int
    price: Array
    item: Array
    other: Array
    day: Array
    channel: Array
    units: Array
    list_price: Array
    value: Array

    @property
    def ids(self) -> Array:
        return np.frombuffer(self.item_ids, "<i8").take(self.item)

    def groups(self, chosen: Filter) -> list[Array]:
        """Return what the filter groups them by, a column each."""
        own, other = ("brand", "category") if chosen.brands is not None else ("category", "brand")
        of = {own: np.full(len(self.price), self.group_id), other: self.other, "channel": self.channel}
        return [of[name] for name in chosen.group_by]


class DatedEntries(NamedTuple):
    """Entries with their days, counted from 1970, and the groups of a filter that has two at most; 0 without one."""

    entries: WantedObservations
    day: Array
    first_group: Array
    second_group: Array


@dataclass(frozen=True, slots=True)
class Reader:
    """What a report reads: one snapshot, the tree of its categories, a range of days.

    `report_progress` is called before each month and may raise to stop. With `unit_prices`, statistics are of the price
    of a unit, and of items that state how much they hold of it.
    """

    connection: Connection
    tree: Tree
    days: Range
    report_progress: ReportProgress = lambda stage, done, total: None
    unit_prices: UnitPrices | None = None

    def of(self, days: Range) -> "Reader":
        """Return the same for other days."""
        return replace(self, days=days)

    def rows(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement, packed columns as bytes."""
        return iter(self.connection.cursor(binary=True).execute(query, values))

    def with_default_kind(self, chosen: Filter) -> Filter:
        """Return the filter with its kinds settled: those asked for, else sales if it finds no listings but sales."""
        if chosen.kinds:
            return chosen
        listings, sales = (replace(chosen, kinds=OBSERVATION_KINDS[name]) for name in ("listing", "sale"))
        months = self._months_by_kind(chosen)
        if not months[ObservationKind.SALE] or self._has_observations(listings, months[ObservationKind.LISTING]):
            return listings
        return sales if self._has_observations(sales, months[ObservationKind.SALE]) else listings

    def has_sales(self, chosen: Filter) -> bool:
        """Return whether any sale matches a filter."""
        return self._has_observations(
            replace(chosen, kinds=OBSERVATION_KINDS["sale"]), self._months_by_kind(chosen)[ObservationKind.SALE]
        )

    def any_in_index(self, chosen: Filter) -> bool:
        """Return whether the whole index has an observation of a filter's kinds and currency in the range's months."""
        months = list(self.days.months())
        values = (months[0], months[-1], chosen.currency, list(chosen.strata))
        return self.connection.execute(SQL.any_in_index, values).fetchone() is not None

    def gather(self, chosen: Filter) -> GroupedSeries:
        """Collect the segments of a filter: whole months from rollups or figures where they answer, else entries."""
        return self.gather_each([chosen])[0]

    def gather_each(self, filters: Sequence[Filter]) -> list[GroupedSeries]:
        """Collect what `gather` does of filters that differ only in their groups; entries are read once for all."""
        months = list(self.days.months())
        decimals = DECIMALS if self.unit_prices else None
        collectors = [Collector(self.days, mixed=len(chosen.strata) > 1, decimals=decimals) for chosen in filters]
        answered = [self._answer(*one) for one in zip(collectors, filters, strict=True)]
        for done, month in enumerate(months):
            self.report_progress("reading", done, len(months))
            states = zip(collectors, filters, answered, strict=True)
            waiting = [(collector, chosen) for collector, chosen, known in states if month not in known]
            if waiting:
                self._add_entries(waiting, month)
        self.report_progress("reading", len(months), len(months))
        return [collector.segments() for collector in collectors]

    def entries(self, chosen: Filter, month: date, *, with_ids: bool = True) -> Iterator[WantedObservations]:
        """Yield a month's observations, rollup by rollup; without ids an item is known by its place alone."""
        if self.unit_prices is None:
            yield from self.observed(chosen, month, with_ids=with_ids)
            return
        for part in self.observed(chosen, month):
            held = self.unit_prices.contents(np.frombuffer(part.item_ids, "<i8")).take(part.item)
            kept = np.flatnonzero(held.numerator)
            *columns, _ = (column.take(kept) for column in part[4:])
            value = unit_prices_of(columns[0], held.take(kept), part.currency)
            yield WantedObservations(part.group_id, part.currency, part.item_ids, part.item_count, *[*columns, value])

    def dated_entries(self, chosen: Filter) -> Iterator[DatedEntries]:
        """Yield the observations of all months of the range, rollup by rollup."""
        months = list(self.days.months())
        for done, month in enumerate(months):
            self.report_progress("reading", done, len(months))
            for part in self.entries(chosen, month):
                ungrouped = (np.zeros(len(part.price), "i4"),) * 2
                first, second = (group.astype("i4") for group in [*part.groups(chosen), *ungrouped][:2])
                yield DatedEntries(part, number(month) - 1 + part.day.astype("i4"), first, second)
        self.report_progress("reading", len(months), len(months))

    def observed(self, chosen: Filter, month: date, *, with_ids: bool = True) -> Iterator[WantedObservations]:
        """Yield a month's observations, also those of items whose content is unknown."""
        scope, ids, others = rollups_with_entries(chosen, self.tree)
        values = (scope, month, ids, chosen.currency, list(chosen.strata), with_ids or bool(chosen.partial))
        for group_id, currency, packed, item_ids, item_count in self.rows(SQL.entries, *values):
            columns = wanted_entries(packed, others, chosen, self.days, month)
            if group_id in chosen.partial:
                is_wanted = np.isin(np.frombuffer(item_ids, "<i8"), np.array(chosen.items))
                wanted = np.flatnonzero(is_wanted.take(columns[1]))
                columns = [column.take(wanted) for column in columns]
            yield WantedObservations(group_id, currency, item_ids, item_count, *[*columns, columns[0]])

    def without_content(self, chosen: Filter) -> WithoutContent | None:
        """Return which items of a filter have prices and no known content; None where no unit prices are asked for."""
        if self.unit_prices is None:
            return None
        months = self.days.months()
        return self.unit_prices.without_content([part.ids for month in months for part in self.observed(chosen, month)])

    def _months_by_kind(self, chosen: Filter) -> dict[ObservationKind, set[date]]:
        """Return the months in which the scope of a filter has observations of each kind on days of the range."""
        scope, ids = chosen.scope
        days, months = self.days, list(self.days.months())
        months_by_kind: dict[ObservationKind, set[date]] = {kind: set() for kind in OBSERVATION_KINDS["both"]}
        for month, letter, packed in self.rows(SQL.kinds, scope, list(ids), months[0], months[-1], chosen.currency):
            first, last = (number(edge) - number(month) for edge in (days.first, days.last))
            kind = ObservationKind(letter).without_outliers
            wanted = chosen.outliers or letter == kind
            if wanted and unpack(packed)[0][max(0, first) : last + 1].any():
                months_by_kind[kind].add(month)
        return months_by_kind

    def _has_observations(self, chosen: Filter, months: set[date]) -> bool:
        """Return whether any observation matches a filter whose scope has some in these months."""
        if not chosen.crosses_scope:
            return bool(months)
        # The newest first: mostly it decides.
        ordered = sorted(months, reverse=True)
        return any(len(part.price) for month in ordered for part in self.observed(chosen, month, with_ids=False))

    def _answer(self, collector: Collector, chosen: Filter) -> set[date]:
        """Add what rollups and finished figures say of whole months; return the months that they answer."""
        if self.unit_prices:
            return set()
        whole = [month for month in self.days.months() if self.days.holds_month(month)]
        if whole and (rollups := _rollups_that_answer(chosen, self.tree)):
            self._add_counted(collector, chosen, rollups, whole)
            return set(whole)
        if whole and (finished_by := _finished_by(chosen, self.tree)):
            return self._add_finished(collector, chosen, finished_by, whole)
        return set()

    def _add_counted(self, collector: Collector, chosen: Filter, rollups: Rollups, months: list[date]) -> None:
        scope, ids, grouped = rollups
        rows = self.rows(SQL.spreads, scope, months, list(ids), chosen.currency, list(chosen.strata))
        before: date | None = None
        pending: list[Rollup] = []
        for group_id, month, currency, *columns in rows:
            if month != before and len(pending) > _CONDENSED_FROM:
                collector.add_rollups(pending)
                pending = []
            before = month
            pending.append(Rollup(Key(currency, number(month), group_id if grouped else 0, 0), *columns))
        collector.add_rollups(pending)

    def _add_finished(self, collector: Collector, chosen: Filter, by: str, months: list[date]) -> set[date]:
        """Add finished figures; return the months that they answer: those of which no rollup lacks them."""
        scope, ids, _ = rollups_with_entries(chosen, self.tree)
        rows = list(self.rows(SQL.figures, scope, months, ids, chosen.currency, list(chosen.strata), by))
        by_first = chosen.group_by[0] == by
        unfinished = {month for _, month, *_, packed in rows if packed is None}
        for own_id, month, currency, days, packed in rows:
            if month in unfinished:
                continue
            figures = unpack_figures(packed)
            own = own_id if len(chosen.group_by) > 1 else 0
            groups = [(group, own) if by_first else (own, group) for group in figures.group.tolist()]
            keys = [Key(currency, number(month), *group) for group in groups]
            collector.add_figures(keys, figures, unpack(days)[0])
        return set(months) - unfinished

    def _add_entries(self, collecting: Sequence[tuple[Collector, Filter]], month: date) -> None:
        """Add a month's entries to each collector, in the groups of its filter."""
        by_id = collecting[0][0].by_id
        for part in self.entries(collecting[0][1], month, with_ids=by_id):
            item = part.ids if by_id else part.item
            for collector, chosen in collecting:
                collector.add_entries(
                    part.currency,
                    month,
                    part.day,
                    part.groups(chosen),
                    part.value,
                    part.price,
                    part.list_price,
                    part.channel,
                    item,
                    part.item_count,
                )
        for collector, _ in collecting:
            collector.end_month()


def _rollups_that_answer(chosen: Filter, tree: Tree) -> Rollups | None:
    """Return the rollups whose counted prices are the answer; None: entries must be read."""
    # An item may be in several strata of a month, or in several channels; only entries show that it is one item.
    if len(chosen.strata) > 1 or len(chosen.channels or ()) > 1 or chosen.crosses_scope:
        return None
    if chosen.brands is not None and chosen.group_by == ("brand",):
        return RollupScope.BRAND, chosen.brands, True
    if chosen.brands is None and chosen.categories and chosen.group_by == ("category",):
        # A category has counted prices together with those below it only; where there is none, they are its own.
        alone = all(number in tree.by_id and tree.by_id[number].below == (number,) for number in chosen.categories)
        return (RollupScope.CATEGORY_TREE, chosen.categories, True) if alone else None
    return (*chosen.scope, False) if not chosen.group_by else None


def _finished_by(chosen: Filter, tree: Tree) -> str | None:
    """Return by what rollups with entries may keep finished figures that are the answer; None: entries must be read."""
    others = groups_within_rollups(chosen)
    if len(chosen.strata) > 1 or others is None or len(others) != 1:
        return None
    # Figures of two rollups do not add up, so each group must lie in one of them.
    alone = len(chosen.group_by) > 1 or len(rollups_with_entries(chosen, tree)[1]) == 1
    return others[0] if alone else None


def groups_within_rollups(chosen: Filter) -> list[str] | None:
    """Return by what a filter groups the observations of each rollup with entries; None: entries must be read.

    A rollup is of one brand or category: to group by that divides none.
    """
    if chosen.channels is not None or chosen.crosses_scope:
        return None
    own, within = ("brand", {"channel", "category"}) if chosen.brands is not None else ("category", {"channel"})
    others = [name for name in chosen.group_by if name != own]
    return others if within.issuperset(others) else None


def rollups_with_entries(chosen: Filter, tree: Tree) -> tuple[RollupScope, list[int], Array | None]:
    """Return the rollups to read, and which of the other kind are wanted in them."""
    if chosen.brands is not None:
        others = np.array(chosen.categories) if chosen.categories is not None else None
        return RollupScope.BRAND, list(chosen.brands), others
    ids = chosen.categories if chosen.categories is not None else (0, *tree.by_id)
    return RollupScope.CATEGORY, list(ids), None


def wanted_entries(packed: bytes, others: Array | None, chosen: Filter, days: Range, month: date) -> list[Array]:
    """Return those of a rollup's packed entries that are wanted, a column each.

    Price, place of the item, the other of brand and category, day of the month, channel, units, list price.
    """
    columns = unpack(packed)
    other, day, channel = columns[2:5]
    first, last = (number(edge) - number(month) + 1 for edge in (days.first, days.last))
    masks = []
    if others is not None:
        masks.append(np.isin(other, others))
    if chosen.channels is not None:
        masks.append(np.isin(channel, np.array(chosen.channels)))
    if first > 1:
        masks.append(day >= first)
    if last < _DAYS_MAX:
        masks.append(day <= last)
    if not masks:
        return columns
    wanted = np.flatnonzero(np.logical_and.reduce(masks))
    return [column.take(wanted) for column in columns]
