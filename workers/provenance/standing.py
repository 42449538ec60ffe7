"""Which items belong to which, kept in the database: made anew for the items that an event is connected with."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import LoadRefused
from workers.articles import links as stored
from workers.articles import records
from workers.articles.grouping import ArticleMembership, Articles, group
from workers.articles.matching.clusters import ClusterMember
from workers.provenance import events, items, layouts
from workers.provenance.acts import Act, Decision, EffectiveActs, in_effect, replay

SQL = load_queries(__file__, "acts.sql")
# A load that merges more than this share of the items of the index is refused: it is seldom meant.
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
    def memberships(self) -> tuple[ArticleMembership, ...]:
        """Return the article of every item that was looked at."""
        return self.articles.memberships

    @property
    def merges(self) -> list[tuple[int, int]]:
        """Return the items that were active and are merged now, each with the item that it is merged into."""
        return [
            (member.item_id, member.survivor_id)
            for member in self.memberships
            if member.item_id in self.merged and member.survivor_id is not None
        ]


def read_acts(connection: Connection) -> Acts:
    """Read the acts of people, and which of them are in effect."""
    rows = connection.execute(SQL.acts).fetchall()
    named = {item_id for row in rows for item_id in row[2:] if item_id is not None}
    first_claims: dict[int, int] = dict(connection.execute(SQL.first_claims, (list(named),)).fetchall())
    decisions = [
        Decision(no, left, right, kind == "link") for no, kind, left, right in rows if kind in ("link", "separation")
    ]
    acts = [Act(no, item_id, other) for no, kind, item_id, other in rows if kind in ("merge", "withdrawal")]
    pairs = tuple((row[2], row[3]) for row in rows if row[3] is not None)
    return Acts(replay(acts, first_claims), in_effect(decisions, first_claims), pairs)


def settle(connection: Connection, acts: Acts, seeds: Iterable[int]) -> Settled:
    """Find anew the articles of all items that are connected with the seeds, and store the owners.

    `items.begin` must have been called: where an owner changes, the items that share a record are noted before.
    """
    connected = _connected_items(connection, acts, set(seeds))
    members = connection.execute(records.SQL.members, (list(connected),))
    known = {
        item_id: ClusterMember(source, article, separate, (first_day, source, item_id), one_per_source)
        for item_id, source, first_day, separate, article, one_per_source in members
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


def mark(connection: Connection, memberships: Collection[ArticleMembership]) -> None:
    """Write what readers and the lookup see of the memberships."""
    connection.execute(
        items.SQL.standing,
        (
            [member.item_id for member in memberships],
            [member.status for member in memberships],
            [member.survivor_id for member in memberships],
        ),
    )


def _connected_items(connection: Connection, acts: Acts, seeds: set[int]) -> set[int]:
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


def lock(connection: Connection) -> bool:
    """Wait until no other event is being made, and see to it that what is derived is of this code's layout. Commits.

    Return whether rollups of another layout were derived anew.
    """
    events.lock(connection)
    return layouts.ensure(connection)
