"""Evaluates watches in a load's transaction: their reports are committed with the load, or not at all."""

import json
from collections.abc import Collection, Iterable
from datetime import date

from shared.analytics.observations import ObservationKind
from shared.db.connect import Connection
from shared.db.copy_binary import HEADER, TRAILER
from shared.db.queries import load_queries
from shared.events.types import HYSTERESIS
from shared.money import to_text
from shared.organizations.accounts import BRAND
from workers.analytics.rollups.arrays import Array
from workers.analytics.rollups.items import Items, copied_out
from workers.analytics.rollups.marks import partition
from workers.events.index_moves import moves
from workers.events.watched_months import LAYOUT, Watched, WatchedMonths

SQL = load_queries(__file__, "watches.sql")


def find_watched(connection: Connection, items: Items) -> WatchedMonths:
    """Find which articles of an event's items are watched; what is returned collects their prices and days."""
    [[any_active]] = connection.execute(SQL.any_active).fetchall()
    rows = LAYOUT.blank(0)
    if any_active:
        connection.execute(SQL.groups)
        connection.execute(SQL.analyze_groups)
        rows = copied_out(connection, SQL.watched, LAYOUT)
    return WatchedMonths(Watched.among(items, rows), any_active=any_active)


def evaluate(connection: Connection, load_no: int, new_months: Collection[date], observed: WatchedMonths) -> int:
    """Log an event for each watch whose condition a load has made true; return how many.

    Called when the load has refreshed the rollups; `new_months` had no observations before.
    """
    if not observed.any_active:
        return 0
    _arm(connection, observed)
    _find_prices(connection, load_no, new_months, observed)
    _find_moves(connection, observed.months)
    return _report(connection)


def rearm(connection: Connection, observed: WatchedMonths) -> None:
    """Arm the watches whose price is high again by something that is no load, such as an undone one. Nothing fires."""
    if observed.any_active:
        _arm(connection, observed)


def _copy(connection: Connection, table: str, pieces: Iterable[Array]) -> None:
    with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT binary)".encode()) as copy:
        copy.write(HEADER)
        for piece in pieces:
            copy.write(piece.tobytes())
        copy.write(TRAILER)


def _of_partition(query: str, month: date) -> bytes:
    return query.replace("{table}", partition(month)).encode()


def _arm(connection: Connection, observed: WatchedMonths) -> None:
    """Keep the newest prices, and arm the watches whose price has risen."""
    connection.execute(SQL.latest)
    _copy(connection, "watch_latest", observed.latest())
    connection.execute(SQL.analyze_latest)
    if connection.execute(SQL.risen, (HYSTERESIS,)).rowcount:
        for [month] in connection.execute(SQL.later_months).fetchall():
            connection.execute(_of_partition(SQL.not_newest, month), (month,))
        connection.execute(SQL.rearm)


def _find_prices(connection: Connection, load_no: int, new_months: Collection[date], observed: WatchedMonths) -> None:
    """Find what the prices of articles report: candidates from the touched months that no other month refutes."""
    connection.execute(SQL.days)
    _copy(connection, "watch_days", observed.days())
    connection.execute(SQL.analyze_days)
    connection.execute(SQL.candidates)
    connection.execute(SQL.priced, (HYSTERESIS,))
    connection.execute(SQL.returned, (list(new_months),))
    connection.execute(SQL.members)
    connection.execute(SQL.analyze_members)
    months = connection.execute(SQL.months, (list(new_months),)).fetchall()
    read = [_of_partition(SQL.month_rows, month) for month, reached in months if reached]
    rows = b"(" + (b" UNION ALL ".join(read) or SQL.no_rows.encode()) + b")"
    connection.execute(SQL.confirmed.encode().replace(b"{table}", rows), (load_no,))
    connection.execute(SQL.analyze_confirmed)
    older = (month for month, reached in months if not reached)
    while _any_unknown(connection) and (month := next(older, None)) is not None:
        connection.execute(_of_partition(SQL.known_in_month, month))


def _any_unknown(connection: Connection) -> bool:
    [[unknown]] = connection.execute(SQL.any_unknown).fetchall()
    return bool(unknown)


def _find_moves(connection: Connection, months: Collection[date]) -> None:
    changed = list(moves(connection.execute(SQL.index_targets, (list(months),)).fetchall()))
    if changed:
        columns = [list(column) for column in zip(*changed, strict=True)]
        connection.execute(SQL.index_moved, columns)


def _report(connection: Connection) -> int:
    connection.execute(SQL.not_entitled, (BRAND,))
    fired = connection.execute(SQL.fired).fetchall()
    if fired:
        connection.execute(SQL.remember)
        data = [json.dumps(_data(*values)) for _, *values in fired]
        connection.execute(SQL.log, ([organization for organization, *_ in fired], data))
    return len(fired)


def _data(
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
    day: date,
    low_minor: int | None,
    low_before_minor: int | None,
    change_percent: float | None,
) -> dict[str, object]:
    """Return the event's data: the watch with its condition, and the values of the article or the index."""

    def money(minor: int | None) -> str | None:
        return None if minor is None or currency is None else to_text(minor, currency)

    return {
        "watch": watch_id,
        "label": label,
        "target": target,
        "code": code,
        "condition": condition,
        "kind": ObservationKind(kind).text,
        "amount": money(threshold_minor),
        "currency": currency,
        "days": days,
        "percent": percent,
        "iid": iid,
        "day": day.isoformat(),
        "price": money(low_minor),
        "low_before": money(low_before_minor),
        "change_percent": None if change_percent is None else round(change_percent, 4),
    }
