"""The refresh: cells of the months that a load touched, from what was in them and what the observations say now."""

from collections.abc import Callable
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import psycopg
from psycopg import pq, sql

from shared.db.connect import Connection
from workers.derive import cells
from workers.derive.cells import SQL, ByCurrency
from workers.derive.pack import Array, Entries
from workers.derive.tally import Tally, tally, total

Told = Callable[[int, int], None]
_EPOCH = date(2000, 1, 1)
_HEAD_BYTES = 19  # the signature of PostgreSQL's binary COPY, its flags and the length of what may follow them
_ROW = np.dtype([
    ("fields", ">i2"), ("b1", ">i4"), ("item", ">i8"), ("b2", ">i4"), ("price", ">i8"), ("b3", ">i4"), ("day", ">i4"),
    ("b4", ">i4"), ("channel", ">i4"), ("b5", ">i4"), ("units", ">i4"), ("b6", ">i4"), ("currency", "S3"),
])  # fmt: skip
_ITEM = np.dtype([
    ("fields", ">i2"), ("b1", ">i4"), ("item", ">i8"), ("b2", ">i4"), ("brand", ">i4"), ("b3", ">i4"),
    ("category", ">i4"), ("b4", ">i4"), ("old_brand", ">i4"), ("b5", ">i4"), ("old_category", ">i4"),
])  # fmt: skip


class Items(NamedTuple):
    """Where items belong, and where they did before the load (-1: nowhere), in the order of their ids."""

    item: Array
    brand: Array
    category: Array
    old_brand: Array
    old_category: Array

    @classmethod
    def read(cls, connection: Connection, query: str) -> "Items":
        """Read them by a query of five columns."""
        raw = _copied_out(connection, f"COPY ({query}) TO STDOUT (FORMAT binary)")
        rows = np.frombuffer(raw, _ITEM, (len(raw) - _HEAD_BYTES) // _ITEM.itemsize, _HEAD_BYTES)
        rows = rows[np.argsort(rows["item"].astype("i8"))]
        return cls(*(rows[name].astype("i8") for name in cls._fields))


def refresh(connection: Connection, items: Items, whole: set[str], told: Told = lambda done, months: None) -> None:
    """Bring the cells up to date with derive_touched, and with the months whose partitions are `whole` new."""
    above = _Ancestors(connection)
    months = {_table(row[0]) for row in connection.execute(SQL.months.encode())} | whole
    for done, table in enumerate(sorted(months)):
        told(done, len(months))
        month = date(int(table[-7:-3]), int(table[-2:]), 1)
        _Month(connection, items, above, month).refresh(table, whole=table in whole)
    told(len(months), len(months))


def after_load(connection: Connection, new_months: set[str], *, items: str, touched: str) -> None:
    """Refresh in a load's transaction. `items` and `touched` select its items, and item and month of each change.

    A month that is all new is taken whole: an item that moved has nothing in it yet.
    """
    connection.execute(SQL.touched.encode())
    changed = connection.execute(f"INSERT INTO derive_touched {touched}".encode()).rowcount
    if changed or new_months:
        connection.execute(SQL.analyze_touched.encode())
        refresh(connection, Items.read(connection, items), new_months)


def rebuild(connection: Connection, told: Told = lambda done, months: None) -> None:
    """Make every cell anew from the observations alone."""
    connection.execute(SQL.touched.encode())
    connection.execute(SQL.clear_all.encode())
    tables = {str(row[0]) for row in connection.execute(SQL.partitions.encode())}
    refresh(connection, Items.read(connection, SQL.every_item), tables, told)


class _Ancestors:
    """Which categories a category counts for: itself and all above it."""

    def __init__(self, connection: Connection) -> None:
        codes = {str(code): int(number) for number, code in connection.execute(SQL.categories.encode())}
        self._levels: dict[int, list[int]] = {}
        for code, number in codes.items():
            parts = code.split(".")
            above = (".".join(parts[:n]) for n in range(1, len(parts) + 1))
            self._levels[number] = [codes[name] for name in above if name in codes]

    def of(self, ids: Array) -> tuple[Array, Array]:
        """Return pairs of place in `ids` and category that it counts for; none for the id 0."""
        pairs = [(place, up) for place, number in enumerate(ids.tolist()) for up in self._levels.get(number, ())]
        table = np.array(pairs, "i8").reshape(len(pairs), 2)
        return table[:, 0], table[:, 1]


class _Month:
    def __init__(self, connection: Connection, items: Items, above: _Ancestors, month: date) -> None:
        self._connection = connection
        self._items = items
        self._above = above
        self._month = month

    def refresh(self, table: str, *, whole: bool) -> None:
        """Take out what the touched items had, put in what they have."""
        fresh = self._observed(table, SQL.rows_of_month if whole else SQL.rows_of_touched)
        removed: ByCurrency = {}
        touched = np.empty(0, "i8")
        if not whole:
            rows = self._connection.execute(SQL.touched_items.encode(), (self._month,)).fetchall()
            touched = np.array(rows, "i8").reshape(-1)
        for scope, column in (("b", "brand"), ("c", "category")):
            ids = self._groups(touched, column)
            held = cells.read_entries(self._connection, scope, self._month, ids) if len(ids) else {}
            staying, leaving = _split(held, touched)
            removed = leaving if scope == "b" else removed
            self._clear(scope, ids)
            for currency in sorted(staying.keys() | fresh.keys()):
                both = Entries.joined([part[currency] for part in (staying, fresh) if currency in part])
                if len(both.item):
                    cells.write(self._connection, cells.with_entries(scope, self._month, currency, both))
        self._larger(removed, fresh)

    def _larger(self, removed: ByCurrency, fresh: ByCurrency) -> None:
        for currency in sorted(removed.keys() | fresh.keys()):
            parts = [part[currency] for part in (removed, fresh) if currency in part]
            signs = [sign for sign, part in ((-1, removed), (1, fresh)) if currency in part]
            by_category = _signed([tally(part, part.category) for part in parts], signs)
            by_channel = _signed([tally(part, part.channel) for part in parts], signs)
            self._change("h", currency, by_channel, [one.ids for one in by_channel])
            self._change("a", currency, by_category, [np.zeros(len(one.ids), "i8") for one in by_category])
            chosen = [self._above.of(one.ids) for one in by_category]
            lifted = [_lifted(one, places) for one, (places, _) in zip(by_category, chosen, strict=True)]
            self._change("t", currency, lifted, [ups for _, ups in chosen])

    def _change(self, scope: str, currency: str, changes: list[Tally], ids: list[Array]) -> None:
        touched = np.unique(np.concatenate(ids))
        if not len(touched):
            return
        held = cells.read_sums(self._connection, scope, self._month, touched)
        others = {name: sums for name, sums in held.items() if name != currency}
        old = [held[currency]] if currency in held else []
        now = total([*old, *changes], [*(one.ids for one in old), *ids])
        self._clear(scope, touched)
        cells.write(self._connection, cells.with_prices(scope, self._month, currency, now))
        for name, sums in others.items():
            cells.write(self._connection, cells.with_prices(scope, self._month, name, sums))

    def _groups(self, touched: Array, column: str) -> Array:
        place = np.searchsorted(self._items.item, touched)
        before, now = (getattr(self._items, name)[place] for name in (f"old_{column}", column))
        groups = np.unique(np.r_[before, now])
        return groups[groups >= 0]

    def _clear(self, scope: str, ids: Array) -> None:
        if len(ids):
            self._connection.execute(SQL.clear_cells.encode(), (scope, self._month, ids.tolist()))

    def _observed(self, table: str, query: str) -> ByCurrency:
        source = query.replace("{table}", sql.Identifier(table).as_string(self._connection))
        raw = _copied_out(self._connection, f"COPY ({source}) TO STDOUT (FORMAT binary)")
        rows = np.frombuffer(raw, _ROW, (len(raw) - _HEAD_BYTES) // _ROW.itemsize, _HEAD_BYTES)
        place = np.searchsorted(self._items.item, rows["item"].astype("i8"))
        first = (self._month - _EPOCH).days - 1
        item, price, channel, units = (rows[name].astype("i8") for name in ("item", "price", "channel", "units"))
        day = rows["day"].astype("i8") - first
        entries = Entries(item, day, channel, price, units, self._items.brand[place], self._items.category[place])
        names = np.unique(rows["currency"])
        if len(names) == 1:
            return {names[0].decode(): entries}
        return {name.decode(): entries.take(rows["currency"] == name) for name in names}


def _copied_out(connection: Connection, command: str) -> bytes:
    """Read all of a COPY. By libpq's own calls: the way through a cursor costs ten times as much a row."""
    pgconn, parts = connection.pgconn, []
    result = pgconn.exec_(command.encode())
    if result.status != pq.ExecStatus.COPY_OUT:
        raise psycopg.OperationalError(result.get_error_message())
    while (got := pgconn.get_copy_data(0))[0] > 0:
        parts.append(bytes(got[1]))
    while (ended := pgconn.get_result()) is not None:
        if ended.status != pq.ExecStatus.COMMAND_OK:
            raise psycopg.OperationalError(ended.get_error_message())
    return b"".join(parts)


def _split(held: ByCurrency, touched: Array) -> tuple[ByCurrency, ByCurrency]:
    leaves = {currency: np.isin(entries.item, touched) for currency, entries in held.items()}
    return (
        {currency: entries.take(~leaves[currency]) for currency, entries in held.items()},
        {currency: entries.take(leaves[currency]) for currency, entries in held.items() if leaves[currency].any()},
    )


def _signed(tallies: list[Tally], signs: list[int]) -> list[Tally]:
    return [one if sign > 0 else one.negated() for one, sign in zip(tallies, signs, strict=True)]


def _lifted(one: Tally, places: Array) -> Tally:
    """Repeat groups: a category's sums count once for each level that it belongs to."""
    channels, prices = one.channels, one.prices
    of_channel = [np.flatnonzero(channels.group == place) for place in places.tolist()]
    of_price = [np.arange(*np.searchsorted(prices.group, [place, place + 1])) for place in places.tolist()]
    return Tally(
        one.ids[places], one.n[places], one.items[places], one.units[places], one.days[places],
        type(channels)(_numbered(of_channel), *(_picked(column, of_channel) for column in channels[1:])),
        type(prices)(_numbered(of_price), *(_picked(column, of_price) for column in prices[1:])),
    )  # fmt: skip


def _numbered(parts: list[Array]) -> Array:
    return np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def _picked(column: Array, parts: list[Array]) -> Any:
    return column[np.concatenate([np.empty(0, "i8"), *parts])]


def _table(month: date) -> str:
    return f"observations_{month:%Y_%m}"
