"""Undo: takes back exactly what one event brought, so that the index answers as if it had never been."""

import re
from dataclasses import dataclass
from pathlib import Path

from psycopg.rows import dict_row

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import ItemIndexError
from shared.index.iid import canonical_uuid
from shared.processes import without_collector
from shared.text import fold
from workers.articles import links, records
from workers.articles.index import is_needed, open_index
from workers.articles.records import SQL as RECORDS
from workers.ingest import factors
from workers.provenance import events, identifiers, items
from workers.provenance.reindex import reindex

SQL = load_queries(__file__, "undo.sql")
ON_ITEMS = ("merge", "withdrawal", "link", "separation", "decisions")
"""The kinds of events that say something of items and bring no claims."""


class NothingToUndo(ItemIndexError):
    """There is no such event, it was undone before, or it is older than the numbering of events."""


class UndoneBefore(NothingToUndo):
    """The event was undone before."""


@dataclass(frozen=True, slots=True)
class _Event:
    no: int
    kind: str
    load_id: str | None
    source_id: int | None


def extent(connection: Connection, named: str) -> dict[str, int]:
    """Return what undoing an event would take back, by its kind, and change nothing. Raises NothingToUndo."""
    found = connection.cursor(row_factory=dict_row).execute(SQL.extent, (_find(connection, named).no,))
    return found.fetchall()[0]


def undo(connection: Connection, named: str, by: str, reason: str | None, match_dir: Path | None = None) -> int:
    """Undo an event, named by its number or its load's id; return the new data_version. Raises NothingToUndo.

    In the caller's transaction, under the lock of events. `match_dir`: where the index of matching is kept; without it
    one is made in memory where it is needed.
    """
    event = _find(connection, named)
    other = connection.execute(SQL.other_terms, (event.source_id, event.no)).fetchone()
    ranked, matched = (
        event.source_id if other is not None and changed else None for changed in other or (False, False)
    )
    items.begin(connection, SQL.seeds, event.no, ranked)
    connection.execute(SQL.mark_undone, (event.no, by, reason))
    seeds: set[int] = set()
    if event.kind in ON_ITEMS:
        connection.execute(items.SQL.no_changed_observations)
    elif event.kind == "model":
        connection.execute(items.SQL.no_changed_observations)
        seeds = links.restore(connection, event.no, ())
        if connection.execute(SQL.loaded_later, (event.no,)).fetchone() is not None:
            seeds |= links.rejudge(connection, open_index(connection, match_dir), event.no)
    else:
        _unclaim(connection, event)
        seeds = _relink(connection, event, matched, match_dir)
    version = reindex(connection, event.load_id, seeds)
    if event.kind not in (*ON_ITEMS, "model"):
        _drop_labels(connection)
    return version


def _find(connection: Connection, named: str) -> _Event:
    number = int(named) if re.fullmatch(r"[0-9]{1,9}", named) else None
    row = connection.execute(SQL.find, (number, canonical_uuid(named))).fetchone()
    if row is None:
        raise NothingToUndo("there is no such load; `itemindex loads list` shows them")
    if row[0] == 0:
        raise NothingToUndo("what was loaded before loads were numbered cannot be undone")
    if row[3] is not None:
        raise UndoneBefore(f"it was undone on {row[3]:%Y-%m-%d}")
    return _Event(row[0], row[1], row[2], row[4])


def _unclaim(connection: Connection, event: _Event) -> None:
    """Take back the claims of a load or of a deletion, and put in force what is claimed without them."""

    def run(query: str, *values: object) -> int:
        return connection.execute(query, values or None).rowcount

    version = events.next_version(connection)
    if event.load_id is not None:
        run(SQL.mark_load, event.load_id)
        run(SQL.terms, event.source_id)
    run(SQL.held, event.no)
    run(SQL.claimed_before, event.no)
    run(SQL.changed_observations)
    run(SQL.tombstones)
    run(SQL.claims, event.no)
    run(SQL.contents)
    run(SQL.item_sources)
    run(SQL.vanished)
    for statement in (SQL.vanish_impacts, SQL.vanish_stages, SQL.vanish_changes, SQL.vanish_items):
        run(statement)
    run(SQL.removed, version)
    identifiers.refresh(connection, "SELECT item_id FROM affected")
    run(SQL.forget_changes, event.no)
    run(SQL.find_changes)
    for (scope,) in connection.execute(SQL.factor_scopes, (event.no,)).fetchall():
        factors.settle(connection, scope)
    _relabel(connection)


@without_collector()
def _relink(connection: Connection, event: _Event, source_id: int | None, match_dir: Path | None) -> set[int]:
    """Give back the links that the event replaced; find those of its items anew where later loads have judged them.

    `source_id`: a source whose rules of matching change. Returns the items whose articles may change.
    """
    vanished = {row[0] for row in connection.execute("SELECT item_id FROM vanished")}
    claimed = {row[0] for row in connection.execute("SELECT item_id FROM unclaimed")} - vanished
    seeds = links.restore(connection, event.no, vanished)
    if source_id is not None:
        claimed |= {row[0] for row in connection.execute(RECORDS.of_source, (source_id,))}
    later = connection.execute(SQL.loaded_later, (event.no,)).fetchone()
    if later is not None and (claimed or vanished) and is_needed(connection):
        index = open_index(connection, match_dir, claimed | vanished)
        return seeds | links.relink(connection, index, claimed | vanished, event.no)
    known = {record.item_id: record for record in records.read(connection, claimed)}
    return seeds | links.declare(connection, claimed | vanished, known)


def _relabel(connection: Connection) -> None:
    """Give brands and categories the spelling of the first load that is left."""
    slugs = [row[0] for row in connection.execute("SELECT DISTINCT brand_slug FROM unclaimed WHERE brand_slug <> ''")]
    for number, _, name in connection.execute(SQL.brand_names, (slugs,)).fetchall():
        connection.execute(SQL.rename_brand, (number, name, fold(name)))
    connection.execute(SQL.category_paths)


def _drop_labels(connection: Connection) -> None:
    """Drop the brands, categories and channels that nothing refers to any more."""
    for statement in (SQL.drop_brands, SQL.category_tree, SQL.drop_categories, SQL.drop_channels):
        connection.execute(statement)
