"""The merge: staged rows into the index, and what is derived from them, in proportion to what the load touches."""

from datetime import date

from psycopg import sql

from shared.db.connect import Connection
from shared.db.queries import beside
from shared.errors import LoadRefused
from workers.ingest.partitions import SQL as PARTITIONS
from workers.ingest.stage import Stage
from workers.rollups import refresh as derive
from workers.rollups.background import BackgroundBuilder
from workers.rollups.item_groups import Items

SQL = beside(__file__, "merge.sql")


def merge(connection: Connection, stage: Stage, source_id: int, version: int, counts: dict[str, int]) -> bool:
    """Merge what was staged; fill in the counts; return whether anything changed."""

    def run(query: str, *values: object) -> int:
        return connection.execute(query.encode(), values or None).rowcount

    run(SQL.newest_staged)
    run(SQL.analyze_staged)
    _check_keys(connection)
    run(SQL.brands)
    run(SQL.categories)
    run(SQL.resolved, source_id)
    run(SQL.analyze_resolved)
    items, above = Items.read(connection, SQL.derive_items), derive.ancestors(connection)
    new_months = [first for first, _ in stage.partitions.new.values()]
    with BackgroundBuilder(items, above, sorted(new_months), stage.spool.read) as cells:
        counts["items_new"] = run(SQL.insert_items, version)
        counts["items_changed"] = run(SQL.update_items, version)
        run(SQL.item_sources, source_id)
        touched = {int(row[0]) for row in connection.execute(SQL.impacts.encode(), (source_id,))}
        stage.partitions.attach()
        _place(connection, stage, counts)
        touched |= _touched(connection, stage)
        counts["items_touched"] = run(SQL.touch_items, version, list(touched)) if touched else 0
        run(SQL.brand_figures)
        run(SQL.brand_channels)
        derive.touched(connection, items, above, SQL.derive_touched, but=set(new_months))
        cells.write(connection)
    changes = ("items_new", "items_changed", "items_touched", "observations_new", "observations_replaced")
    return any(counts[name] for name in changes)


def _place(connection: Connection, stage: Stage, counts: dict[str, int]) -> None:
    """Merge the observations of months that had some, and count those of all months."""
    if stage.events and stage.runs > 1:  # within a run they are numbered already
        connection.execute(PARTITIONS.number_equal.replace("{table}", "stage_observations").encode())
    connection.execute(SQL.observations.encode())
    placed = connection.execute(SQL.placed_counts.encode()).fetchone()
    assert placed is not None
    new = stage.partitions
    counts["observations_new"] = new.rows - new.superseded + placed[0]
    counts["observations_replaced"] = placed[1] + new.superseded
    counts["observations_same"] = stage.observations - counts["observations_new"] - counts["observations_replaced"]


def touched_months(connection: Connection, stage: Stage) -> list[date]:
    """Return the months in which the load has added or changed observations; by them exports know what changed."""
    placed = {row[0] for row in connection.execute(SQL.placed_months.encode())}
    return sorted(placed | {first for first, _ in stage.partitions.new.values()})


def _check_keys(connection: Connection) -> None:
    collision = connection.execute(SQL.collisions.encode()).fetchone()
    if collision is not None:
        raise LoadRefused(f"{collision[0]} and {collision[1]} have the same key; give one of them an IID of its own")


def _touched(connection: Connection, stage: Stage) -> set[int]:
    """Return items that were there before and got other observations."""
    touched = {int(row[0]) for row in connection.execute("SELECT DISTINCT item_id FROM placed")}
    before = {int(row[0]) for row in connection.execute(SQL.existing_among.encode())} if stage.partitions.new else set()
    for table in stage.partitions.new if before else ():
        seen = sql.SQL("SELECT DISTINCT item_id FROM {}").format(sql.Identifier(table))
        touched |= before & {int(row[0]) for row in connection.execute(seen)}
    return touched
