"""Items from their claims: one row an item, field by field from the source that takes precedence."""

from collections.abc import Iterable

import numpy as np

from shared.db.connect import Connection
from shared.db.queries import load_queries
from workers.analytics import stated_contents
from workers.analytics.rollups.codec import unpack

SQL = load_queries(__file__, "items.sql")


def begin(connection: Connection, seeds: str, *values: object) -> None:
    """Note the items that an event speaks of, given by a query, and all that share a record with them."""
    connection.execute("; ".join((SQL.seeds, SQL.affected, SQL.refreshing)).encode())
    connection.execute(f"INSERT INTO seeds {seeds}", values or None)
    connection.execute(SQL.expand)
    connection.execute(b"ANALYZE affected")


def widen(connection: Connection, more: Iterable[int]) -> None:
    """Note further items, and all that share a record with the noted ones now."""
    connection.execute(SQL.more_seeds, (list(more),))
    connection.execute(SQL.expand)


def refresh(connection: Connection, version: int, chosen: str, *values: object) -> None:
    """Make the rows and figures of items anew from their claims; `chosen` is a query of their ids."""
    if not connection.execute(f"INSERT INTO refreshing {chosen}", values or None).rowcount:
        return
    connection.execute(b"ANALYZE refreshing")
    statements = (
        SQL.claims,
        SQL.claimed_attributes,
        SQL.claimed_identifiers,
        SQL.fields,
        SQL.clear_impacts,
        SQL.clear_stages,
        SQL.write_impacts,
        SQL.write_stages,
    )
    for statement in statements:
        connection.execute(statement)
    connection.execute(SQL.write_fields, (version,))
    stated_contents.keep(connection, "SELECT item_id FROM refreshing")


def refresh_brands(connection: Connection, counted: Iterable[int], seen: Iterable[int]) -> None:
    """Count the items of some brands anew, and read the channels of some from their rollups."""
    if numbers := sorted(set(counted)):
        connection.execute(SQL.brand_figures, (numbers,))
    numbers = sorted(set(seen))
    if not numbers:
        return
    pairs: set[tuple[int, int]] = set()
    for brand, packed in connection.cursor(binary=True).execute(SQL.brand_rollups, (numbers,)):
        pairs.update((brand, channel) for channel in np.unique(unpack(packed)[0]).tolist())
    ordered = sorted(pairs)
    columns = ([pair[0] for pair in ordered], [pair[1] for pair in ordered])
    connection.execute(SQL.brand_channels, (numbers, *columns))
