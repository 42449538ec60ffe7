"""The merge: staged rows into the index, and the data derived from them, in proportion to what the load touches.

It is a list of steps. What one leaves for another is in temporary tables, which end with the load's transaction, or in
fields of `Merge`; each step states which of them it reads and writes, and a test checks the chain.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from psycopg import sql

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import LoadRefused
from workers.analytics import stated_contents
from workers.analytics.rollups import refresh
from workers.analytics.rollups.background_builder import BackgroundBuilder
from workers.analytics.rollups.items import Ancestors, Items
from workers.articles.index import is_needed
from workers.events import watches
from workers.events.watched_months import WatchedMonths
from workers.ingest.load.linking import Linking
from workers.ingest.load.partitions import SQL as PARTITIONS
from workers.ingest.load.stage import Stage
from workers.provenance import identifiers, items
from workers.provenance.events import ProvenanceEvent

SQL = load_queries(__file__, "merge.sql")
STAGED = ("stage_items", "stage_spans", "stage_impacts", "stage_observations")
"""The temporary tables that staging leaves for the merge."""
_CHANGES = ("items_new", "items_changed", "items_touched", "observations_new", "observations_replaced")


@dataclass
class Merge:
    """What the steps of one merge work on. The fields without a value are written by steps, and read by later ones."""

    connection: Connection
    stage: Stage
    event: ProvenanceEvent
    version: int
    counts: dict[str, int]
    linking: Linking
    ending: ExitStack
    groups: Items = field(init=False)
    ancestors: Ancestors = field(init=False)
    watched: WatchedMonths = field(init=False)
    rollups: BackgroundBuilder = field(init=False)
    seen_brands: list[int] = field(init=False)

    @property
    def source_of_new_rank(self) -> int | None:
        """The source, where its rank has changed: fields of its items may be taken from another source now."""
        return self.event.source_id if self.event.rank_changed else None

    @property
    def new_months(self) -> list[date]:
        """The months that had no observations before."""
        return sorted(first for first, _ in self.stage.partitions.new.values())

    def run(self, query: str, *values: object) -> int:
        """Execute a statement; return how many rows it concerned."""
        return self.connection.execute(query, values or None).rowcount


class MergeStep(NamedTuple):
    """A step, with the temporary tables and the fields of `Merge` that it reads and those that it writes."""

    run: Callable[[Merge], None]
    reads: tuple[str, ...]
    writes: tuple[str, ...]


def step(
    *, reads: tuple[str, ...] = (), writes: tuple[str, ...] = ()
) -> Callable[[Callable[[Merge], None]], MergeStep]:
    """Make a step of a function."""
    return lambda run: MergeStep(run, reads, writes)


def merge(
    connection: Connection, stage: Stage, event: ProvenanceEvent, version: int, counts: dict[str, int], linking: Linking
) -> bool:
    """Merge what was staged as one event; fill in the counts; return whether anything changed."""
    with ExitStack() as ending:
        shared = Merge(connection, stage, event, version, counts, linking, ending)
        for one in steps(linked=is_needed(connection, event.source_id)):
            one.run(shared)
    return any(counts[name] for name in _CHANGES)


def steps(*, linked: bool) -> list[MergeStep]:
    """Return the steps in their order; `linked`: whether there are items of other sources to link with.

    The articles that new items belong to are made of what is claimed of them: then they are inserted before the
    linking, and else while a thread makes the rollups.
    """
    return [
        take_newest,
        refuse_collisions,
        insert_brands,
        insert_categories,
        resolve_items,
        count_figures,
        note_affected,
        claim_known_items,
        begin_regrouping,
        *([insert_new_items, link] if linked else []),
        refresh_items,
        read_groups,
        begin_rollups,
        *([] if linked else [insert_new_items]),
        write_identifiers,
        attach_months,
        merge_observations,
        count_changes,
        refresh_rollups,
        write_rollups,
        evaluate_watches,
        refresh_brands,
    ]


@step(reads=("stage_items", "stage_spans", "stage_impacts"), writes=("new_items",))
def take_newest(merge: Merge) -> None:
    """Take the newest row of each staged item, with its figures and the span of its days."""
    merge.run(SQL.newest_staged)
    merge.run(SQL.analyze_staged)


@step(reads=("new_items",))
def refuse_collisions(merge: Merge) -> None:
    """Refuse a load that would write into an item of another source; one that joins items by name means them."""
    if merge.stage.joins:
        return
    collision = merge.connection.execute(SQL.collisions, (merge.event.source_id,)).fetchone()
    if collision is not None:
        own, others, item_id = collision
        raise LoadRefused(
            f"id {item_id!r} would get {own}, and an item of another source has "
            f"{'it' if own == others else f'{others}, which has the same key'}: give the id an IID of its own by `iid`"
        )


@step(reads=("new_items",))
def insert_brands(merge: Merge) -> None:
    """Insert the brands that the index lacks."""
    merge.run(SQL.brands)


@step(reads=("new_items",))
def insert_categories(merge: Merge) -> None:
    """Insert the categories that the index lacks, with all above them."""
    merge.run(SQL.categories)


@step(reads=("new_items",), writes=("merged",))
def resolve_items(merge: Merge) -> None:
    """Decide of each item whether it is new, changed or the same, and find its brand and category."""
    merge.run(SQL.resolved, merge.event.source_id)
    merge.run(SQL.analyze_resolved)


@step(reads=("new_items",))
def count_figures(merge: Merge) -> None:
    """Count the figures that are new, replaced or the same, before the claims of this load are among the others."""
    figures = (0, 0, 0)
    if merge.stage.figures:
        [figures] = merge.connection.execute(SQL.impact_counts, (merge.event.source_id,)).fetchall()
    merge.counts |= zip(("impacts_new", "impacts_replaced", "impacts_same"), figures, strict=True)


@step(reads=("stage_spans",), writes=("seeds", "affected", "refreshing"))
def note_affected(merge: Merge) -> None:
    """Note the items that the load speaks of, and all that share a record with them, before any of them changes."""
    items.begin(merge.connection, SQL.seeds, merge.source_of_new_rank)


@step(reads=("new_items", "merged"))
def claim_known_items(merge: Merge) -> None:
    """Keep what the load says of the items that were there before."""
    _claim(merge, new=False)
    merge.run(SQL.item_sources, False, merge.event.source_id)


@step(writes=("regrouped",))
def begin_regrouping(merge: Merge) -> None:
    """Make room for the items whose articles change, of which there are none without linking."""
    merge.run(SQL.regrouped)


@step(reads=("new_items", "merged"))
def insert_new_items(merge: Merge) -> None:
    """Insert the items that are new, with what the load says of them, and count them."""
    _claim(merge, new=True)
    merge.counts["items_new"] = merge.run(SQL.insert_items, merge.version, merge.event.at)
    stated_contents.keep(merge.connection, SQL.inserted)
    if merge.stage.figures:
        merge.run(SQL.insert_impacts, merge.event.source_id)
        merge.run(SQL.insert_stages, merge.event.source_id)
    merge.run(SQL.item_sources, True, merge.event.source_id)
    merge.run(SQL.returned)


def _claim(merge: Merge, *, new: bool) -> None:
    """Keep what the load says of its items: of those that were there before, or of the new ones."""
    merge.run(SQL.contents, new)
    merge.run(SQL.claims, new, merge.event.source_id, merge.event.no)


@step(reads=("merged", "affected", "seeds"), writes=("regrouped", "affected", "seeds"))
def link(merge: Merge) -> None:
    """Link the items of which the load says something new with those of other sources."""
    merge.linking.link(merge.connection, merge.event, merge.counts)


@step(reads=("merged", "affected", "regrouped"), writes=("refreshing",))
def refresh_items(merge: Merge) -> None:
    """Make the rows of changed and regrouped items anew from their claims."""
    items.refresh(merge.connection, merge.version, SQL.refreshed, merge.source_of_new_rank)


@step(reads=("affected", "merged"), writes=("groups", "ancestors", "watched"))
def read_groups(merge: Merge) -> None:
    """Read where the items of the load belong, for their rollups and for the watches on them."""
    merge.groups, merge.ancestors = Items.read(merge.connection, SQL.rollup_items), refresh.ancestors(merge.connection)
    merge.watched = watches.find_watched(merge.connection, merge.groups)


@step(reads=("groups", "ancestors", "watched"), writes=("rollups",))
def begin_rollups(merge: Merge) -> None:
    """Begin to make the rollups of new months, in a thread, while the server writes."""
    read, observe = merge.stage.spool.read, merge.watched.observe
    builder = BackgroundBuilder(merge.groups, merge.ancestors, merge.new_months, read, observe)
    merge.rollups = merge.ending.enter_context(builder)


@step(reads=("merged", "new_items"))
def write_identifiers(merge: Merge) -> None:
    """Make the identifiers of new and changed items anew."""
    identifiers.of_load(merge.connection, merge.event.no, SQL.identified)


@step()
def attach_months(merge: Merge) -> None:
    """Make the new months parts of the observations."""
    merge.stage.partitions.attach()


@step(reads=("stage_observations",), writes=("changed_observations",))
def merge_observations(merge: Merge) -> None:
    """Merge the observations of months that had some, and count those of all months."""
    stage, counts, new = merge.stage, merge.counts, merge.stage.partitions
    if stage.events and stage.runs > 1:  # within a run they are numbered already
        merge.run(PARTITIONS.number_equal.replace("{table}", "stage_observations"))
    merge.run(SQL.observations)
    [(added, replaced)] = merge.connection.execute(SQL.observation_counts).fetchall()
    [(repeated,)] = merge.connection.execute(SQL.repeated_count, (merge.event.no,)).fetchall()
    counts["observations_new"] = new.rows - new.superseded + added
    counts["observations_replaced"] = replaced
    counts["observations_same"] = repeated
    counts["observations_superseded"] = new.superseded + stage.observations - new.rows - added - replaced - repeated
    if stage.events and counts["observations_superseded"]:
        raise LoadRefused("equal events were taken for one another; nothing of the load was kept")


@step(reads=("merged", "seeds", "changed_observations", "regrouped"), writes=("seen_brands",))
def count_changes(merge: Merge) -> None:
    """Give every record that the load changed a new version, and note the brands of those that were there before."""
    counts, event = merge.counts, merge.event
    [(counts["items_changed"], counts["items_same"])] = merge.connection.execute(SQL.changed_count).fetchall()
    written = merge.run(SQL.changes, event.no, event.at, list(_find_observed_again(merge)))
    counts["items_touched"] = written - counts["items_changed"] - counts["items_new"]
    merge.run(SQL.new_versions, event.no, event.at, merge.version)
    merge.run(SQL.regrouped_versions, merge.version)
    updated = merge.connection.execute(SQL.brand_updates, (event.no, event.at))
    merge.seen_brands = [int(row[0]) for row in updated]


def _find_observed_again(merge: Merge) -> set[int]:
    """Return items that were there before and got other observations."""
    run, new = merge.connection.execute, merge.stage.partitions.new
    touched = {int(row[0]) for row in run("SELECT DISTINCT item_id FROM changed_observations")}
    before = {int(row[0]) for row in run(SQL.existing_among)} if new else set()
    for table in new if before else ():
        seen = sql.SQL("SELECT DISTINCT item_id FROM {}").format(sql.Identifier(table))
        touched |= before & {int(row[0]) for row in run(seen)}
    return touched


@step(reads=("changed_observations", "affected", "regrouped", "groups", "ancestors", "watched"))
def refresh_rollups(merge: Merge) -> None:
    """Refresh the rollups of months that had observations before."""
    refresh.refresh_touched(
        merge.connection,
        merge.groups,
        merge.ancestors,
        SQL.touched_by_load,
        but=set(merge.new_months),
        observe=merge.watched.observe,
        event_no=merge.event.no,
    )


@step(reads=("rollups",))
def write_rollups(merge: Merge) -> None:
    """Write the rollups of new months as they are made."""
    merge.rollups.write(merge.connection, merge.event.no)


@step(reads=("watched", "changed_observations"))
def evaluate_watches(merge: Merge) -> None:
    """Log an event for each watch whose condition the load has made true."""
    watches.evaluate(merge.connection, merge.event.no, merge.new_months, merge.watched)


@step(reads=("merged", "refreshing", "affected", "seen_brands"))
def refresh_brands(merge: Merge) -> None:
    """Count the items of brands anew, and read their channels from the rollups."""
    numbers = [int(row[0]) for row in merge.connection.execute(SQL.recounted_brands)]
    items.refresh_brands(merge.connection, numbers, [*numbers, *merge.seen_brands])


def changed_months(connection: Connection, stage: Stage) -> list[date]:
    """Return the months in which the load has added or changed observations; by them exports know what changed."""
    observed = {row[0] for row in connection.execute(SQL.observed_months)}
    return sorted(observed | {first for first, _ in stage.partitions.new.values()})
