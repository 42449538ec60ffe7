"""Operators' acts on single items, from the command or the dashboard. Each is an event and a data_version."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import ItemIndexError
from workers.articles import links
from workers.articles.index import open_index
from workers.provenance import events, items
from workers.provenance.reindex import reindex
from workers.provenance.standing import Settled, read_acts, refuse_too_many_merges
from workers.provenance.undo import undo

SQL = load_queries(__file__, "item_acts.sql")


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
    begin_act(connection, [left, right])
    events.begin(connection, decision_kind(same), by, reason, items=(left, right))
    if not same and not connection.execute(SQL.together, (left, right)).fetchall():
        return None
    return reindex(connection, None)


def decide_all(
    connection: Connection,
    decided: Sequence[tuple[int, int, bool]],
    filters: Mapping[str, object],
    by: str,
    reason: str,
) -> tuple[int, int | None]:
    """Decide on many pairs of items as one event; return its number, and the data_version where records change."""
    begin_act(connection, [item_id for left, right, _ in decided for item_id in (left, right)])
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

    begin_act(connection, [])
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


def begin_act(connection: Connection, named: list[int | None] | list[int]) -> None:
    """Note the items that an act names, before it changes any; it changes no observation."""
    items.begin(connection, SQL.named, named)
    connection.execute(items.SQL.no_changed_observations)


def decision_kind(same: bool) -> str:
    return "link" if same else "separation"


def _existing(connection: Connection, iid: str) -> int:
    row = connection.execute(SQL.item, (iid,)).fetchone()
    if row is None:
        raise ActRefused(f"there is no item {iid}")
    return int(row[0])


def _active(connection: Connection, iid: str) -> int:
    """Return an item that no act merged or withdrew. Links do not count: they come and go with loads, acts stay."""
    item_id = _existing(connection, iid)
    acts = read_acts(connection).standing
    if item_id in acts.merged_into or item_id in acts.withdrawn:
        state = "merged into another item" if item_id in acts.merged_into else "withdrawn"
        raise ActRefused(f"{iid} is {state}; `itemindex items restore {iid}` makes it active again")
    return item_id


def _act(connection: Connection, item_id: int, survivor_id: int | None, by: str, reason: str | None) -> int:
    begin_act(connection, [item_id, survivor_id])
    kind = "withdrawal" if survivor_id is None else "merge"
    events.begin(connection, kind, by, reason, items=(item_id, survivor_id))
    return reindex(connection, None)
