"""Evaluates watches in a load's transaction: their reports are committed with the load, or not at all."""

from collections.abc import Collection, Iterable
from datetime import date
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from shared.db.connect import Connection
from shared.db.queries import beside
from shared.money import to_text
from shared.watches import HYSTERESIS
from workers.rollups.outlier_marks import partition
from workers.watches.index_moves import moves

SQL = beside(__file__, "evaluate.sql")


class Fired(NamedTuple):
    """One report: of an article its item, day, price and the low before it in minor units; of an index its change."""

    watch_id: str
    item_id: int
    day: date
    amount_minor: int | None = None
    low_before_minor: int | None = None
    percent: float | None = None


def evaluate(connection: Connection, load_no: int, new_months: Collection[date]) -> int:
    """Log an event for each watch whose condition a load has made true; return how many.

    Called when the load has refreshed the rollups; `new_months` had no observations before.
    """
    if not _any_active(connection):
        return 0
    months = _watched(connection, load_no, new_months)
    fired = _confirmed(connection, load_no, new_months)
    fired += _moved(connection, months)
    if fired:
        _report(connection, fired)
    return len(fired)


def rearm(connection: Connection) -> None:
    """Arm the watches whose price is high again by something that is no load, such as an undone one. Nothing fires."""
    if _any_active(connection):
        _watched(connection, 0, ())


def _any_active(connection: Connection) -> bool:
    [[active]] = connection.execute(SQL.any_active).fetchall()
    return bool(active)


def _watched(connection: Connection, load_no: int, new_months: Collection[date]) -> list[date]:
    """Find the watched articles that were touched and their newest prices, arm watches; return the touched months."""
    connection.execute(SQL.touched)
    if new_months:
        connection.execute(SQL.touched_by_load)
    prepared = (SQL.analyze_touched, SQL.keys, SQL.analyze_keys, SQL.members, SQL.analyze_members, SQL.latest, SQL.days)
    for statement in prepared:
        connection.execute(statement)
    former = {row[0] for row in connection.execute(SQL.months_with_observations)}.difference(new_months)
    months = sorted(former.union(new_months), reverse=True)
    for month in months:
        if month in former:
            connection.execute(_of_partition(SQL.latest_of_month, month), (month,))
            connection.execute(_of_partition(SQL.days_of_month, month), (month, load_no))
        else:
            connection.execute(_of_partition(SQL.latest_of_new_month, month), (month,))
            connection.execute(_of_partition(SQL.days_of_new_month, month))
    connection.execute(SQL.analyze_latest)
    connection.execute(SQL.analyze_days)
    _rearm(connection)
    return months


def _rearm(connection: Connection) -> None:
    if connection.execute(SQL.risen, (HYSTERESIS,)).rowcount:
        for [month] in connection.execute(SQL.later_months).fetchall():
            connection.execute(_of_partition(SQL.not_newest, month), (month,))
        connection.execute(SQL.rearm)


def _of_partition(query: str, month: date) -> bytes:
    return query.replace("{table}", partition(month)).encode()


def _confirmed(connection: Connection, load_no: int, new_months: Collection[date]) -> list[Fired]:
    """Return what the prices of articles report: candidates from the touched months that no other month refutes."""
    connection.execute(SQL.candidates)
    connection.execute(SQL.priced, (HYSTERESIS,))
    connection.execute(SQL.returned)
    connection.execute(SQL.analyze_candidates)
    months = connection.execute(SQL.months).fetchall()
    connection.execute(SQL.seen)
    for month, first in months:
        if month >= first and month in new_months:
            connection.execute(_of_partition(SQL.see_new_month, month))
        elif month >= first:
            connection.execute(_of_partition(SQL.see_month, month), (load_no,))
    connection.execute(SQL.confirmed)
    older = (month for month, first in months if month < first)
    while _any_unknown(connection) and (month := next(older, None)) is not None:
        connection.execute(_of_partition(SQL.known_in_month, month))
    return [Fired(*row) for row in connection.execute(SQL.found)]


def _any_unknown(connection: Connection) -> bool:
    [[unknown]] = connection.execute(SQL.any_unknown).fetchall()
    return bool(unknown)


def _moved(connection: Connection, months: list[date]) -> Iterable[Fired]:
    rollups = connection.execute(SQL.index_targets, (months,)).fetchall()
    changed = list(moves(rollups))
    if not changed:
        return ()
    columns = [list(column) for column in zip(*changed, strict=True)]
    rows = connection.execute(SQL.index_moved, columns).fetchall()
    return (Fired(watch, item, month, percent=change) for watch, item, month, change in rows)


def _report(connection: Connection, fired: list[Fired]) -> None:
    watches, items, days, amounts, _, percents = (list(column) for column in zip(*fired, strict=True))
    described = connection.execute(SQL.describe, (watches, items)).fetchall()
    data = [_data(one, *row) for one, row in zip(fired, described, strict=True)]
    connection.execute(SQL.remember, (watches, items, days, amounts, percents))
    connection.execute(SQL.log, (Jsonb(data),))


def _data(
    fired: Fired,
    watch_id: str,
    label: str | None,
    target: str,
    code: str,
    condition: str,
    kind: str,
    currency: str | None,
    threshold_minor: int | None,
    days: int | None,
    percent: float | None,
    iid: str | None,
) -> dict[str, Any]:
    """Return the event's data: the watch with its condition, and the article's values."""

    def money(minor: int | None) -> str | None:
        return None if minor is None or currency is None else to_text(minor, currency)

    return {
        "watch": watch_id,
        "label": label,
        "target": target,
        "code": code,
        "condition": condition,
        "kind": "listing" if kind == "l" else "sale",
        "amount": money(threshold_minor),
        "currency": currency,
        "days": days,
        "percent": percent,
        "iid": iid,
        "day": fired.day.isoformat(),
        "price": money(fired.amount_minor),
        "low_before": money(fired.low_before_minor),
        "change_percent": None if fired.percent is None else round(fired.percent, 4),
    }
