"""Decisions that operators made in the dashboard become events: all that wait, in one data_version."""

from typing import NamedTuple

from shared.articles import ChosenFilters, Filters
from shared.db.connect import Connection
from shared.db.queries import load_queries
from workers.provenance import events
from workers.provenance.item_acts import SQL as ITEM_ACTS
from workers.provenance.item_acts import begin_act, decision_kind
from workers.provenance.reindex import reindex
from workers.provenance.undo import SQL as UNDO

SQL = load_queries(__file__, "reviews.sql")
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
    batch: ChosenFilters | None


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
    begin_act(connection, list(there))
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
        together = bool(connection.execute(ITEM_ACTS.together, pair).fetchall())
        reason, same = f"{REASON} ({Filters(**review.batch or {})})", review.decision == "accept"
        number = _batch(connection, review.batch_id)
        if number is None:
            chosen = {**(review.batch or {}), "batch": review.batch_id}
            number = events.begin(connection, "decisions", review.person, reason, terms=chosen).no
        events.begin(connection, decision_kind(same), review.person, reason, items=pair, part_of=number)
        changes = same or together
    elif there.issuperset(pair):
        [(latest,)] = connection.execute(ITEM_ACTS.latest_of_pair, pair).fetchall()
        together = bool(connection.execute(ITEM_ACTS.together, pair).fetchall())
        same = review.decision == "accept"
        if same or review.decision == "reject" or (latest is None and together):
            number = events.begin(connection, decision_kind(same), review.person, REASON, items=pair).no
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
