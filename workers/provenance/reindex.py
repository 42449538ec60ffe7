"""The last step of every event but a load: owners, rows, versions, rollups and brands of its items made anew."""

from collections.abc import Callable, Collection
from datetime import date

from shared.db.connect import Connection
from workers.analytics.rollups import refresh
from workers.analytics.rollups.items import Items
from workers.analytics.rollups.rows import SQL as ROLLUPS
from workers.events import watches
from workers.provenance import events, items
from workers.provenance.standing import SQL, Settled, mark, read_acts, settle


def reindex(
    connection: Connection,
    load_id: str | None,
    seeds: Collection[int] = (),
    check: Callable[[Settled], None] = lambda settled: None,
) -> int:
    """Make anew what an event changes, and commit its data_version; return that.

    The caller has called `items.begin` with the event's items before it changed anything, and has left the observations
    that it changed in the temporary table `changed_observations`. `seeds`: further items whose links have changed.
    `check` sees the articles before anything is committed, and may raise.
    """
    version = events.next_version(connection)
    settled = _stand(connection, seeds)
    check(settled)
    memberships = settled.memberships
    items.refresh(connection, version, "SELECT a.item_id FROM affected a JOIN items i ON i.id = a.item_id")
    mark(connection, memberships)
    connection.execute(items.SQL.versions, (version,))
    groups, above = Items.read(connection, items.SQL.item_groups), refresh.ancestors(connection)
    watched = watches.find_watched(connection, groups)
    refresh.refresh_touched(connection, groups, above, items.SQL.rollups_touched, but=set(), observe=watched.observe)
    watches.rearm(connection, watched)
    brands = [int(row[0]) for row in connection.execute(items.SQL.brands_touched)]
    items.refresh_brands(connection, brands, brands)
    events.commit_version(connection, load_id, _months(connection))
    return version


def _stand(connection: Connection, seeds: Collection[int]) -> Settled:
    """Find the articles of the event's items anew; note whose owner changes, before their rows do."""
    acts = read_acts(connection)
    affected = {row[0] for row in connection.execute(items.SQL.affected_items)}
    settled = settle(connection, acts, affected | set(seeds))
    recounted = connection.execute(SQL.forget_changes, (acts.effective,)).fetchall()
    recounted += connection.execute(SQL.keep_changes, (acts.effective,)).fetchall()
    items.widen(connection, {row[0] for row in recounted})
    return settled


def _months(connection: Connection) -> list[date]:
    return [row[0] for row in connection.execute(ROLLUPS.months)]
