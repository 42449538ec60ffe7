"""Rows of `item_identifiers` from the claims of items: every identifier in the form in which it is compared."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice

import psycopg

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import InvalidIdentifier
from shared.index.identifiers import LAYOUT, SCHEMES, Identifier, brand_key, normal

SQL = load_queries(__file__, "identifiers.sql")
_BATCH_ROWS = 20_000
_COLUMNS = "scheme, value, item_id, source_id, brand, load_no"
_Claim = tuple[int, int, str, str, str | None, int]
"""An item and its source, scheme and text of the identifier, the brand, and the number of the load."""


def of_load(connection: Connection, event_no: int, chosen: str) -> None:
    """Make the rows of a load's items, given by a query, in its transaction, after its claims."""
    refresh(connection, chosen)
    _keep_progress(connection, event_no)


def ensure(connection: Connection) -> None:
    """Derive what is missing: all rows, or those of events that code without them has made. Needs the lock of loads.

    Commits.
    """
    row = connection.execute(SQL.progress).fetchone()
    if row is None or row[0] != LAYOUT:
        refresh(connection, SQL.claimed_ever)
        _keep_progress(connection, None)
    elif row[2] and refresh(connection, SQL.claimed_since, row[1]):
        _keep_progress(connection, None)
    connection.commit()


def refresh(connection: Connection, chosen: str, *values: object) -> int:
    """Make the rows of items anew from the claims in effect; `chosen` queries `item_id`. Return how many items."""
    count = connection.execute(f"CREATE TEMP TABLE identifying ON COMMIT DROP AS {chosen}", values or None).rowcount
    if count:
        connection.execute(b"ANALYZE identifying")
        connection.execute(SQL.clear)
        # A cursor of the server's: the claims of a whole index do not fit into memory.
        with psycopg.RawServerCursor(connection, "identifiers_claimed") as cursor:
            cursor.itersize = _BATCH_ROWS
            rows = _rows(cursor.execute(SQL.claimed, (list(SCHEMES),)))
            while batch := list(islice(rows, _BATCH_ROWS)):
                _copy(connection, batch)
    connection.execute(b"DROP TABLE identifying")
    return count


def _rows(claimed: Iterable[_Claim]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of claims, which come item by item. An EAN and a GTIN of one claim may be the same number."""
    for (item_id, source_id), claims in groupby(claimed, lambda claim: (claim[0], claim[1])):
        first: dict[tuple[Identifier, str], int] = {}
        for _, _, scheme, text, brand, load_no in claims:
            canonical = _normal(scheme, text)
            if canonical is not None:
                key = (canonical, brand_key(brand or "") if canonical.scheme == "mpn" else "")
                first[key] = min(load_no, first.get(key, load_no))
        for (identifier, of_brand), load_no in first.items():
            yield *identifier, item_id, source_id, of_brand, load_no


def _normal(scheme: str, text: str) -> Identifier | None:
    try:
        return normal(scheme, text)
    except InvalidIdentifier:  # kept as a reject by the load that brought it
        return None


def _copy(connection: Connection, rows: list[tuple[object, ...]]) -> None:
    with connection.cursor().copy(f"COPY item_identifiers ({_COLUMNS}) FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row(row)


def _keep_progress(connection: Connection, event_no: int | None) -> None:
    connection.execute(SQL.forget_progress)
    connection.execute(SQL.keep_progress, (LAYOUT, event_no))
