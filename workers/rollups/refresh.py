"""The refresh: cells of the months that a load touched, from what was in them and what the observations say now."""

from collections.abc import Callable, Iterator
from datetime import date

import numpy as np
from psycopg import sql

from shared.db.connect import Connection
from workers.rollups import rows
from workers.rollups.aggregates import Tally, larger, tally, total
from workers.rollups.codec import Array, Entries
from workers.rollups.item_groups import Ancestors, Items, copied_out
from workers.rollups.ordered import SortedEntries
from workers.rollups.rows import SQL, ByCurrency

Told = Callable[[int, int], None]
_EPOCH = date(2000, 1, 1)
_ROW = np.dtype([
    ("fields", ">i2"), ("b1", ">i4"), ("item", ">i8"), ("b2", ">i4"), ("price", ">i8"), ("b3", ">i4"), ("day", ">i4"),
    ("b4", ">i4"), ("channel", ">i4"), ("b5", ">i4"), ("units", ">i4"), ("b6", ">i4"), ("currency", "S3"),
])  # fmt: skip


def touched(connection: Connection, items: Items, above: Ancestors, query: str, *, but: set[date]) -> None:
    """Refresh in a load's transaction what the query names, item and month of each change, `but` months made anew."""
    connection.execute(SQL.touched.encode())
    if not connection.execute(f"INSERT INTO derive_touched {query}".encode()).rowcount:
        return
    connection.execute(SQL.analyze_touched.encode())
    for month in sorted({row[0] for row in connection.execute(SQL.months.encode())} - but):
        _Month(connection, items, above, month).refresh()


def rebuild(connection: Connection, told: Told = lambda done, months: None) -> None:
    """Make every cell anew from the observations alone."""
    connection.execute(SQL.clear_all.encode())
    tables = [str(row[0]) for row in connection.execute(SQL.partitions.encode())]
    items, above = Items.read(connection, SQL.every_item), ancestors(connection)
    for done, table in enumerate(tables):
        told(done, len(tables))
        month = date(int(table[-7:-3]), int(table[-2:]), 1)
        observed = _observed(connection, SQL.rows_of_month, month, items)
        rows.write(connection, whole_month(month, observed, above))
    told(len(tables), len(tables))


def whole_month(month: date, observed: ByCurrency, above: Ancestors) -> Iterator[bytes]:
    """Make all cells of a month that has none, as rows of a binary COPY."""
    for currency in sorted(observed):
        yield from rows.written(rows.whole(month, currency, observed[currency], above))


def ancestors(connection: Connection) -> Ancestors:
    """Read the tree of categories."""
    return Ancestors({str(code): int(number) for number, code in connection.execute(SQL.categories.encode())})


def by_currency(month: date, items: Items, rows: Array) -> ByCurrency:
    """Make entries of rows that have the columns item, day (since 2000), channel, price, units and currency."""
    first = (month - _EPOCH).days - 1
    item, day, channel, price, units = (
        rows[name].astype("i8") for name in ("item", "day", "channel", "price", "units")
    )
    entries = items.entries(item, day - first, channel, price, units)
    currency = rows["currency"]
    if len(rows) and (currency == currency[0]).all():
        return {currency[0].decode(): entries}
    return {name.decode(): entries.take(currency == name) for name in np.unique(currency)}


def _observed(connection: Connection, query: str, month: date, items: Items) -> ByCurrency:
    table = sql.Identifier(f"observations_{month:%Y_%m}").as_string(connection)
    return by_currency(month, items, copied_out(connection, query.replace("{table}", table), _ROW))


class _Month:
    def __init__(self, connection: Connection, items: Items, above: Ancestors, month: date) -> None:
        self._connection = connection
        self._items = items
        self._above = above
        self._month = month

    def refresh(self) -> None:
        """Take out what the touched items had, put in what they have."""
        fresh = _observed(self._connection, SQL.rows_of_touched, self._month, self._items)
        touched_rows = self._connection.execute(SQL.touched_items.encode(), (self._month,)).fetchall()
        touched = np.array(touched_rows, "i8").reshape(-1)
        removed: ByCurrency = {}
        for scope, column in (("b", "brand"), ("c", "category")):
            ids = self._groups(touched, column)
            staying, leaving = _split(rows.read_entries(self._connection, scope, self._month, ids), touched)
            removed = leaving if scope == "b" else removed
            self._clear(scope, ids)
            for currency in sorted(staying.keys() | fresh.keys()):
                both = Entries.joined([part[currency] for part in (staying, fresh) if currency in part])
                if len(both.item):
                    ordered = SortedEntries(both)
                    rows_of = rows.with_entries(scope, self._month, currency, ordered, tally(ordered, column))
                    rows.write(self._connection, rows.written(rows_of))
        self._larger(removed, fresh)

    def _larger(self, removed: ByCurrency, fresh: ByCurrency) -> None:
        for currency in sorted(removed.keys() | fresh.keys()):
            signed = [
                (SortedEntries(part[currency]), sign) for sign, part in ((-1, removed), (1, fresh)) if currency in part
            ]
            by_category, by_channel = (
                [tally(one, by) if sign > 0 else tally(one, by).negated() for one, sign in signed]
                for by in ("category", "channel")
            )
            for scope, changes, ids in larger(by_category, by_channel, self._above):
                self._change(scope, currency, changes, ids)

    def _change(self, scope: str, currency: str, changes: list[Tally], ids: list[Array]) -> None:
        touched = np.unique(np.concatenate(ids))
        held = rows.read_sums(self._connection, scope, self._month, touched)
        others = {name: sums for name, sums in held.items() if name != currency}
        old = [held[currency]] if currency in held else []
        now = total([*old, *changes], [*(one.ids for one in old), *ids])
        self._clear(scope, touched)
        for name, sums in {currency: now, **others}.items():
            rows.write(self._connection, rows.written(rows.with_prices(scope, self._month, name, sums)))

    def _groups(self, touched: Array, column: str) -> Array:
        place = np.searchsorted(self._items.item, touched)
        before, now = (getattr(self._items, name)[place] for name in (f"old_{column}", column))
        groups = np.unique(np.r_[before, now])
        return groups[groups >= 0]

    def _clear(self, scope: str, ids: Array) -> None:
        if len(ids):
            self._connection.execute(SQL.clear_cells.encode(), (scope, self._month, ids.tolist()))


def _split(held: ByCurrency, touched: Array) -> tuple[ByCurrency, ByCurrency]:
    leaves = {currency: np.isin(entries.item, touched) for currency, entries in held.items()}
    return (
        {currency: entries.take(~leaves[currency]) for currency, entries in held.items()},
        {currency: entries.take(leaves[currency]) for currency, entries in held.items() if leaves[currency].any()},
    )
