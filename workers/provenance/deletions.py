"""Deleting observations by source, item and days: an event like a load, which can be undone."""

from dataclasses import dataclass
from datetime import date

from psycopg.types.json import Jsonb

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import ItemIndexError
from workers.provenance import events, items
from workers.provenance.reindex import reindex

SQL = load_queries(__file__, "deletions.sql")
FIRST_DAY, LAST_DAY = date(1, 1, 1), date(9999, 12, 31)


class NothingToDelete(ItemIndexError):
    """The request names no source, no item, or no observation."""


@dataclass(frozen=True, slots=True)
class DeletionScope:
    """Which observations: of a source, of an item, from a day to a day (both inclusive); at least one is named."""

    source: str | None = None
    iid: str | None = None
    first: date | None = None
    last: date | None = None


@dataclass(frozen=True, slots=True)
class DeletedMonth:
    """How many observations of how many items a month loses."""

    month: date
    observations: int
    items: int


@dataclass(frozen=True, slots=True)
class Deletion:
    """The outcome of a deletion; `no` is None for a dry run."""

    months: tuple[DeletedMonth, ...]
    no: int | None = None
    data_version: int | None = None


def delete(connection: Connection, chosen: DeletionScope, by: str, reason: str | None, *, dry_run: bool) -> Deletion:
    """Delete observations, in the caller's transaction under the lock of events. Raises NothingToDelete."""
    _choose_observations(connection, chosen)
    months = tuple(DeletedMonth(*row) for row in connection.execute(SQL.by_month))
    if dry_run:
        return Deletion(months)
    if not months:
        raise NothingToDelete("no observation is of this source, this item and these days")
    items.begin(connection, SQL.items)
    requested = {"source": chosen.source, "iid": chosen.iid, "from": chosen.first, "to": chosen.last}
    summary = Jsonb({name: str(value) for name, value in requested.items() if value is not None})
    [(load_id,)] = connection.execute(SQL.begin, (chosen.source or "", summary)).fetchall()
    event = events.begin(connection, "deletion", by, reason, load_id=load_id)
    connection.execute(SQL.tombstones, (event.no,))
    connection.execute(SQL.changed_observations)
    connection.execute(SQL.changes, (event.no, event.at))
    return Deletion(months, event.no, reindex(connection, load_id))


def _choose_observations(connection: Connection, chosen: DeletionScope) -> None:
    if chosen == DeletionScope():
        raise NothingToDelete("name a source, an IID, or days: a deletion of everything is not meant")
    source_id = item_ids = None
    if chosen.source is not None:
        row = connection.execute(SQL.source, (chosen.source,)).fetchone()
        if row is None:
            raise NothingToDelete(f"there is no source {chosen.source}")
        source_id = row[0]
    if chosen.iid is not None:
        item_ids = [row[0] for row in connection.execute(SQL.group, (chosen.iid,))]
        if not item_ids:
            raise NothingToDelete(f"there is no item {chosen.iid}")
    values = (source_id, item_ids, chosen.first or FIRST_DAY, chosen.last or LAST_DAY)
    connection.execute(SQL.chosen, values)
