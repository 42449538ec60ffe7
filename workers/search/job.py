"""The job `search-index`: builds the search index of the newest data_version from one snapshot of the items."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg

from shared.db.connect import Connection, connect
from shared.db.queries import beside
from shared.search import layout
from shared.search.model import Brand, Category, Document, Item
from workers.job_handler import JobContext
from workers.search.build import build, prune

SQL = beside(__file__, "job.sql")
CHANNEL = "search_index"
_FETCH_ROWS = 5_000
ReportProgress = Callable[[str, int, int | None], None]


def build_index(context: JobContext) -> dict[str, Any]:
    """Return the job's result: which data_version was built, and how many items it has."""
    settings = context.services.settings
    return make_index(settings.worker_database_url, settings.search_dir, context.progress)


def make_index(
    url: str, directory: Path, report_progress: ReportProgress = lambda stage, done, total: None
) -> dict[str, Any]:
    """Build the newest data_version's index unless it exists, notify the edges, and remove old ones."""
    with connect(url, application="search-index") as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        version, items = _scalar(connection, SQL.newest), _scalar(connection, SQL.count)
        if not version:
            return {"data_version": 0, "items": 0}
        manifest = layout.read_manifest(directory / str(version))
        if manifest is None or not manifest.quantities:
            report_progress("reading", 0, items)
            build(_documents(connection), directory, version, lambda done: report_progress("indexing", done, items))
        connection.commit()
        connection.execute("SELECT pg_notify($1, $2)", (CHANNEL, str(version)))
        connection.commit()
    prune(directory)
    return {"data_version": version, "items": items}


def _documents(connection: Connection) -> Iterator[Document]:
    with psycopg.ServerCursor(connection, "documents") as cursor:
        cursor.itersize = _FETCH_ROWS
        for row in cursor.execute(SQL.documents):
            yield _document(*row)


def _document(
    iid: str,
    name: str,
    alt_names: list[str],
    brand_id: int | None,
    brand: str,
    slug: str,
    product_type: str | None,
    code: str | None,
    path: list[str],
    description: str | None,
) -> Document:
    item = Item(
        iid,
        name,
        Brand(brand_id, brand, slug) if brand_id is not None else None,
        product_type,
        Category(code, path) if code is not None else None,
    )
    return Document(item, alt_names, description)


def _scalar(connection: Connection, query: str) -> int:
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0
