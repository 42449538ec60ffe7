"""What items hold, kept beside them: read from names and attributes once, when an item is written.

`contents` in shared/units/names.py is the only rule. What it makes of an item that is not kept, or was kept by another
version of it, is read from the item's name each time.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import psycopg

from shared.db.connect import Connection
from shared.db.copy_binary import Array
from shared.db.queries import load_queries
from shared.units.names import ATTRIBUTES, CONTENTS_RULE, Content, contents
from workers.analytics.exact_unit_prices import Contents

SQL = load_queries(__file__, "stated_contents.sql")
AT_ONCE = 20_000
"""Items that are read together."""
_TERM_MAX = 1 << 61
_COLUMNS = "item_id, place, rule, per, numerator, denominator"
_ROW = np.dtype([("item", ">i8"), ("numerator", ">i8"), ("denominator", ">i8")])
Stating = tuple[int, str, dict[str, Any] | None]
"""An item, its name, and its attributes where one of them states a content."""


def amounts(name: str, attributes: dict[str, Any] | None) -> list[Content]:
    """Return the contents of an item whose terms fit into the columns of integers, with which figures are computed."""
    found = contents(name, attributes or {})
    return [content for content in found if max(content.amount.numerator, content.amount.denominator) < _TERM_MAX]


def read_contents(connection: Connection, ids: Array, unit: str) -> Contents:
    """Return what items hold of a unit; `ids` ascend, each once."""
    numerator, denominator = np.zeros(len(ids), "i8"), np.ones(len(ids), "i8")
    row = connection.cursor(binary=True).execute(SQL.stored, (ids.tolist(), CONTENTS_RULE, unit)).fetchone()
    rows = np.frombuffer((row and row[0]) or b"", _ROW)
    unread = np.ones(len(ids), bool)
    unread[np.searchsorted(ids, rows["item"])] = False
    rows = rows[rows["numerator"] > 0]
    places = np.searchsorted(ids, rows["item"])
    numerator[places], denominator[places] = rows["numerator"], rows["denominator"]
    missing = ids[unread]
    for start in range(0, len(missing), AT_ONCE):
        part = missing[start : start + AT_ONCE].tolist()
        for number, name, attributes in connection.execute(SQL.stated, (part, list(ATTRIBUTES))):
            held = next((one.amount for one in amounts(name, attributes) if one.per == unit), None)
            if held is not None:
                place = int(np.searchsorted(ids, number))
                numerator[place], denominator[place] = held.numerator, held.denominator
    return Contents(numerator, denominator)


def keep(connection: Connection, chosen: str, *values: object) -> int:
    """Read and keep the contents of items of which no reading is kept, in this transaction; return how many items.

    `chosen` is a query of `item_id`. Whatever changes items calls this at its end.
    """
    if not connection.execute(f"CREATE TEMP TABLE reading ON COMMIT DROP AS {chosen}", values or None).rowcount:
        connection.execute(b"DROP TABLE reading")
        return 0
    connection.execute(b"ANALYZE reading")
    count = 0
    # A cursor of the server's: the names of a whole index do not fit into memory.
    with psycopg.RawServerCursor(connection, "items_stating") as cursor:
        cursor.itersize = AT_ONCE
        stating: Iterator[Stating] = iter(cursor.execute(SQL.stating, (CONTENTS_RULE, list(ATTRIBUTES))))
        # Its snapshot is older than what follows.
        connection.execute(SQL.forget, (CONTENTS_RULE,))
        while batch := list(islice(stating, AT_ONCE)):
            count += len(batch)
            _copy(connection, batch)
    connection.execute(b"DROP TABLE reading")
    return count


def ensure(connection: Connection) -> None:
    """Keep the contents of all items that are not kept yet, such as those that code without them has made.

    Needs the lock of loads. Commits after each batch: a run that was interrupted is continued by the next one.
    """
    row = connection.execute(SQL.progress).fetchone()
    assert row is not None
    rule, since, newest = row
    if (rule, since) != (CONTENTS_RULE, newest):
        last, since = -1, since if rule == CONTENTS_RULE else 0
        while batch := connection.execute(SQL.unread, (last, CONTENTS_RULE, since, AT_ONCE)).fetchall():
            keep(connection, SQL.listed, [item for (item,) in batch])
            connection.commit()
            last = batch[-1][0]
        connection.execute(SQL.forget_progress)
        connection.execute(SQL.keep_progress, (CONTENTS_RULE, newest))
    connection.commit()


def _copy(connection: Connection, batch: Iterable[Stating]) -> None:
    with connection.cursor().copy(f"COPY stated_contents ({_COLUMNS}) FROM STDIN".encode()) as copy:
        for item, name, attributes in batch:
            held = amounts(name, attributes)
            if not held:
                copy.write_row((item, 0, CONTENTS_RULE, None, None, None))
            for place, content in enumerate(held):
                terms = content.amount.numerator, content.amount.denominator
                copy.write_row((item, place, CONTENTS_RULE, content.per, *terms))
