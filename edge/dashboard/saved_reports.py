"""Questions that members keep under a name: listed for everybody in the organization, asked again, renamed, deleted."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import parse_qsl

from edge.analytics.reports.declared import REPORTS_BY_KIND
from edge.auth.actor import Actor
from edge.dashboard.page_requests import PageError
from edge.dashboard.question_presets import PRESETS_BY_NAME
from edge.storage.database import Database
from shared.db.queries import load_queries
from shared.index.iid import require_uuid

SQL = load_queries(__file__, "saved_reports.sql")
SAVED_MAX = 200
NAME_MAX = 200
SCHEDULES = ("week", "month")
"""How often a kept question can be asked again."""


class SavedReport(NamedTuple):
    """A kept question; `question` is the query of the address that asks it.

    `schedule` is `week` or `month`, and `scheduled_by` the name of who chose it: None where they have left.
    """

    id: str
    name: str
    question: str
    created_by: str
    created_at: datetime
    last_order: str | None
    last_run_at: datetime | None
    schedule: str | None
    scheduled_by: str | None
    next_run_at: datetime | None

    @property
    def units(self) -> int | None:
        """What a run costs at most; None for a question that there is no more."""
        preset = PRESETS_BY_NAME.get(dict(parse_qsl(self.question)).get("question", ""))
        return REPORTS_BY_KIND[preset.report].kind.units if preset else None


class SavedReports:
    """Reads and writes them for the organization that a person acts for."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, acting: Actor, limit: int = SAVED_MAX) -> Sequence[SavedReport]:
        """Return the organization's own, the newest run first."""
        rows = await self._database.fetch(SQL.list, acting.organization, limit, scope=acting.scope)
        return [SavedReport(*row) for row in rows]

    async def question(self, acting: Actor, saved: str) -> str:
        """Return the question of one. Raises PageError (404) where the organization has none of this id."""
        row = await self._database.fetch_row(SQL.find, acting.organization, _uuid(saved), scope=acting.scope)
        if row is None:
            raise _not_found()
        return str(row["question"])

    async def add(self, acting: Actor, name: str, question: str) -> str:
        """Keep a question and return its id. Raises PageError where the organization has as many as it may."""
        values = (acting.organization, checked_name(name), question, acting.name[:300], SAVED_MAX)
        row = await self._database.fetch_row(SQL.add, *values, scope=acting.scope)
        if row is None:
            raise PageError(409, f"An organization keeps {SAVED_MAX} reports at most. Delete some first.")
        return str(row["id"])

    async def note_run(self, acting: Actor, saved: str, order: str) -> None:
        """Note the newest run of one; nothing happens where it was deleted meanwhile."""
        await self._database.fetch(SQL.note_run, acting.organization, _uuid(saved), order, scope=acting.scope)

    async def rename(self, acting: Actor, saved: str, name: str) -> None:
        """Give one another name. Raises PageError."""
        values = (acting.organization, _uuid(saved), checked_name(name))
        if not await self._database.fetch(SQL.rename, *values, scope=acting.scope):
            raise _not_found()

    async def schedule(self, acting: Actor, saved: str, every: str | None) -> None:
        """Have one asked again each `week` or `month` in the name of the acting member; None: no longer.

        Raises PageError.
        """
        values = (acting.organization, _uuid(saved), every, acting.person)
        if not await self._database.fetch(SQL.schedule, *values, scope=acting.scope):
            raise _not_found()

    async def delete(self, acting: Actor, saved: str) -> None:
        """Delete one. Raises PageError."""
        if not await self._database.fetch(SQL.delete, acting.organization, _uuid(saved), scope=acting.scope):
            raise _not_found()


def checked_name(text: str) -> str:
    """Return a name without the spaces around it. Raises PageError for one that is empty, too long or not printable."""
    name = text.strip()
    if not name or len(name) > NAME_MAX or not name.isprintable():
        raise PageError(400, f"Enter a name of 1 to {NAME_MAX} characters.")
    return name


def _uuid(text: str) -> str:
    return require_uuid(text, _not_found())


def _not_found() -> PageError:
    return PageError(404, "There is no such report. It may have been deleted.")
