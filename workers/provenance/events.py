"""Events: every change of the index has a number, a moment, and an actor; numbers are in the order of commits."""

import getpass
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from psycopg.types.json import Jsonb

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.jobs.contract import SEARCH_INDEX
from shared.jobs.contract import SQL as JOBS

SQL = load_queries(__file__, "events.sql")
TERMS = ("title", "license", "url", "attribution", "rank", "matching")
"""The description of a load's source by its mapping, in the order of the source's row."""


@dataclass(frozen=True, slots=True)
class ProvenanceEvent:
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


def begin(
    connection: Connection,
    kind: str,
    by: str,
    reason: str | None,
    *,
    load_id: str | None = None,
    source_id: int | None = None,
    terms: Mapping[str, object] | None = None,
    items: tuple[int | None, int | None] = (None, None),
    part_of: int | None = None,
) -> ProvenanceEvent:
    """Number an event. `terms`: of a load's source, or what was chosen; `part_of`: the bulk decision that makes it.

    `items`: the one that is merged or withdrawn, and its survivor; or those that a person links or separates.
    """
    values = (kind, by, reason, load_id, source_id, None if terms is None else Jsonb(terms), *items, part_of)
    [(number, moment)] = connection.execute(SQL.begin, values).fetchall()
    return ProvenanceEvent(number, moment, source_id or 0)


def begin_load(
    connection: Connection, load_id: str, kind: str, source: str, terms: Mapping[str, object]
) -> ProvenanceEvent:
    """Number a load, and make its terms those of its source."""
    *plain, matching = (terms[name] for name in TERMS)
    [(source_id, *changes)] = connection.execute(SQL.source, (source, *plain, Jsonb(matching))).fetchall()
    event = begin(connection, kind, actor(), None, load_id=load_id, source_id=source_id, terms=terms)
    return ProvenanceEvent(event.no, event.at, source_id, *map(bool, changes))


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
