"""The job `search-index`: brings the search index to the newest data_version, from one snapshot of the items."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg

from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.objects.directory import ResultStore
from shared.search import layout, remote
from shared.search.directory import merging, prune, publish, writing
from shared.search.layout import Manifest
from shared.search.model import Brand, Category, Document, Item
from workers.jobs.job_handler import JobContext
from workers.search.build import build, merge_some, update

SQL = load_queries(__file__, "job.sql")
CHANNEL = "search_index"
_FETCH_ROWS = 5_000
# Where more than this share of the items changed, all of them are read again: one segment is searched faster.
_UPDATED_SHARE_MAX = 0.25
ReportProgress = Callable[[str, int, int | None], None]


def build_index(context: JobContext) -> dict[str, Any]:
    """Return the job's result: which data_version was built, and how many items it has."""
    services = context.services
    objects = services.objects if services.settings.search_in_store else None
    return make_index(services.settings.worker_database_url, services.settings.search_dir, context.progress, objects)


def make_index(
    url: str,
    directory: Path,
    report_progress: ReportProgress = lambda stage, done, total: None,
    objects: ResultStore | None = None,
) -> dict[str, Any]:
    """Bring the index to the newest data_version, notify the edges, then merge segments and remove old ones.

    With an object store, the index there is continued, and is what edges take.
    """
    with connect(url, application="search-index") as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        if objects is not None:
            connection.execute(SQL.lock)
            connection.commit()  # the lock is the session's; the snapshot must begin after it was had
            _continue(objects, directory)
        with writing(directory):
            manifest = _newest(connection, directory, report_progress)
        if manifest is None:
            return {"data_version": 0, "items": 0}
        _give_out(connection, directory, manifest, objects)
        with merging(directory) as alone:
            while alone and (merged := merge_some(directory)):
                report_progress("merging", merged.items, merged.items)
                _give_out(connection, directory, merged, objects)
        with writing(directory):
            prune(directory)
        if objects is not None:
            remote.clean(objects, directory)
    return {"data_version": manifest.data_version, "items": manifest.items}


def _continue(objects: ResultStore, directory: Path) -> None:
    try:
        remote.fetch(objects, directory)
    except remote.Damaged:
        remote.discard(objects)  # the index that is whole here, or is built now, replaces it


def _newest(connection: Connection, directory: Path, report_progress: ReportProgress) -> Manifest | None:
    """Return the manifest of the newest data_version, made unless it exists; None without any load."""
    row = connection.execute(SQL.newest).fetchone()
    if row is None:
        return None
    version, moment = int(row[0]), str(row[1])
    identifiers = _scalar(connection, SQL.identifiers) or None
    former = _former(connection, directory, identifiers)
    if former is not None and former.data_version == version:
        return former
    items = _scalar(connection, SQL.count)
    changed = _scalar(connection, SQL.changed_count, former.data_version) if former else items
    if former is not None and changed <= _UPDATED_SHARE_MAX * items:
        iids = [str(row[0]) for row in connection.execute(SQL.changed, (former.data_version,))]
        documents = _documents(connection, SQL.changed_documents, (former.data_version,))
        report_progress("reading", 0, changed)
        segments = update(former, documents, iids, directory, lambda done: report_progress("indexing", done, changed))
        # A change that its row does not tell of would stay unnoticed otherwise.
        if sum(segment.live for segment in segments) == items:
            return publish(directory, version, moment, segments, identifiers)
    report_progress("reading", 0, items)
    documents = _documents(connection, SQL.documents, ())
    return build(
        documents, directory, version, lambda done: report_progress("indexing", done, items), moment, identifiers
    )


def _former(connection: Connection, directory: Path, identifiers: int | None) -> Manifest | None:
    """Return the newest manifest if it is of this database, and its identifiers are of these rules."""
    newest = layout.newest(directory)
    if newest is None or newest[1].identifiers != identifiers:
        return None
    row = connection.execute(SQL.moment, (newest[1].data_version,)).fetchone()
    return newest[1] if row is not None and row[0] == newest[1].committed_at else None


def _give_out(connection: Connection, directory: Path, manifest: Manifest, objects: ResultStore | None) -> None:
    if objects is not None:
        remote.upload(objects, directory, manifest)
    connection.commit()
    connection.execute("SELECT pg_notify($1, $2)", (CHANNEL, str(manifest.data_version)))
    connection.commit()


def _documents(connection: Connection, query: str, values: tuple[object, ...]) -> Iterator[Document]:
    with psycopg.RawServerCursor(connection, "documents") as cursor:
        cursor.itersize = _FETCH_ROWS
        for row in cursor.execute(query, values):
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
    schemes: list[str],
    values: list[str],
) -> Document:
    item = Item(
        iid,
        name,
        Brand(brand_id, brand, slug) if brand_id is not None else None,
        product_type,
        Category(code, path) if code is not None else None,
    )
    return Document(item, alt_names, description, list(zip(schemes, values, strict=True)))


def _scalar(connection: Connection, query: str, *values: object) -> int:
    row = connection.execute(query, values).fetchone()
    return int(row[0]) if row else 0
