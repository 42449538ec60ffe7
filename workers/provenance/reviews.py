"""Decisions that operators made in the dashboard become events: all that wait, in one data_version."""

from typing import NamedTuple

from shared.db.connect import Connection
from workers.provenance import events, items
from workers.provenance.item_acts import SQL
from workers.provenance.reindex import reindex
from workers.provenance.undo import SQL as UNDO

REASON = "decided in the dashboard"


class Review(NamedTuple):
    """One decision of a person on a pair: accept, reject, or undo what was decided before."""

    id: int
    left_id: int
    right_id: int
    decision: str
    person: str


def apply(connection: Connection) -> tuple[int, int | None]:
    """Make events of the decisions that wait; return how many they were, and the data_version where records changed.

    In the caller's transaction, under the lock of events. A decision on an item that is gone has no effect.
    """
    reviews = [Review(*row) for row in connection.execute(SQL.waiting_reviews)]
    if not reviews:
        return 0, None
    named = {item_id for one in reviews for item_id in (one.left_id, one.right_id)}
    there = {row[0] for row in connection.execute(SQL.there, (list(named),))}
    items.begin(connection, SQL.named, list(there))
    connection.execute(items.SQL.no_changed_observations)
    changes = [_event_of(connection, one, there) for one in reviews]
    return len(reviews), reindex(connection, None) if any(changes) else None


def _event_of(connection: Connection, review: Review, there: set[int]) -> bool:
    """Make the event of a decision; return whether records may change by it."""
    pair = (review.left_id, review.right_id)
    number, changes = None, False
    if there.issuperset(pair):
        [(latest,)] = connection.execute(SQL.latest_of_pair, pair).fetchall()
        together = bool(connection.execute(SQL.together, pair).fetchall())
        if review.decision == "accept":
            number, changes = events.begin_decision(connection, *pair, True, review.person, REASON).no, True
        elif review.decision == "reject" or (latest is None and together):
            number, changes = events.begin_decision(connection, *pair, False, review.person, REASON).no, together
        elif latest is not None:
            connection.execute(UNDO.mark_undone, (latest, review.person, REASON))
            number, changes = latest, True
    connection.execute(SQL.applied, (review.id, number))
    return changes
