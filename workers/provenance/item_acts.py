"""Operators' acts on single items, from the command or the dashboard. Each is an event and a data_version."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from shared.articles import Filters
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import ItemIndexError
from workers.articles import links
from workers.articles.index import open_index
from workers.provenance import events, items
from workers.provenance.standing import Settled, read_acts, refuse_too_many_merges, reindex
from workers.provenance.undo import SQL as UNDO
from workers.provenance.undo import undo

SQL = load_queries(__file__, "item_acts.sql")


# Deleting observations by source, item and days: an event like a load, which can be undone.


FIRST_DAY, LAST_DAY = date(1, 1, 1), date(9999, 12, 31)


class NothingToDelete(ItemIndexError):
    """The request names no source, no item, or no observation."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which observations: of a source, of an item, from a day to a day (both inclusive); at least one is named."""

    source: str | None = None
    iid: str | None = None
    first: date | None = None
    last: date | None = None


@dataclass(frozen=True, slots=True)
class Month:
    """How many observations of how many items a month loses."""

    month: date
    observations: int
    items: int


@dataclass(frozen=True, slots=True)
class Deleted:
    """The outcome of a deletion; `no` is None for a dry run."""

    months: tuple[Month, ...]
    no: int | None = None
    data_version: int | None = None


def delete(connection: Connection, chosen: Chosen, by: str, reason: str | None, *, dry_run: bool) -> Deleted:
    """Delete observations, in the caller's transaction under the lock of events. Raises NothingToDelete."""
    _choose(connection, chosen)
    months = tuple(Month(*row) for row in connection.execute(SQL.by_month))
    if dry_run:
        return Deleted(months)
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
    return Deleted(months, event.no, reindex(connection, load_id))


def _choose(connection: Connection, chosen: Chosen) -> None:
    if chosen == Chosen():
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


# An operator's acts on single items: merge, split, withdraw, restore. Each is an event and a data_version.


class ActRefused(ItemIndexError):
    """The items are not in the state that the act needs; nothing was changed."""


def withdraw(connection: Connection, iid: str, by: str, reason: str | None) -> int:
    """Withdraw an active item and return the new data_version: its IID is answered 410, and no statistic has it."""
    return _act(connection, _active(connection, iid), None, by, reason)


def merge(connection: Connection, iid: str, survivor: str, by: str, reason: str | None) -> int:
    """Merge an active item, with all that were merged into it, into another; return the new data_version."""
    merged, into = _active(connection, iid), _active(connection, survivor)
    if merged == into:
        raise ActRefused("an item cannot be merged into itself")
    return _act(connection, merged, into, by, reason)


def restore(connection: Connection, iid: str, by: str, reason: str | None) -> int:
    """Undo the withdrawal or the merge of an item and return the new data_version: its record is as it was."""
    row = connection.execute(SQL.latest_act, (iid,)).fetchone()
    if row is None or row[0] is None:
        raise ActRefused(f"no withdrawal or merge of {iid} is in effect")
    return undo(connection, str(row[0]), by, reason)


def decide(connection: Connection, iid: str, other: str, same: bool, by: str, reason: str | None) -> int | None:
    """Decide whether two items are one article; return the new data_version, None where no record changes.

    The decision holds until it is undone or decided otherwise, whatever later loads find.
    """
    left, right = _existing(connection, iid), _existing(connection, other)
    if left == right:
        raise ActRefused("these are one item")
    _begin(connection, [left, right])
    events.begin(connection, _kind(same), by, reason, items=(left, right))
    if not same and not connection.execute(SQL.together, (left, right)).fetchall():
        return None
    return reindex(connection, None)


def decide_all(
    connection: Connection, decided: Sequence[tuple[int, int, bool]], filters: dict[str, Any], by: str, reason: str
) -> tuple[int, int | None]:
    """Decide on many pairs of items as one event; return its number, and the data_version where records change."""
    _begin(connection, [item_id for left, right, _ in decided for item_id in (left, right)])
    event = events.begin(connection, "decisions", by, reason, terms=filters)
    connection.execute(events.SQL.begin_parts, (event.no, *map(list, zip(*decided, strict=True))))
    changes = any(
        same or connection.execute(SQL.together, (left, right)).fetchone() is not None for left, right, same in decided
    )
    return event.no, reindex(connection, None) if changes else None


def use_model(
    connection: Connection, digest: str, by: str, reason: str | None, match_dir: Path | None, *, merges_allowed: bool
) -> tuple[int, int]:
    """Judge all pairs by another model from now on; return the number of this event and the new data_version.

    `digest`: of a model that the index keeps, or `shipped`. Undoing the event gives back the links as they were.
    `merges_allowed`: whether more than a tenth of the index may be merged; raises LoadRefused otherwise.
    """

    def check(settled: Settled) -> None:
        if not merges_allowed:
            [(before,)] = connection.execute(SQL.active_before, (list(settled.merged),)).fetchall()
            refuse_too_many_merges(connection, settled, before, "the model")

    _begin(connection, [])
    event = events.begin(connection, "model", by, reason, terms={"digest": digest})
    seeds = links.rejudge(connection, open_index(connection, match_dir), event.no)
    return event.no, reindex(connection, None, seeds, check)


def take_back(connection: Connection, iid: str, other: str, by: str, reason: str | None) -> int | None:
    """Undo the last decision on two items; a link without a decision is undone by deciding against it."""
    left, right = sorted((_existing(connection, iid), _existing(connection, other)))
    [(latest,)] = connection.execute(SQL.latest_of_pair, (left, right)).fetchall()
    if latest is not None:
        return undo(connection, str(latest), by, reason)
    if not connection.execute(SQL.together, (left, right)).fetchall():
        raise ActRefused("the two are not linked, and nothing was decided of them")
    return decide(connection, iid, other, False, by, reason)


def _begin(connection: Connection, named: list[int | None] | list[int]) -> None:
    """Note the items that an act names, before it changes any; it changes no observation."""
    items.begin(connection, SQL.named, named)
    connection.execute(items.SQL.no_changed_observations)


def _kind(same: bool) -> str:
    return "link" if same else "separation"


def _existing(connection: Connection, iid: str) -> int:
    row = connection.execute(SQL.item, (iid,)).fetchone()
    if row is None:
        raise ActRefused(f"there is no item {iid}")
    return int(row[0])


def _active(connection: Connection, iid: str) -> int:
    """Return an item that no act merged or withdrew. Links do not count: they come and go with loads, acts stay."""
    item_id = _existing(connection, iid)
    said = read_acts(connection).standing
    if item_id in said.merged_into or item_id in said.withdrawn:
        state = "merged into another item" if item_id in said.merged_into else "withdrawn"
        raise ActRefused(f"{iid} is {state}; `itemindex items restore {iid}` makes it active again")
    return item_id


def _act(connection: Connection, item_id: int, survivor_id: int | None, by: str, reason: str | None) -> int:
    _begin(connection, [item_id, survivor_id])
    kind = "withdrawal" if survivor_id is None else "merge"
    events.begin(connection, kind, by, reason, items=(item_id, survivor_id))
    return reindex(connection, None)


# Decisions that operators made in the dashboard become events: all that wait, in one data_version.


REASON = "decided in the dashboard"


class Review(NamedTuple):
    """One decision of a person on a pair: accept, reject, or undo what was decided before.

    `batch_id`: the bulk decision that it is part of, or that is undone as a whole; `batch`: which pairs that chose.
    """

    id: int
    left_id: int
    right_id: int
    decision: str
    person: str
    batch_id: str | None
    batch: dict[str, Any] | None


def apply(connection: Connection) -> tuple[int, int | None]:
    """Make events of the decisions that wait; return how many they were, and the data_version where records changed.

    In the caller's transaction, under the lock of events. A decision on an item that is gone has no effect.
    """
    reviews = [Review(*row) for row in connection.execute(SQL.waiting_reviews)]
    if not reviews:
        return 0, None
    undone = [review.batch_id for review in reviews if review.batch_id is not None and review.decision == "undo"]
    named = {item_id for review in reviews for item_id in (review.left_id, review.right_id)}
    named |= {item_id for row in connection.execute(SQL.items_of_batches, (undone,)) for item_id in row}
    there = {row[0] for row in connection.execute(SQL.there, (list(named),))}
    _begin(connection, list(there))
    changes = [_event_of(connection, review, there) for review in reviews]
    return len(reviews), reindex(connection, None) if any(changes) else None


def _event_of(connection: Connection, review: Review, there: set[int]) -> bool:
    """Make the event of a decision; return whether records may change by it."""
    pair = (review.left_id, review.right_id)
    number, changes = None, False
    if review.batch_id is not None and review.decision == "undo":
        number = _batch(connection, review.batch_id)
        if number is not None:
            connection.execute(UNDO.mark_undone, (number, review.person, REASON))
        changes = number is not None
    elif review.batch_id is not None and there.issuperset(pair):
        together = bool(connection.execute(SQL.together, pair).fetchall())
        said, same = f"{REASON} ({Filters(**review.batch or {})})", review.decision == "accept"
        number = _batch(connection, review.batch_id)
        if number is None:
            chosen = {**(review.batch or {}), "batch": review.batch_id}
            number = events.begin(connection, "decisions", review.person, said, terms=chosen).no
        events.begin(connection, _kind(same), review.person, said, items=pair, part_of=number)
        changes = same or together
    elif there.issuperset(pair):
        [(latest,)] = connection.execute(SQL.latest_of_pair, pair).fetchall()
        together = bool(connection.execute(SQL.together, pair).fetchall())
        same = review.decision == "accept"
        if same or review.decision == "reject" or (latest is None and together):
            number = events.begin(connection, _kind(same), review.person, REASON, items=pair).no
            changes = same or together
        elif latest is not None:
            connection.execute(UNDO.mark_undone, (latest, review.person, REASON))
            number, changes = latest, True
    connection.execute(SQL.applied, (review.id, number))
    return changes


def _batch(connection: Connection, batch_id: str) -> int | None:
    """Return the event of a bulk decision in the dashboard, if there is one that was not undone."""
    row = connection.execute(SQL.batch, (batch_id,)).fetchone()
    return None if row is None else int(row[0])
