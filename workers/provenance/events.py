"""Events: every change of the index has a number, a moment, and an actor; numbers are in the order of commits."""

import getpass
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from psycopg.types.json import Jsonb

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.jobs.contract import SEARCH_INDEX
from shared.jobs.contract import SQL as JOBS

SQL = load_queries(__file__, "events.sql")
TERMS = ("title", "license", "url", "attribution", "rank", "matching")
"""The description of a load's source by its mapping, in the order of the source's row."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event while it is being made; `source_id` is 0 where it is of no source.

    `rank_changed`: the load's mapping gives its source another rank than the one before did; `matching_changed`: other
    rules of matching; `terms_changed`: any of these, or anything else that answers show of it, such as its license.
    """

    no: int
    at: datetime
    source_id: int = 0
    rank_changed: bool = False
    terms_changed: bool = False
    matching_changed: bool = False


def lock(connection: Connection) -> None:
    """Wait until no other event is being made. The lock is the session's; a new snapshot begins after it."""
    connection.execute(SQL.lock)
    connection.commit()


def begin_load(connection: Connection, load_id: str, kind: str, source: str, terms: dict[str, Any]) -> Event:
    """Number a load, and make its terms those of its source."""
    *plain, matching = (terms[name] for name in TERMS)
    [(source_id, *changes)] = connection.execute(SQL.source, (source, *plain, Jsonb(matching))).fetchall()
    event = _event(connection, SQL.begin_load, (kind, load_id, source_id, Jsonb(terms), actor()))
    return Event(event.no, event.at, source_id, *map(bool, changes))


def begin_act(connection: Connection, item_id: int, survivor_id: int | None, by: str, reason: str | None) -> Event:
    """Number a merge, or a withdrawal where there is no survivor."""
    kind = "withdrawal" if survivor_id is None else "merge"
    return _event(connection, SQL.begin_act, (kind, item_id, survivor_id, by, reason, None))


def begin_decision(
    connection: Connection,
    left_id: int,
    right_id: int,
    same: bool,
    by: str,
    reason: str | None,
    part_of: int | None = None,
) -> Event:
    """Number a person's decision whether two items are one article. `part_of`: the bulk decision that makes it."""
    kind = "link" if same else "separation"
    return _event(connection, SQL.begin_act, (kind, left_id, right_id, by, reason, part_of))


def begin_choice(connection: Connection, kind: str, chosen: dict[str, Any], by: str, reason: str | None) -> Event:
    """Number the choice of a model of likeness (`model`), or a bulk decision on pairs (`decisions`)."""
    return _event(connection, SQL.begin_choice, (kind, Jsonb(chosen), by, reason))


def begin_deletion(connection: Connection, load_id: str, by: str, reason: str | None) -> Event:
    """Number a deletion of observations."""
    return _event(connection, SQL.begin_deletion, (load_id, by, reason))


def next_version(connection: Connection) -> int:
    """Return the data_version that the next change will have."""
    [(version,)] = connection.execute(SQL.next_version).fetchall()
    return int(version)


def commit_version(connection: Connection, load_id: str | None, months: list[date]) -> tuple[int, str]:
    """Make a new data_version that changed observations of these months, and order its search index.

    Return the version and the job's id. Edges hear of the version when the transaction commits.
    """
    [(version,)] = connection.execute(SQL.new_version, (load_id, months)).fetchall()
    kind = SEARCH_INDEX
    values = (kind.name, kind.queue, None, Jsonb({}), str(version), version, kind.attempts_max)
    [(job, *_)] = connection.execute(JOBS.join, values).fetchall()
    return version, str(job)


def actor() -> str:
    """Return the name of the account that runs this process."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number that has no name
        return "unknown"


def _event(connection: Connection, query: str, values: tuple[object, ...]) -> Event:
    [(number, moment)] = connection.execute(query, values).fetchall()
    return Event(number, moment)
