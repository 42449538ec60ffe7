"""Which observations are outliers, written into the table: only rows whose mark changes."""

from datetime import date, timedelta
from typing import NamedTuple

import numpy as np
from psycopg import sql
from psycopg.types.json import Jsonb

from shared.analytics.outliers import CAUSES, NONE
from shared.db.connect import Connection
from shared.db.copy_binary import EPOCH
from shared.db.queries import load_queries
from workers.analytics.rollups.arrays import Array

UNMARKED = NONE.encode()

NO_OBSERVATIONS = -1
"""Stands for the number of an event that brings no observations. 0 is that of loads before events were numbered."""


class Marks(NamedTuple):
    """Observations whose letter in `observations.outlier` must change, a column each; `day` counts from 2000.

    `outlier` is the letter that they must have, `before` the one that the table has.
    """

    item: Array
    day: Array
    channel: Array
    price: Array
    currency: Array
    kind: Array
    outlier: Array
    before: Array


def changed_marks(rows: Array, letters: Array) -> Marks:
    """Return the marks that differ from those of the table."""
    names = rows.dtype.names or ()
    before = rows["outlier"] if "outlier" in names else np.full(len(rows), UNMARKED)
    changed = np.flatnonzero(letters != before)
    rows = rows.take(changed)
    item, day, channel, price = (rows[name].astype("i8") for name in ("item", "day", "channel", "price"))
    return Marks(item, day, channel, price, rows["currency"], rows["kind"], letters.take(changed), before.take(changed))


SQL = load_queries(__file__, "rollups.sql")


def partition(month: date) -> str:
    """Return the name of the table that a month's observations are in."""
    return f"observations_{month:%Y_%m}"


def mark(connection: Connection, month: date, marks: Marks, event_no: int) -> None:
    """Give observations of a month their marks, and log the changes of those that were there before the event.

    Identical observations have the same mark.
    """
    if not len(marks.item):
        return
    table = sql.Identifier(partition(month)).as_string(connection)
    days = [EPOCH + timedelta(days=day) for day in marks.day.tolist()]
    currency, kind, outlier, before = (
        [value.decode() for value in column.tolist()]
        for column in (marks.currency, marks.kind, marks.outlier, marks.before)
    )
    numbers = [column.tolist() for column in (marks.item, marks.channel, marks.price)]
    values = (*numbers, days, currency, kind, outlier, event_no, before, Jsonb(CAUSES))
    connection.execute(SQL.mark_outliers.replace("{table}", table).encode(), values)
