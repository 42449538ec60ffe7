"""Which observations are outliers, written into the table: only rows whose mark changes."""

from datetime import date, timedelta

from psycopg import sql

from shared.db.connect import Connection
from shared.db.queries import beside
from workers.rollups.strata import Marks

SQL = beside(__file__, "rollups.sql")
_EPOCH = date(2000, 1, 1)


def partition(month: date) -> str:
    """Return the name of the table that a month's observations are in."""
    return f"observations_{month:%Y_%m}"


def mark(connection: Connection, month: date, marks: Marks) -> None:
    """Give observations of a month their marks. Identical observations have the same one."""
    if not len(marks.item):
        return
    table = sql.Identifier(partition(month)).as_string(connection)
    days = [_EPOCH + timedelta(days=day) for day in marks.day.tolist()]
    texts = [[value.decode() for value in column.tolist()] for column in (marks.currency, marks.kind, marks.outlier)]
    numbers = [column.tolist() for column in (marks.item, marks.channel, marks.price)]
    connection.execute(SQL.mark_outliers.replace("{table}", table).encode(), (*numbers, days, *texts))
