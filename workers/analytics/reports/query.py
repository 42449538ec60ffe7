"""Reading: whole months from counted prices where they answer, packed single observations where they must."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
from psycopg import IsolationLevel, pq

from shared.db.connect import Connection
from workers.analytics.reports.aggregator import Collector, GroupedSeries, Key, Rollup
from workers.analytics.reports.filters import KINDS, SQL, Filter, Tree
from workers.analytics.reports.periods import Range, number
from workers.analytics.rollups.codec import Array, unpack
from workers.analytics.rollups.figures import unpack_figures

ReportProgress = Callable[[str, int, int | None], None]
_NONE: Array = np.empty(0, "i8")
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


def with_default_kind(connection: Connection, tree: Tree, chosen: Filter, days: Range) -> Filter:
    """Return the filter with its kinds settled: those asked for, else listings where it finds any, else sales."""
    if chosen.kinds:
        return chosen
    listings, sales = (replace(chosen, kinds=KINDS[name]) for name in ("listing", "sale"))
    months = _months_by_kind(connection, chosen, days)
    if not months["s"]:
        return listings
    if not months["l"]:
        return sales
    return listings if _has_observations(connection, tree, listings, days, months["l"]) else sales


def has_sales(connection: Connection, tree: Tree, chosen: Filter, days: Range) -> bool:
    """Return whether any sale matches a filter."""
    months = _months_by_kind(connection, chosen, days)["s"]
    return _has_observations(connection, tree, replace(chosen, kinds=KINDS["sale"]), days, months)


def _months_by_kind(connection: Connection, chosen: Filter, days: Range) -> dict[str, set[date]]:
    """Return the months in which the scope of a filter has observations of each kind on days of the range."""
    scope, ids = chosen.scope
    months = list(days.months())
    values = (scope, list(ids), months[0], months[-1], chosen.currency)
    months_by_kind: dict[str, set[date]] = {"l": set(), "s": set()}
    others = set() if chosen.outliers else {"L", "S"}
    for month, kind, packed in connection.cursor(binary=True).execute(SQL.kinds, values):
        first, last = (number(edge) - number(month) for edge in (days.first, days.last))
        if kind not in others and unpack(packed)[0][max(0, first) : last + 1].any():
            months_by_kind[kind.lower()].add(month)
    return months_by_kind


def any_in_index(connection: Connection, chosen: Filter, days: Range) -> bool:
    """Return whether the whole index has an observation of a filter's kinds and currency in the months of a range."""
    months = list(days.months())
    values = ("a", months[0], months[-1], None, chosen.currency, list(chosen.strata))
    return connection.execute(SQL.heads, values).fetchone() is not None


def _has_observations(connection: Connection, tree: Tree, chosen: Filter, days: Range, months: set[date]) -> bool:
    """Return whether any observation matches a filter whose scope has some in these months."""
    if chosen.channels is None and (chosen.brands is None or chosen.categories is None):
        return bool(months)
    for month in sorted(months, reverse=True):  # the newest first: mostly it decides
        collector = Collector(days)
        _add_entries(connection, collector, tree, chosen, days, month)
        if collector.segments().keys:
            return True
    return False


def gather(
    connection: Connection, tree: Tree, chosen: Filter, days: Range, report_progress: ReportProgress
) -> GroupedSeries:
    """Collect the segments of a filter. `report_progress` is called before each month and may raise to stop."""
    collector = Collector(days, mixed=len(chosen.strata) > 1)
    months = list(days.months())
    rollups, finished_by = _rollups_that_answer(chosen), _finished_by(chosen, tree)
    whole = [month for month in months if (rollups or finished_by) and days.holds_month(month)]
    if rollups and whole:
        _add_rollups(connection, collector, chosen, rollups, whole)
    elif whole and finished_by:
        whole = _add_figures(connection, collector, chosen, tree, finished_by, whole)
    for done, month in enumerate(months):
        report_progress("reading", done, len(months))
        if month not in whole:
            _add_entries(connection, collector, tree, chosen, days, month)
            collector.end_month()
    report_progress("reading", len(months), len(months))
    return collector.segments()


def _rollups_that_answer(chosen: Filter) -> tuple[str, tuple[int, ...], str | None] | None:
    """Return the scope and ids whose counted prices are the answer, and their group; None: entries must be read."""
    if len(chosen.strata) > 1:
        return None  # an item may be in several strata of a month; only entries show that it is one item
    if chosen.channels is not None and not (chosen.brands or chosen.categories or chosen.group_by):
        return ("h", chosen.channels, None) if len(chosen.channels) == 1 else None
    if chosen.channels is not None or (chosen.brands is not None and chosen.categories is not None):
        return None
    if chosen.brands is not None and chosen.group_by in ((), ("brand",)):
        return "b", chosen.brands, "brand" if chosen.group_by else None
    return (*chosen.scope, None) if not chosen.group_by else None


def _add_rollups(
    connection: Connection,
    collector: Collector,
    chosen: Filter,
    rollups: tuple[str, tuple[int, ...], str | None],
    whole: list[date],
) -> None:
    scope, ids, grouped = rollups
    values = (scope, whole, list(ids), chosen.currency, list(chosen.strata))
    add_rollups(collector, connection.cursor(binary=True).execute(SQL.spreads, values), grouped=grouped is not None)


def add_rollups(collector: Collector, rows: Iterable[tuple[Any, ...]], *, grouped: bool) -> None:
    """Add rollups in the order of their months, each with the columns of `spreads`; `grouped`: by their ids."""
    before: date | None = None
    pending: list[Rollup] = []
    for group_id, month, currency, *columns in rows:
        if month != before and len(pending) > _CONDENSED_FROM:
            collector.add_rollups(pending)
            pending = []
        before = month
        pending.append(Rollup(Key(currency, number(month), group_id if grouped else 0, 0), *columns))
    collector.add_rollups(pending)


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
    if chosen.channels is not None or None not in (chosen.brands, chosen.categories):
        return None
    own, within = ("brand", {"channel", "category"}) if chosen.brands is not None else ("category", {"channel"})
    others = [name for name in chosen.group_by if name != own]
    return others if within.issuperset(others) else None


def _add_figures(
    connection: Connection, collector: Collector, chosen: Filter, tree: Tree, finished_by: str, whole: list[date]
) -> list[date]:
    """Add finished figures; return the months that they answer: those of which no rollup lacks them."""
    scope, ids, _ = rollups_with_entries(chosen, tree)
    values = (scope, whole, ids, chosen.currency, list(chosen.strata), finished_by)
    rows = connection.cursor(binary=True).execute(SQL.figures, values).fetchall()
    by_first = chosen.group_by[0] == finished_by
    unfinished = {month for _, month, *_, packed in rows if packed is None}
    for own_id, month, currency, days, packed in rows:
        if month in unfinished:
            continue
        figures = unpack_figures(packed)
        own = own_id if len(chosen.group_by) > 1 else 0
        groups = [(one, own) if by_first else (own, one) for one in figures.group.tolist()]
        keys = [Key(currency, number(month), *group) for group in groups]
        collector.add_figures(keys, figures, unpack(days)[0])
    return [month for month in whole if month not in unfinished]


def _add_entries(
    connection: Connection, collector: Collector, tree: Tree, chosen: Filter, days: Range, month: date
) -> None:
    scope, ids, others = rollups_with_entries(chosen, tree)
    own = "brand" if scope == "b" else "category"
    values = (scope, month, ids, chosen.currency, list(chosen.strata), collector.by_id)
    for group_id, currency, packed, item_ids, item_count in connection.cursor(binary=True).execute(SQL.entries, values):
        price, position, other, day, channel, _, list_price = wanted_entries(packed, others, chosen, days, month)
        groups = [
            channel if name == "channel" else np.full(len(price), group_id) if name == own else other
            for name in chosen.group_by
        ] + [_NONE, _NONE]
        item = np.frombuffer(item_ids, "<i8").take(position) if collector.by_id else position
        collector.add_entries(
            currency, month, day, (groups[0], groups[1]), price, list_price, channel, item, item_count
        )


def rollups_with_entries(chosen: Filter, tree: Tree) -> tuple[str, list[int], Array | None]:
    """Return the rollups to read, and which of the other kind are wanted in them."""
    if chosen.brands is not None:
        others = np.array(chosen.categories) if chosen.categories is not None else None
        return "b", list(chosen.brands), others
    ids = chosen.categories if chosen.categories is not None else (0, *tree.by_id)
    return "c", list(ids), None


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
