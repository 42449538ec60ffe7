"""Which items belong to which, kept in the database: made anew for the items that an event is connected with."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import LoadRefused
from workers.analytics.rollups import refresh
from workers.analytics.rollups.aggregates import Items
from workers.analytics.rollups.rows import SQL as ROLLUPS
from workers.articles import links as stored
from workers.articles import records
from workers.articles.grouping import Articles, Membership, group
from workers.articles.matching.clusters import Member
from workers.events import watches
from workers.provenance import events, items, layouts
from workers.provenance.acts import Act, Decision, EffectiveActs, in_effect, replay

SQL = load_queries(__file__, "acts.sql")
# What merges more than this share of the items that there were is stopped: so many twins are seldom meant.
MERGED_SHARE_MAX = 0.1
# Fewer merges than this are never too many: in an index of ten items a tenth is one.
MERGES_MIN = 10
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Acts:
    """The merges, withdrawals and decisions on pairs that are in effect, and every pair that any of them names."""

    standing: EffectiveActs
    decisions: list[Decision]
    pairs: tuple[tuple[int, int], ...]

    @property
    def effective(self) -> list[int]:
        """Return the numbers of the events that are in effect."""
        return [*(act.no for act in self.standing.effective), *(decision.no for decision in self.decisions)]


@dataclass(frozen=True, slots=True)
class Settled:
    """The articles of items after an event. `moved`: those that have another owner than before it; `merged`: those of
    them that were active; `parted`: those that left an article, with the item that owned it."""

    articles: Articles
    moved: frozenset[int]
    merged: frozenset[int]
    parted: dict[int, int]

    @property
    def memberships(self) -> tuple[Membership, ...]:
        """Return the article of every item that was looked at."""
        return self.articles.memberships

    @property
    def merges(self) -> list[tuple[int, int]]:
        """Return the items that were active and are merged now, each with the item that it is merged into."""
        return [
            (one.item_id, one.survivor_id)
            for one in self.memberships
            if one.item_id in self.merged and one.survivor_id is not None
        ]


def read_acts(connection: Connection) -> Acts:
    """Read the acts of people, and which of them are in effect."""
    rows = connection.execute(SQL.acts).fetchall()
    named = {item_id for row in rows for item_id in row[2:] if item_id is not None}
    first_claims: dict[int, int] = dict(connection.execute(SQL.first_claims, (list(named),)).fetchall())
    said = [
        Decision(no, left, right, kind == "link") for no, kind, left, right in rows if kind in ("link", "separation")
    ]
    acts = [Act(no, item_id, other) for no, kind, item_id, other in rows if kind in ("merge", "withdrawal")]
    pairs = tuple((row[2], row[3]) for row in rows if row[3] is not None)
    return Acts(replay(acts, first_claims), in_effect(said, first_claims), pairs)


def settle(connection: Connection, acts: Acts, seeds: Iterable[int]) -> Settled:
    """Find anew the articles of all items that are connected with the seeds, and store the owners.

    `items.begin` must have been called: where an owner changes, the items that share a record are noted before.
    """
    connected = _connected(connection, acts, set(seeds))
    known = {
        item_id: Member(source, article, separate, age=(first_day, source, item_id))
        for item_id, source, first_day, separate, article in connection.execute(records.SQL.members, (list(connected),))
    }
    links = stored.read(connection, known).values()
    articles = group(known, links, acts.standing, acts.decisions)
    before: dict[int, int | None] = dict(connection.execute(SQL.current, (list(connected),)).fetchall())
    now = {member.item_id: member.owner_id for member in articles.memberships if member.status != "active"}
    moved = {item_id for item_id in connected if before.get(item_id, item_id) != now.get(item_id, item_id)}
    items.widen(connection, moved)
    connection.execute(SQL.forget, (list(before.keys() - now.keys()),))
    kept = {item_id: now[item_id] for item_id in moved & now.keys()}
    connection.execute(SQL.keep, (list(kept), list(kept.values())))
    parted = {
        item_id: owner
        for item_id, owner in before.items()
        if owner is not None and now.get(item_id, item_id) != now.get(owner, owner)
    }
    return Settled(articles, frozenset(moved), frozenset((moved & now.keys()) - before.keys()), parted)


def refuse_too_many_merges(connection: Connection, settled: Settled, before: int, what: str) -> None:
    """Raise LoadRefused, with examples, where more than a tenth of the `before` items of the index are merged."""
    merged = len(settled.merged)
    if merged > MERGES_MIN and merged > MERGED_SHARE_MAX * before > 0:
        examples = "; ".join(named_pairs(connection, settled.merges, "into"))
        raise LoadRefused(
            f"{what} would merge {merged:,} items, more than a tenth of the {before:,} of the index, for example "
            f"{examples}; nothing of it was kept. If that is meant, add --allow-merges"
        )


def named_pairs(connection: Connection, pairs: list[tuple[int, int]], word: str) -> list[str]:
    """Return the first of some pairs of items in words, such as `IID-… (a name) into IID-… (a name)`."""
    first = pairs[:_SHOWN]
    ids = [item_id for pair in first for item_id in pair]
    shown = {row[0]: f"{row[1]} ({row[2][:60]})" for row in connection.execute(SQL.iids, (ids,))}
    return [f"{shown[item_id]} {word} {shown[other]}" for item_id, other in first]


def mark(connection: Connection, memberships: Collection[Membership]) -> None:
    """Write what readers and the lookup see of the memberships."""
    connection.execute(
        items.SQL.standing,
        (
            [member.item_id for member in memberships],
            [member.status for member in memberships],
            [member.survivor_id for member in memberships],
        ),
    )


def _connected(connection: Connection, acts: Acts, seeds: set[int]) -> set[int]:
    named: dict[int, set[int]] = {}
    for left, right in acts.pairs:
        named.setdefault(left, set()).add(right)
        named.setdefault(right, set()).add(left)
    reached, frontier = set(seeds), set(seeds)
    while frontier:
        near = {row[0] for row in connection.execute(SQL.linked, (list(frontier),))}
        near.update(*(named.get(item_id, ()) for item_id in frontier))
        frontier = near - reached
        reached |= frontier
    return reached


# The last step of every event but a load: owners, rows, versions, rollups and brands of its items made anew.


def lock(connection: Connection) -> bool:
    """Wait until no other event is being made, and see to it that what is derived is of this code's layout. Commits.

    Return whether rollups of another layout were derived anew.
    """
    events.lock(connection)
    return layouts.ensure(connection)


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
    watched = watches.watched(connection, groups)
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
