"""Rows of `item_identifiers` and `former_identifiers` from the claims of items, in the form that is compared."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice

import psycopg

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import InvalidIdentifier
from shared.index.holdings import GTIN_SCHEMES
from shared.index.identifiers import LAYOUT, SCHEMES, NormalIdentifier, brand_key, normal

SQL = load_queries(__file__, "identifiers.sql")
_BATCH_ROWS = 20_000
_COLUMNS = "scheme, value, item_id, source_id, brand, load_no"
_FORMER_COLUMNS = "scheme, value, item_id, source_id"
_Claim = tuple[int, int, str, str, str | None, int, bool]
"""An item and its source, scheme and text of the identifier, the brand, the number of the load, and whether the source
states it now."""
_Row = tuple[object, ...]


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
        connection.execute(SQL.clear_former)
        # A cursor of the server's: the claims of a whole index do not fit into memory.
        with psycopg.RawServerCursor(connection, "identifiers_claimed") as cursor:
            cursor.itersize = _BATCH_ROWS
            rows = _rows(cursor.execute(SQL.claimed, (list(SCHEMES), list(GTIN_SCHEMES))))
            while batch := list(islice(rows, _BATCH_ROWS)):
                _copy(connection, "item_identifiers", _COLUMNS, [row for row, is_former in batch if not is_former])
                _copy(connection, "former_identifiers", _FORMER_COLUMNS, [row for row, is_former in batch if is_former])
    connection.execute(b"DROP TABLE identifying")
    return count


def _rows(claimed: Iterable[_Claim]) -> Iterator[tuple[_Row, bool]]:
    """Yield the rows of claims, which come item by item, each with whether it is a former one.

    An EAN and a GTIN of one claim may be the same number.
    """
    for (item_id, source_id), claims in groupby(claimed, lambda claim: (claim[0], claim[1])):
        first: dict[tuple[NormalIdentifier, str], int] = {}
        former: set[NormalIdentifier] = set()
        for _, _, scheme, text, brand, load_no, is_newest in claims:
            canonical = _normal(scheme, text)
            if canonical is not None and not is_newest:
                former.add(canonical)
            elif canonical is not None:
                key = (canonical, brand_key(brand or "") if canonical.scheme == "mpn" else "")
                first[key] = min(load_no, first.get(key, load_no))
        for (identifier, of_brand), load_no in first.items():
            yield (*identifier, item_id, source_id, of_brand, load_no), False
        for identifier in former - {identifier for identifier, _ in first}:
            yield (*identifier, item_id, source_id), True


def _normal(scheme: str, text: str) -> NormalIdentifier | None:
    try:
        return normal(scheme, text)
    except InvalidIdentifier:  # kept as a reject by the load that brought it
        return None


def _copy(connection: Connection, table: str, columns: str, rows: list[_Row]) -> None:
    if not rows:
        return
    with connection.cursor().copy(f"COPY {table} ({columns}) FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row(row)


def _keep_progress(connection: Connection, event_no: int | None) -> None:
    connection.execute(SQL.forget_progress)
    connection.execute(SQL.keep_progress, (LAYOUT, event_no))
