"""The layout of the cells: where the database has another one than the code, they are derived anew before use."""

from shared.db.connect import Connection
from workers.rollups.refresh import ReportProgress, rebuild
from workers.rollups.rows import SQL

LAYOUT = 4
"""Raise it whenever the columns of a cell or the meaning of what is packed in them change."""


def is_current(connection: Connection) -> bool:
    """Return whether the cells are in the layout that this code reads and writes."""
    row = connection.execute(SQL.layout).fetchone()
    return row is not None and row[0] == LAYOUT


def derive(connection: Connection, report_progress: ReportProgress = lambda done, months: None) -> None:
    """Make every cell anew in this transaction and note its layout. The caller holds the lock of loads."""
    rebuild(connection, report_progress)
    connection.execute(SQL.keep_layout, (LAYOUT,))


def ensure(connection: Connection, report_progress: ReportProgress = lambda done, months: None) -> bool:
    """Derive the cells where they are of another layout, and commit; return whether they were. Needs the load lock."""
    current = is_current(connection)
    if not current:
        derive(connection, report_progress)
    connection.commit()
    return not current
