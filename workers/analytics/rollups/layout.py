"""The layout of the rollups: where the database has another one than the code, they are derived anew before use."""

from collections.abc import Callable

from shared.db.connect import Connection
from shared.db.queries import load_queries

SQL = load_queries(__file__, "rollups.sql")
ReportProgress = Callable[[int, int], None]
"""Hears how many of the months are done, and how many there are."""

LAYOUT = 8
"""Raise it whenever the columns of a rollup or the meaning of what is packed in them change."""


def is_current(connection: Connection) -> bool:
    """Return whether the rollups are in the layout that this code reads and writes."""
    row = connection.execute(SQL.layout).fetchone()
    return row is not None and row[0] == LAYOUT


def rebuild_rollups(connection: Connection, report_progress: ReportProgress = lambda done, months: None) -> None:
    """Make every rollup anew in this transaction and note its layout. The caller holds the lock of loads."""
    from workers.analytics.rollups.refresh import rebuild

    rebuild(connection, report_progress)
    connection.execute(SQL.keep_layout, (LAYOUT,))


def ensure(connection: Connection) -> bool:
    """Derive rollups of another layout anew, and commit; return whether there were any. Needs the load lock."""
    current = is_current(connection)
    if not current:
        rebuild_rollups(connection)
    connection.commit()
    return not current
