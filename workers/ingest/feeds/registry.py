"""Feeds: addresses and directories whose files are loaded again and again, each through its mapping."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import ItemIndexError, LoadRefused
from shared.events.webhook_addresses import url_fault
from shared.printable import FILE_NAME_CHARACTERS_MAX
from shared.settings.settings import Settings

if TYPE_CHECKING:
    from workers.ingest.mapping import Mapping


SQL = load_queries(__file__, "feeds.sql")
EVERY_SECONDS_MIN, EVERY_SECONDS_MAX = 60, 31 * 86_400
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")
_URL_CHARACTERS_MAX = 2_000
_CHANGES: dict[str, tuple[str, tuple[bool, ...]]] = {
    "active": (SQL.pause, (False,)),
    "paused": (SQL.pause, (True,)),
    "removed": (SQL.remove, ()),
}
FEED_STATES = tuple(_CHANGES)
"""What operators make of a feed."""


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed that is due."""

    id: str
    name: str
    url: str | None
    directory: str | None
    file_name: str | None
    mapping: str
    etag: str | None
    last_modified: str | None
    sha256: bytes | None
    loaded_on: str | None
    failures: int

    @property
    def place(self) -> str:
        """Where it is read: its address or its directory."""
        return self.url or self.directory or ""


def register(
    settings: Settings,
    connection: Connection,
    mapping: "Mapping",
    *,
    every_seconds: int,
    name: str | None = None,
    url: str | None = None,
    directory: Path | None = None,
    file_name: str | None = None,
) -> str:
    """Keep a feed with the text of its mapping, and return its name. Raises LoadRefused where it could not be read."""
    name = name or mapping.source
    if _NAME.fullmatch(name) is None:
        raise LoadRefused("a feed's name has lower-case letters, digits and . _ -, 100 at most; give it with --name")
    if not EVERY_SECONDS_MIN <= every_seconds <= EVERY_SECONDS_MAX:
        raise LoadRefused("a feed is read every minute at most and every 31 days at least: --every 1h")
    if len(url or "") > _URL_CHARACTERS_MAX or len(file_name or "") > FILE_NAME_CHARACTERS_MAX:
        raise LoadRefused(
            f"an address has {_URL_CHARACTERS_MAX:,} characters at most, a file's name {FILE_NAME_CHARACTERS_MAX}"
        )
    mapping.refuse_second_file()
    if url is not None:
        fault = url_fault(url, private_allowed=settings.feed_private_addresses, plain_allowed=True)
        if fault is not None:
            hint = "; set FEED_PRIVATE_ADDRESSES where that is intended" if "public" in fault else ""
            raise LoadRefused(f"the address {fault}{hint}")
    if directory is not None:
        directory = directory.absolute()
        if not directory.is_dir():
            raise LoadRefused(f"{directory} is not a directory")
    values = (name, url, directory and str(directory), file_name, mapping.source, mapping.text, every_seconds)
    connection.execute(SQL.register, values)
    return name


def set_feed_state(connection: Connection, name: str, state: str) -> None:
    """Make a feed `active`, `paused` or `removed`; what it loaded stays. Raises ItemIndexError without such a feed."""
    statement, values = _CHANGES[state]
    if not connection.execute(statement, (name, *values)).rowcount:
        raise ItemIndexError(f"there is no feed {name}; `itemindex feeds list` lists them")
