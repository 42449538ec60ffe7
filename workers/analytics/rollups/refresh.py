"""The refresh: rollups of the months that a load touched, from their former content and the present observations."""

from collections.abc import Callable, Iterator
from datetime import date
from itertools import chain

import numpy as np
from psycopg import sql

from shared.analytics.rollup_scope import RollupScope
from shared.db.connect import Connection
from shared.db.copy_binary import TableLayout
from workers.analytics.rollups import rows
from workers.analytics.rollups.aggregates import Aggregates, ancestor_totals, tally, total
from workers.analytics.rollups.arrays import Array
from workers.analytics.rollups.entries import Entries, Stratum
from workers.analytics.rollups.item_prices import ItemPrices
from workers.analytics.rollups.items import Ancestors, Items, copied_out
from workers.analytics.rollups.layout import ReportProgress
from workers.analytics.rollups.marks import NO_OBSERVATIONS, mark, partition
from workers.analytics.rollups.rows import SQL
from workers.analytics.rollups.sorted_entries import SortedEntries
from workers.analytics.rollups.strata import ByStratum, Observed, by_stratum

Observe = Callable[[date, ByStratum], None]
"""Is given a month and the entries that it has of touched items."""
_Changes = dict[Stratum, tuple[list[Aggregates], list[Array]]]
"""What `larger` yields of one scope, by stratum."""
_ROW = TableLayout(
    (
        ("item", "i8"),
        ("price", "i8"),
        ("day", "i4"),
        ("channel", "i4"),
        ("units", "i4"),
        ("currency", "S3"),
        ("kind", "S1"),
        ("list", "i8"),
        ("outlier", "S1"),
    )
)


def refresh_touched(
    connection: Connection,
    items: Items,
    above: Ancestors,
    query: str,
    *,
    but: set[date],
    observe: Observe,
    event_no: int = NO_OBSERVATIONS,
) -> None:
    """Refresh in an event's transaction what the query names, item and month of each change, `but` months made anew.

    `event_no`: the event's number if it brings observations.
    """
    connection.execute(SQL.touched)
    if not connection.execute(f"INSERT INTO touched_items {query}").rowcount:
        return
    connection.execute(SQL.touched_together)
    connection.execute(SQL.analyze_touched)
    for month in sorted({row[0] for row in connection.execute(SQL.months)} - but):
        _MonthRollups(connection, items, above, month).refresh(observe, event_no)


def rebuild(connection: Connection, report_progress: ReportProgress = lambda done, months: None) -> None:
    """Make every rollup anew from the observations alone."""
    connection.execute(SQL.clear_all)
    tables = [str(row[0]) for row in connection.execute(SQL.partitions)]
    items, above = Items.read(connection, SQL.every_item), ancestors(connection)
    for done, table in enumerate(tables):
        report_progress(done, len(tables))
        month = date(int(table[-7:-3]), int(table[-2:]), 1)
        observed = _observed(connection, SQL.rows_of_month, month, items)
        rows.write(connection, whole_month(month, observed.entries, above))
        mark(connection, month, observed.marks, NO_OBSERVATIONS)
    report_progress(len(tables), len(tables))


def whole_month(month: date, observed: ByStratum, above: Ancestors) -> Iterator[bytes]:
    """Make all rollups of a month that has none, as rows of a binary COPY."""
    for stratum in sorted(observed):
        yield from rows.written(rows.whole(month, stratum, observed[stratum], above))


def ancestors(connection: Connection) -> Ancestors:
    """Read the tree of categories."""
    return Ancestors({str(code): int(number) for number, code in connection.execute(SQL.categories)})


def _observed(connection: Connection, query: str, month: date, items: Items) -> Observed:
    table = sql.Identifier(partition(month)).as_string(connection)
    return by_stratum(month, items, copied_out(connection, query.replace("{table}", table), _ROW))


class _MonthRollups:
    def __init__(self, connection: Connection, items: Items, above: Ancestors, month: date) -> None:
        self._connection = connection
        self._items = items
        self._above = above
        self._month = month

    def refresh(self, observe: Observe, event_no: int) -> None:
        """Take out what the touched items had, put in what they have."""
        observed = _observed(self._connection, SQL.rows_of_touched, self._month, self._items)
        fresh = observed.entries
        mark(self._connection, self._month, observed.marks, event_no)
        observe(self._month, fresh)
        touched_rows = self._connection.execute(SQL.touched_items, (self._month,)).fetchall()
        touched = np.array(touched_rows, "i8").reshape(-1)
        removed: ByStratum = {}
        for scope, column in ((RollupScope.BRAND, "brand"), (RollupScope.CATEGORY, "category")):
            ids = self._groups(touched, column)
            staying, leaving = _split(rows.read_entries(self._connection, scope, self._month, ids), touched)
            removed = leaving if scope is RollupScope.BRAND else removed
            self._clear(scope, ids)
            rows.write(self._connection, self._with_entries(scope, column, staying, fresh))
        self._larger(removed, fresh)

    def _with_entries(self, scope: RollupScope, column: str, staying: ByStratum, fresh: ByStratum) -> Iterator[bytes]:
        for stratum in sorted(staying.keys() | fresh.keys()):
            both = Entries.joined([part[stratum] for part in (staying, fresh) if stratum in part])
            if len(both.item):
                ordered = SortedEntries(both)
                sums, prices = tally(ordered, column), ItemPrices.of(ordered, sales=stratum.sales)
                yield from rows.written(rows.with_entries(scope, self._month, stratum, ordered, sums, prices))

    def _larger(self, removed: ByStratum, fresh: ByStratum) -> None:
        by_scope: dict[RollupScope, _Changes] = {}
        for stratum in sorted(removed.keys() | fresh.keys()):
            signed = [
                (SortedEntries(part[stratum]), sign) for sign, part in ((-1, removed), (1, fresh)) if stratum in part
            ]
            by_category, by_channel = (
                [tally(entries, by) if sign > 0 else tally(entries, by).negated() for entries, sign in signed]
                for by in ("category", "channel")
            )
            for scope, sums, ids in ancestor_totals(by_category, by_channel, self._above):
                by_scope.setdefault(scope, {})[stratum] = sums, ids
        for scope, changes in by_scope.items():
            self._change(scope, changes)

    def _change(self, scope: RollupScope, changes: _Changes) -> None:
        ids = np.unique(np.concatenate([column for _, parts in changes.values() for column in parts]))
        now = rows.read_sums(self._connection, scope, self._month, ids)
        for stratum, (sums, parts) in changes.items():
            held = [now[stratum]] if stratum in now else []
            now[stratum] = total([*held, *sums], [*(sums_held.ids for sums_held in held), *parts])
        self._clear(scope, ids)
        rows.write(
            self._connection,
            chain.from_iterable(
                rows.written(rows.with_prices(scope, self._month, stratum, sums)) for stratum, sums in now.items()
            ),
        )

    def _groups(self, touched: Array, column: str) -> Array:
        position = np.searchsorted(self._items.item, touched)
        before, now = (getattr(self._items, name)[position] for name in (f"old_{column}", column))
        groups = np.unique(np.r_[before, now])
        return groups[groups >= 0]

    def _clear(self, scope: RollupScope, ids: Array) -> None:
        if len(ids):
            self._connection.execute(SQL.clear_rollups, (scope, self._month, ids.tolist()))


def _split(held: ByStratum, touched: Array) -> tuple[ByStratum, ByStratum]:
    leaves = {stratum: np.isin(entries.item, touched) for stratum, entries in held.items()}
    return (
        {stratum: entries.take(~leaves[stratum]) for stratum, entries in held.items()},
        {stratum: entries.take(leaves[stratum]) for stratum, entries in held.items() if leaves[stratum].any()},
    )
