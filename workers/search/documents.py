"""The items of PostgreSQL as documents of the search index."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from psycopg import RawServerCursor

from shared.db.connect import Connection
from shared.db.queries import beside
from shared.search.model import Brand, Category, Document, Item

SQL = beside(__file__, "documents.sql")
_ROWS_AT_A_TIME = 10_000


def documents(connection: Connection) -> Iterator[Document]:
    """Stream the active items in the order of their IIDs, as the connection's transaction sees them."""
    name = f"documents_{uuid4().hex}"
    with RawServerCursor(connection, name) as cursor:
        cursor.itersize = _ROWS_AT_A_TIME
        cursor.execute(SQL.documents.encode())
        for row in cursor:
            yield _document(row)


def total(connection: Connection) -> int:
    """Return how many documents there will be."""
    row = connection.execute(SQL.documents_total.encode()).fetchone()
    assert row is not None
    return int(row[0])


def newest_version(connection: Connection) -> int | None:
    """Return the newest data_version that the connection's transaction sees, None before the first load."""
    row = connection.execute(SQL.newest_version.encode()).fetchone()
    return int(row[0]) if row else None


def _document(row: tuple[Any, ...]) -> Document:
    iid, name, alt_names, brand_id, brand_name, brand_slug, product_type, code, path, description = row
    brand = Brand(brand_id, brand_name, brand_slug) if brand_id is not None else None
    category = Category(code, path) if code is not None else None
    return Document(Item(iid, name, brand, product_type, category), alt_names, description)
