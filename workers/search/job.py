"""The job `search-index`: brings the search index to the newest data_version, from one snapshot of the items."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg

from shared.db.connect import Connection, connect
from shared.db.queries import load_queries
from shared.objects.directory import ResultStore
from shared.search import layout, remote
from shared.search.directory import is_whole, prune, publish, writing
from shared.search.layout import Manifest
from shared.search.model import UNIT_PRICED, Brand, Category, Document, Item, Market
from shared.units.names import contents
from workers.jobs.job_handler import JobContext
from workers.search.build import build, update

SQL = load_queries(__file__, "job.sql")
CHANNEL = "search_index"
_FETCH_ROWS = 5_000
# Where more than this share of the items changed, all of them are read again.
_UPDATED_SHARE_MAX = 0.25
# More updates than this are written as one: each takes time of every search.
UPDATES_MAX = 8
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
    updates_max: int = UPDATES_MAX,
) -> dict[str, Any]:
    """Bring the index to the newest data_version, notify the edges, then make one segment of many updates.

    With an object store, the index there is continued, and is what edges take.
    """
    with connect(url, application="search-index") as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        if objects is not None:
            connection.execute(SQL.lock)
            connection.commit()  # the lock is the session's; the snapshot must begin after it was had
            _continue(objects, directory)
        with writing(directory):
            prune(directory)  # a build that found no room would find still less beside the files of the one before
            manifest = _newest(connection, directory, report_progress)
        if manifest is None:
            return {"data_version": 0, "items": 0}
        _give_out(connection, directory, manifest, objects)
        if manifest.updates > updates_max:
            with writing(directory):
                manifest = _newest(connection, directory, report_progress, joined=True) or manifest
            _give_out(connection, directory, manifest, objects)
        with writing(directory):
            prune(directory)
        if objects is not None:
            remote.clean(objects, directory)
    return {"data_version": manifest.data_version, "items": manifest.items}


def _continue(objects: ResultStore, directory: Path) -> None:
    try:
        remote.fetch(objects, directory)
    except remote.Damaged:
        remote.clean(objects, None)  # the index that is whole here, or is built now, replaces it


def _newest(
    connection: Connection, directory: Path, report_progress: ReportProgress, *, joined: bool = False
) -> Manifest | None:
    """Return the manifest of the newest data_version, made unless it exists; None without any load.

    `joined`: it is made with all changes since the last whole build in one update.
    """
    row = connection.execute(SQL.newest).fetchone()
    if row is None:
        return None
    version, moment = int(row[0]), str(row[1])
    identifiers = _scalar(connection, SQL.identifiers) or None
    former = _former(connection, directory, identifiers)
    if former is not None and former.data_version == version and not joined:
        return former
    items = _scalar(connection, SQL.count)
    if former is not None:
        since = former.built_version if joined else former.data_version
        kept = [segment for segment in former.segments if not (joined and segment.update)]
        changed = _scalar(connection, SQL.changed_count, since)
        if changed <= _UPDATED_SHARE_MAX * items:
            iids = [str(row[0]) for row in connection.execute(SQL.changed, (since,))]
            report_progress("reading", 0, changed)
            segments = update(
                kept,
                _documents(connection, since),
                iids,
                directory,
                lambda done: report_progress("indexing", done, changed),
            )
            # A change that its row does not tell of would stay unnoticed otherwise.
            if sum(segment.live for segment in segments) == items:
                return publish(directory, version, moment, segments, identifiers, former.built_version)
    report_progress("reading", 0, items)
    documents = _documents(connection, -1)
    return build(
        documents, directory, version, lambda done: report_progress("indexing", done, items), moment, identifiers
    )


def _former(connection: Connection, directory: Path, identifiers: int | None) -> Manifest | None:
    """Return the newest manifest if it is of this database, its identifiers are of these rules, and it is whole."""
    newest = layout.newest(directory)
    if newest is None or newest.identifiers != identifiers or not is_whole(directory, newest):
        return None
    row = connection.execute(SQL.moment, (newest.data_version,)).fetchone()
    return newest if row is not None and row[0] == newest.committed_at else None


def _give_out(connection: Connection, directory: Path, manifest: Manifest, objects: ResultStore | None) -> None:
    if objects is not None:
        remote.upload(objects, directory, manifest)
    connection.commit()
    connection.execute("SELECT pg_notify($1, $2)", (CHANNEL, str(manifest.data_version)))
    connection.commit()


def _documents(connection: Connection, after: int) -> Iterator[Document]:
    with psycopg.RawServerCursor(connection, "documents") as cursor:
        cursor.execute(SQL.documents, (after,))
        while rows := cursor.fetchmany(_FETCH_ROWS):
            observed = {row[0]: row[1:] for row in connection.execute(SQL.market, ([row[0] for row in rows],))}
            for id_, *row in rows:
                yield _document(*row, observed=observed.get(id_))


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
    attributes: dict[str, Any],
    schemes: list[str],
    values: list[str],
    *,
    observed: tuple[int, list[str], int, str | None, float | None] | None,
) -> Document:
    item = Item(
        iid,
        name,
        Brand(brand_id, brand, slug) if brand_id is not None else None,
        product_type,
        Category(code, path) if code is not None else None,
    )
    market = Market()
    if observed is not None:
        observations, channels, seen, currency, price = observed
        market = Market(observations, channels, seen, currency, price, _unit_price(price, name, attributes))
    return Document(item, alt_names, description, list(zip(schemes, values, strict=True)), market)


def _unit_price(price: float | None, name: str, attributes: dict[str, Any]) -> float | None:
    """Return the price of a kilogram or litre, where it is known how many of these an article holds."""
    if price is None:
        return None
    held = next((content.amount for content in contents(name, attributes) if content.per in UNIT_PRICED), None)
    return price / float(held) if held else None


def _scalar(connection: Connection, query: str, *values: object) -> int:
    row = connection.execute(query, values).fetchone()
    return int(row[0]) if row else 0
