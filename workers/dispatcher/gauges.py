"""Gauges of what other processes do: the dispatcher sets them, because those processes may be gone."""

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.telemetry import metrics

SQL = load_queries(__file__, "gauges.sql")


def measure_feeds(connection: Connection) -> None:
    """Set the gauges of feeds. The dispatcher does it, because the process that serves feeds may be gone."""
    [(failing, active, overdue)] = connection.execute(SQL.measure_feeds).fetchall()
    metrics.feeds.labels("failing").set(failing)
    metrics.feeds.labels("active").set(active)
    metrics.feeds_overdue_seconds.set(max(0.0, overdue))


def measure_backups(connection: Connection) -> None:
    """Set the gauges of the log's receiver. The dispatcher does it, because that process may be gone."""
    for (active,) in connection.execute(SQL.measure_backups).fetchall():
        metrics.backup_receivers.labels("connected").set(1 if active else 0)
        metrics.backup_receivers.labels("gone").set(0 if active else 1)


def measure_loads(connection: Connection) -> None:
    """Set the gauges of loads, their files and their rejects."""
    [(kept, dropped, listed, remembered)] = connection.execute(SQL.measure_loads).fetchall()
    metrics.load_rejects.labels("kept").set(kept)
    metrics.load_rejects.labels("dropped").set(dropped)
    metrics.loads_listed.labels("loads").set(listed)
    metrics.loads_listed.labels("files").set(remembered)
