"""Where items belong: their brand, their category, and the categories above it."""

from typing import NamedTuple

import numpy as np
import psycopg
from psycopg import pq

from shared.db.connect import Connection
from shared.db.copy_binary import TableLayout
from workers.analytics.rollups.arrays import Array, starts_of
from workers.analytics.rollups.entries import Entries

_ITEM = TableLayout(
    (name, "i4" if "brand" in name or "category" in name else "i8")
    for name in ("item", "owner", "brand", "category", "old_brand", "old_category")
)


class Items(NamedTuple):
    """Where items belong, and where they did before the load (-1: nowhere), in the order of their ids.

    The owner is the item whose record an item's observations are part of: itself, the one it was merged into, or none
    (-1) where it was withdrawn. Brand and category are the owner's.
    """

    item: Array
    owner: Array
    brand: Array
    category: Array
    old_brand: Array
    old_category: Array

    @classmethod
    def read(cls, connection: Connection, query: str) -> "Items":
        """Read them by a query of six columns."""
        rows = copied_out(connection, query, _ITEM)
        order = np.argsort(rows["item"].astype("i8"))
        return cls(*(rows[name].astype("i8")[order] for name in cls._fields))

    def entries(
        self, item: Array, day: Array, channel: Array, price: Array, units: Array, list_price: Array
    ) -> Entries:
        """Make entries of observations under their owners; the item of those without an owner is -1.

        Observations of an item are mostly side by side: it is looked up once a stretch.
        """
        stretches = starts_of(item)
        lengths = np.diff(stretches, append=len(item))
        position = np.searchsorted(self.item, item[stretches])
        position[position == len(self.item)] = 0
        known = self.item[position] == item[stretches]
        owners = np.where(known, self.owner[position], -1)
        owner, brand, category = (
            np.repeat(column, lengths) for column in (owners, self.brand[position], self.category[position])
        )
        return Entries(owner, day, channel, price, units, list_price, brand, category)


class Ancestors:
    """Which categories a category counts for: itself and all above it."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self._levels: dict[int, list[int]] = {}
        for code, number in numbers.items():
            parts = code.split(".")
            above = (".".join(parts[:n]) for n in range(1, len(parts) + 1))
            self._levels[number] = [numbers[name] for name in above if name in numbers]

    def of(self, ids: Array) -> tuple[Array, Array]:
        """Return pairs of place in `ids` and category that it counts for; none for the id 0."""
        pairs = [(position, up) for position, number in enumerate(ids.tolist()) for up in self._levels.get(number, ())]
        table = np.array(pairs, "i8").reshape(len(pairs), 2)
        return table[:, 0], table[:, 1]


def copied_out(connection: Connection, query: str, layout: TableLayout) -> Array:
    """Read all rows of a query by COPY. By libpq's own calls: a cursor costs ten times as much a row."""
    pgconn, rows = connection.pgconn, bytearray()
    result = pgconn.exec_(f"COPY ({query}) TO STDOUT (FORMAT binary)".encode())
    if result.status != pq.ExecStatus.COPY_OUT:
        raise psycopg.OperationalError(result.get_error_message())
    while (got := pgconn.get_copy_data(0))[0] > 0:
        rows += got[1]
    while (ended := pgconn.get_result()) is not None:
        if ended.status != pq.ExecStatus.COMMAND_OK:
            raise psycopg.OperationalError(ended.get_error_message())
    return layout.rows_in(rows)
