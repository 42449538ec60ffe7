"""Whether this host stores results and the search index in the same place as the other hosts of the service.

A directory is recognized by a file in it, which the first part writes that starts with it; a bucket by its name.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import psycopg

from shared.db.connect import connect, unavailable
from shared.db.queries import load_queries
from shared.errors import ConfigurationError
from shared.settings.settings import Settings

SQL = load_queries(__file__, "shared_directories.sql")
MARKER = ".directory-id"


class Place(NamedTuple):
    """One place as this host sees it, and what to set where another host sees another one."""

    name: str
    identity: str
    location: str
    remedy: str


def places(settings: Settings) -> Iterator[Place]:
    """Go through the places of this host. A directory that cannot be written is left out: its parts wait for it."""
    results = "set S3_BUCKET on every host, or mount the same RESULTS_DIR on every host"
    search = "set SEARCH_IN_STORE on every host, or mount the same SEARCH_DIR on every host"
    if settings.s3_bucket:
        yield Place("results", f"s3:{settings.s3_bucket}", f"the bucket {settings.s3_bucket}", results)
    elif identity := _identity(settings.results_dir):
        yield Place("results", identity, str(settings.results_dir.resolve()), results)
    if settings.search_in_store:
        yield Place("search", "in the store", "the object store", search)
    elif identity := _identity(settings.search_dir):
        yield Place("search", identity, str(settings.search_dir.resolve()), search)


def faults(settings: Settings, url: str) -> list[tuple[str, str]]:
    """Record this host's places where none are recorded yet; return the fault of each and its remedy.

    Nothing is wrong where PostgreSQL does not answer or has an older schema: a part must start without it.
    """
    host = socket.gethostname()
    found = []
    try:
        with connect(url, application="start") as connection:
            for place in places(settings):
                connection.execute(SQL.record, (place.name, place.identity, place.location, host))
                row = connection.execute(SQL.recorded, (place.name,)).fetchone()
                if row is not None and row[0] != place.identity:
                    here = f"{place.location} on this host ({host})"
                    found.append((f"{place.name}: {here} is not {row[1]} of the host {row[2]}", place.remedy))
    except psycopg.errors.UndefinedTable:
        return []
    except psycopg.Error as error:
        if unavailable(error):
            return []
        raise
    return found


def require_shared(settings: Settings, url: str) -> None:
    """Raise ConfigurationError where another host of the service stores results or the search index elsewhere."""
    if lines := [f"{fault}; {remedy}" for fault, remedy in faults(settings, url)]:
        moved = "If you moved them on every host, run `itemindex migrate --directories` once."
        raise ConfigurationError("\n".join([*lines, moved]))


def adopt(settings: Settings, url: str) -> list[Place]:
    """Replace the recorded places by those of this host; return them."""
    found = list(places(settings))
    with connect(url, application="directories") as connection:
        for place in found:
            connection.execute(SQL.adopt, (place.name, place.identity, place.location, socket.gethostname()))
    return found


def _identity(directory: Path) -> str | None:
    """Return what the directory's marker says, written if it is not there; None where that cannot be."""
    marker, beside_it = directory / MARKER, directory / f"{MARKER}.{uuid4().hex}"
    try:
        if not marker.exists():
            directory.mkdir(parents=True, exist_ok=True)
            beside_it.write_text(str(uuid4()))
            with suppress(FileExistsError):  # another part was first: its marker counts
                os.link(beside_it, marker)
        return marker.read_text().strip() or None
    except OSError:
        return None
    finally:
        with suppress(OSError):
            beside_it.unlink()
