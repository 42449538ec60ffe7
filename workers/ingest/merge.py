"""The merge: staged rows into the index, and the data derived from them, in proportion to what the load touches."""

from datetime import date

from psycopg import sql

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import LoadRefused
from workers.analytics.rollups import refresh
from workers.analytics.rollups.item_groups import Items
from workers.analytics.rollups.refresh import BackgroundBuilder
from workers.events import watches
from workers.ingest.linking import Linking
from workers.ingest.partitions import SQL as PARTITIONS
from workers.ingest.stage import Stage
from workers.provenance import identifiers, items
from workers.provenance.events import Event

SQL = load_queries(__file__, "merge.sql")


def merge(
    connection: Connection, stage: Stage, event: Event, version: int, counts: dict[str, int], linking: Linking
) -> bool:
    """Merge what was staged as one event; fill in the counts; return whether anything changed."""

    def run(query: str, *values: object) -> int:
        return connection.execute(query, values or None).rowcount

    run(SQL.newest_staged)
    run(SQL.analyze_staged)
    if not stage.joins:
        _check_keys(connection, event.source_id)
    run(SQL.brands)
    run(SQL.categories)
    run(SQL.resolved, event.source_id)
    run(SQL.analyze_resolved)
    figures = connection.execute(SQL.impact_counts, (event.source_id,)).fetchone() if stage.figures else None
    counts |= zip(("impacts_new", "impacts_replaced", "impacts_same"), figures or (0, 0, 0), strict=True)
    other_rank = event.source_id if event.rank_changed else None
    items.begin(connection, SQL.seeds, other_rank)
    _claim(connection, event, new=False)
    run(SQL.item_sources, False, event.source_id)
    run(SQL.regrouped)
    linked = linking.needed(connection, event)
    if linked:  # the articles that new items belong to are made of what is claimed of them
        counts["items_new"] = _insert(connection, event, version, figures=stage.figures)
        linking.link(connection, event, counts)
    items.refresh(connection, version, SQL.refreshed, other_rank)
    groups, above = Items.read(connection, SQL.rollup_items), refresh.ancestors(connection)
    new_months = [first for first, _ in stage.partitions.new.values()]
    watched = watches.watched(connection, groups)
    with BackgroundBuilder(groups, above, sorted(new_months), stage.spool.read, watched.observe) as rollups:
        if not linked:
            counts["items_new"] = _insert(connection, event, version, figures=stage.figures)
        identifiers.of_load(connection, event.no, SQL.identified)
        stage.partitions.attach()
        _merge_observations(connection, stage, event, counts)
        seen = _count_changes(connection, stage, event, version, counts)
        refresh.touched(connection, groups, above, SQL.touched_by_load, but=set(new_months), observe=watched.observe)
        rollups.write(connection)
    watches.evaluate(connection, event.no, new_months, watched)
    numbers = [int(row[0]) for row in connection.execute(SQL.recounted_brands)]
    items.refresh_brands(connection, numbers, [*numbers, *seen])
    changes = ("items_new", "items_changed", "items_touched", "observations_new", "observations_replaced")
    return any(counts[name] for name in changes)


def _insert(connection: Connection, event: Event, version: int, *, figures: bool) -> int:
    """Insert the items that are new, with what the load says of them; return how many they are.

    `figures`: whether the load brings any.
    """
    _claim(connection, event, new=True)
    inserted = connection.execute(SQL.insert_items, (version, event.at)).rowcount
    if figures:
        connection.execute(SQL.insert_impacts, (event.source_id,))
        connection.execute(SQL.insert_stages, (event.source_id,))
    connection.execute(SQL.item_sources, (True, event.source_id))
    connection.execute(SQL.returned)
    return inserted


def _claim(connection: Connection, event: Event, *, new: bool) -> None:
    """Keep what the load says of its items: of those that were there before, or of the new ones."""
    connection.execute(SQL.contents, (new,))
    connection.execute(SQL.claims, (new, event.source_id, event.no))


def _count_changes(
    connection: Connection, stage: Stage, event: Event, version: int, counts: dict[str, int]
) -> list[int]:
    """Give every record that the load changed a new version; return the brands of those that were there before."""
    changed = connection.execute(SQL.changed_count).fetchone()
    assert changed is not None
    counts["items_changed"], counts["items_same"] = changed
    touched = _touched(connection, stage)
    written = connection.execute(SQL.changes, (event.no, event.at, list(touched))).rowcount
    counts["items_touched"] = written - counts["items_changed"] - counts["items_new"]
    connection.execute(SQL.new_versions, (event.no, event.at, version))
    connection.execute(SQL.regrouped_versions, (version,))
    return [int(row[0]) for row in connection.execute(SQL.brand_updates, (event.no, event.at))]


def _merge_observations(connection: Connection, stage: Stage, event: Event, counts: dict[str, int]) -> None:
    """Merge the observations of months that had some, and count those of all months."""
    if stage.events and stage.runs > 1:  # within a run they are numbered already
        connection.execute(PARTITIONS.number_equal.replace("{table}", "stage_observations"))
    connection.execute(SQL.observations)
    [(added, replaced)] = connection.execute(SQL.observation_counts).fetchall()
    new = stage.partitions
    [(repeated,)] = connection.execute(SQL.repeated_count, (event.no,)).fetchall()
    counts["observations_new"] = new.rows - new.superseded + added
    counts["observations_replaced"] = replaced
    counts["observations_same"] = repeated
    counts["observations_superseded"] = new.superseded + stage.observations - new.rows - added - replaced - repeated
    if stage.events and counts["observations_superseded"]:
        raise LoadRefused("equal events were taken for one another; nothing of the load was kept")


def touched_months(connection: Connection, stage: Stage) -> list[date]:
    """Return the months in which the load has added or changed observations; by them exports know what changed."""
    observed = {row[0] for row in connection.execute(SQL.observed_months)}
    return sorted(observed | {first for first, _ in stage.partitions.new.values()})


def _check_keys(connection: Connection, source_id: int) -> None:
    collision = connection.execute(SQL.collisions, (source_id,)).fetchone()
    if collision is not None:
        own, others, item_id = collision
        raise LoadRefused(
            f"id {item_id!r} would get {own}, and an item of another source has "
            f"{'it' if own == others else f'{others}, which has the same key'}: give the id an IID of its own by `iid`"
        )


def _touched(connection: Connection, stage: Stage) -> set[int]:
    """Return items that were there before and got other observations."""
    touched = {int(row[0]) for row in connection.execute("SELECT DISTINCT item_id FROM changed_observations")}
    before = {int(row[0]) for row in connection.execute(SQL.existing_among)} if stage.partitions.new else set()
    for table in stage.partitions.new if before else ():
        seen = sql.SQL("SELECT DISTINCT item_id FROM {}").format(sql.Identifier(table))
        touched |= before & {int(row[0]) for row in connection.execute(seen)}
    return touched
