"""What every event but a load ends with: owners, rows, versions, cells and brands of the affected items made anew."""

from datetime import date

from shared.db.connect import Connection
from shared.db.queries import beside
from workers.provenance import events, identifiers, items
from workers.provenance.acts import Act, Standing, replay
from workers.rollups import layout
from workers.rollups import refresh as derive
from workers.rollups.item_groups import Items
from workers.rollups.rows import SQL as ROLLUPS

SQL = beside(__file__, "acts.sql")


def lock(connection: Connection) -> None:
    """Wait until no other event is being made, and see to it that what is derived is of this code's layout. Commits."""
    events.lock(connection)
    layout.ensure(connection)
    identifiers.ensure(connection)


def reindex(connection: Connection, load_id: str | None) -> int:
    """Make anew what an event changes, and commit its data_version; return that.

    The caller has called `items.begin` with the event's items before it changed anything, and has left the observations
    that it changed in the temporary table `placed`.
    """
    version = events.next_version(connection)
    standing = _stand(connection)
    items.refresh(connection, version, "SELECT a.item_id FROM affected a JOIN items i ON i.id = a.item_id")
    survivors = standing.survivors
    connection.execute(items.SQL.standing, (list(survivors), list(survivors.values())))
    connection.execute(items.SQL.versions, (version,))
    placed, above = Items.read(connection, items.SQL.placed_items), derive.ancestors(connection)
    derive.touched(connection, placed, above, items.SQL.cells_touched, but=set())
    brands = [int(row[0]) for row in connection.execute(items.SQL.brands_touched)]
    items.refresh_brands(connection, brands, brands)
    events.commit_version(connection, load_id, _months(connection))
    return version


def _stand(connection: Connection) -> Standing:
    """Replay the acts; note whose owner changes, before their rows do."""
    acts = [Act(*row) for row in connection.execute(SQL.acts)]
    named = {act.item_id for act in acts} | {act.survivor_id for act in acts if act.survivor_id is not None}
    first_claims: dict[int, int] = dict(connection.execute(SQL.first_claims, (list(named),)).fetchall())
    standing = replay(acts, first_claims)
    before: dict[int, int | None] = dict(connection.execute(SQL.current).fetchall())
    now = standing.inactive
    changed = {item_id for item_id in {*before, *now} if before.get(item_id, item_id) != now.get(item_id, item_id)}
    items.widen(connection, changed)
    connection.execute(SQL.forget, (list(before.keys() - now.keys()),))
    kept = {item_id: now[item_id] for item_id in changed if item_id in now}
    connection.execute(SQL.keep, (list(kept), list(kept.values())))
    effective = [act.no for act in standing.effective]
    recounted = connection.execute(SQL.forget_changes, (effective,)).fetchall()
    recounted += connection.execute(SQL.keep_changes, (effective,)).fetchall()
    items.widen(connection, {row[0] for row in recounted})
    return standing


def _months(connection: Connection) -> list[date]:
    return [row[0] for row in connection.execute(ROLLUPS.months)]
