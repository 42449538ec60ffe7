"""The index of records that new ones are compared with: kept in a directory, brought up to date from the database."""

import fcntl
import json
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from shared.db.connect import Connection
from workers.articles import records
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.records import MatchRecord
from workers.articles.records import SQL

_STAMP = "stamp.json"
_BATCH_ITEMS = 20_000
_LOCK_SECONDS = 0.05
# An index that is further behind is worth keeping anew.
_BEHIND_MAX = 1_000


def is_needed(connection: Connection, loading: int | None = None) -> bool:
    """Whether there are items of two sources, or of a source that declares which of its items are one article.

    `loading`: the source whose items are being loaded.
    """
    row = connection.execute(SQL.needed, (loading,)).fetchone()
    return bool(row and row[0])


def open_index(
    connection: Connection,
    directory: Path | None,
    changed: Collection[int] = (),
    check: Callable[[], None] = lambda: None,
) -> MatchIndex:
    """Return the index of all records that are committed; made anew where the directory has none of this database.

    Without a directory it is made in memory. `changed`: items whose records the caller adds itself. `check` is
    called between the steps of a search, and raises to cancel it.
    """
    return _bring_up_to_date(connection, _read_index(connection, directory, check), changed, check)[0]


def open_and_keep(connection: Connection, directory: Path, check: Callable[[], None] = lambda: None) -> MatchIndex:
    """Return what `open_index` does, and keep it for the next reader where much of it had to be made.

    In a transaction of one snapshot. Where only one source is loaded, no load keeps an index.
    """
    kept = _read_index(connection, directory, check)
    index, behind = _bring_up_to_date(connection, kept, (), check)
    if kept is None or behind > _BEHIND_MAX:
        with suppress(OSError):
            save(connection, index, directory, check)
    return index


def _bring_up_to_date(
    connection: Connection,
    kept: tuple[MatchIndex, int] | None,
    changed: Collection[int],
    check: Callable[[], None],
) -> tuple[MatchIndex, int]:
    """Return the index of all records, and how many were added to the kept one."""
    if kept is None:
        index = MatchIndex.of_all(_records(connection, _ids(connection, SQL.everything)), check)
        return index, len(index)
    index, version = kept
    index.check = check
    newer = [item_id for item_id in _ids(connection, SQL.newer, version) if item_id not in changed]
    # Of a newer item there is no record where an undone load alone brought its name.
    index.remove(map(str, (*_ids(connection, SQL.removed, version), *newer)))
    index.add(_records(connection, newer))
    return index, len(newer)


def save(connection: Connection, index: MatchIndex, directory: Path, check: Callable[[], None] = lambda: None) -> None:
    """Keep an index that has all records of the newest data_version, for the next load."""
    row = connection.execute(SQL.stamp).fetchone()
    directory.mkdir(parents=True, exist_ok=True)
    with _locked(directory, check):
        (directory / _STAMP).unlink(missing_ok=True)  # an index that is half written must not be taken for a whole one
        if row is not None:
            index.save(directory)
            (directory / _STAMP).write_text(json.dumps({"version": row[0], "at": row[1]}), encoding="utf-8")


@contextmanager
def _locked(directory: Path, check: Callable[[], None]) -> Iterator[None]:
    """Wait until no other process writes or opens the index here: what one writes takes files away.

    A process that hangs keeps the lock until it is ended; `check` is called while it is waited for, and may raise.
    """
    with (directory / ".lock").open("ab") as file:
        while not _is_taken(file):
            check()
            time.sleep(_LOCK_SECONDS)
        yield


def _is_taken(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read_index(
    connection: Connection, directory: Path | None, check: Callable[[], None]
) -> tuple[MatchIndex, int] | None:
    """Return the kept index and its data_version; None where this database has no index.

    After a loss of power files may be empty or cut short: an index that cannot be read is made anew.
    """
    if directory is not None:
        with suppress(OSError, ValueError, EOFError, KeyError, TypeError):
            with _locked(directory, check):
                stamp = json.loads((directory / _STAMP).read_text(encoding="utf-8"))
                row = connection.execute(SQL.moment, (stamp["version"],)).fetchone()
                if row is not None and row[0] == stamp["at"]:
                    return MatchIndex.open(directory), int(stamp["version"])
    return None


def _ids(connection: Connection, query: str, *values: object) -> list[int]:
    return [row[0] for row in connection.execute(query, values).fetchall()]


def _records(connection: Connection, ids: Sequence[int]) -> Iterator[MatchRecord]:
    """Yield the records of items, of which only some are read at a time."""
    for start in range(0, len(ids), _BATCH_ITEMS):
        yield from (known.record for known in records.read(connection, ids[start : start + _BATCH_ITEMS]))
