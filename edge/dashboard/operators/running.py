"""Pages of what runs: the overview, loads and feeds, jobs, releases, health, and what operators did."""

from typing import NamedTuple

import asyncpg
import msgspec
from aiohttp import web

from edge.dashboard.operators.console import HOME, SQL, OperatorPages
from edge.dashboard.page_requests import PageError
from edge.dashboard.rendering import render
from edge.dashboard.visitor import SignedIn
from shared.articles import SQL as ARTICLES
from shared.articles import Filters
from shared.index.iid import require_uuid
from shared.jobs.contract import STATES

_JOB_STATES = ("stuck", *STATES)
_LOAD_STATES = ("committed", "unchanged", "failed", "running", "undone")
_ACT_STATES = ("waiting", "done", "refused")
_PAIRS_COUNTED = 1_000
_REASONS_LISTED = 50
_JOB_ACTS = ("job.cancel", "job.retry")
_FEED_ACTS = ("feed.pause", "feed.resume", "feed.remove")


class Waiting(NamedTuple):
    """A number of the overview: how many of what wait, and the page on which they are decided."""

    number: int
    words: str
    address: str
    urgent: bool = False


class RunningPages(OperatorPages):
    """The handlers; for operators alone."""

    async def overview(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Show what waits for a decision today, each number with its page."""
        scope = self._scope(visitor)
        counts = await self._database.fetch_row(SQL.waiting_counts, scope=scope)
        assert counts is not None
        pairs = await self._database.fetch(ARTICLES.waiting, _PAIRS_COUNTED, *Filters())
        numbers = _numbers(counts, len(pairs))
        return await self._show(
            request,
            visitor,
            "operator_overview.html",
            waiting=[one for one in numbers if one.number],
            nothing=[one for one in numbers if not one.number],
            counts=counts,
            data_version=self._services.resources.version.current,
        )

    async def recent(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The part of each page that follows what the operator ordered; the page is shown anew once all has ended."""
        acts = await self._recent(visitor)
        response = render(request, "operator_acts_part.html", visitor, acts=acts)
        if not any(act["state"] == "waiting" for act in acts):
            response.headers["HX-Refresh"] = "true"
        return response

    async def acts(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """List what operators did in the dashboard."""
        listing = await self._list(request, visitor, SQL.acts, _ACT_STATES)
        return await self._show(request, visitor, "operator_acts.html", listing=listing, states=_ACT_STATES)

    async def loads(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """List loads and the other events that changed the index."""
        listing = await self._list(request, visitor, SQL.loads, _LOAD_STATES)
        return await self._show(request, visitor, "operator_loads.html", listing=listing, states=_LOAD_STATES)

    async def load(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Show one load: why rows were refused first, then what it did."""
        unknown = PageError(404, "There is no such load.")
        identifier, scope = require_uuid(request.match_info["id"], unknown), self._scope(visitor)
        row = await self._database.fetch_row(SQL.load, identifier, scope=scope)
        if row is None:
            raise unknown
        reasons = await self._database.fetch(SQL.reject_reasons, identifier, _REASONS_LISTED, scope=scope)
        return await self._show(request, visitor, "operator_load.html", load=row, reasons=reasons)

    async def undo_load(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Order that an event is undone, by its number."""
        form = await self._form(request, visitor)
        number, reason = (form.get(field, "") for field in ("number", "reason"))
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            raise PageError(400, "Choose an event by its number.")
        arguments = {"reason": reason[:300]} if reason else {}
        return await self._order(request, visitor, f"{HOME}/loads", "load.undo", number, f"event {number}", arguments)

    async def feeds(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """List the feeds, those that fail first."""
        listing = await self._list(request, visitor, SQL.feeds)
        return await self._show(request, visitor, "operator_feeds.html", listing=listing)

    async def change_feed(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Order that a feed is paused, resumed or removed."""
        form = await self._form(request, visitor)
        wanted, name = (form.get(field, "") for field in ("wanted", "name"))
        if wanted not in _FEED_ACTS or not name:
            raise PageError(400, "Choose a feed and what to do with it.")
        return await self._order(request, visitor, f"{HOME}/feeds", wanted, name, name)

    async def jobs(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """List the jobs of all organizations."""
        listing = await self._list(request, visitor, SQL.jobs, _JOB_STATES)
        return await self._show(request, visitor, "operator_jobs.html", listing=listing, states=_JOB_STATES)

    async def change_job(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Order that a job is cancelled or queued again."""
        form = await self._form(request, visitor)
        wanted, job, kind = (form.get(field, "") for field in ("wanted", "job", "kind"))
        if wanted not in _JOB_ACTS:
            raise PageError(400, "Choose what to do with the job.")
        identifier = require_uuid(job, PageError(404, "There is no such job."))
        return await self._order(request, visitor, f"{HOME}/jobs", wanted, identifier, kind or identifier)

    async def releases(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """List the releases that are kept, and offer to cut one."""
        listing = await self._list(request, visitor, SQL.releases)
        return await self._show(
            request,
            visitor,
            "operator_releases.html",
            listing=listing,
            under_way=await self._database.fetch_row(SQL.release_waits, scope=self._scope(visitor)),
            data_version=self._services.resources.version.current,
        )

    async def cut_release(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Order a release of what is loaded now."""
        return await self._order(request, visitor, f"{HOME}/releases", "release.cut", "", "a release")

    async def health(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Show what the last examination found, what is wrong first."""
        row = await self._database.fetch_row(SQL.last_examination, scope=self._scope(visitor))
        findings = msgspec.json.decode(row["outcome"]) if row else []
        return await self._show(
            request,
            visitor,
            "operator_health.html",
            findings=sorted(findings, key=lambda finding: bool(finding["ok"])),
            wrong=sum(not finding["ok"] for finding in findings),
            examined_at=row["ended_at"] if row else None,
        )

    async def examine(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Order an examination of the service, as `itemindex doctor` makes one."""
        return await self._order(request, visitor, f"{HOME}/health", "service.examine", "", "the service")


def _numbers(counts: asyncpg.Record, pairs: int) -> list[Waiting]:
    """Return the numbers of the overview in the order of their harm."""
    return [
        Waiting(counts["jobs_stuck"], "jobs stuck", f"{HOME}/jobs?state=stuck", urgent=True),
        Waiting(counts["feeds_failing"], "feeds failing", f"{HOME}/feeds", urgent=True),
        Waiting(counts["loads_failed"], "loads failed this week", f"{HOME}/loads?state=failed", urgent=True),
        Waiting(counts["jobs_failed"], "jobs failed this week", f"{HOME}/jobs?state=failed", urgent=True),
        Waiting(counts["plan_requests"], "plan requests to decide", f"{HOME}/requests"),
        Waiting(counts["uploads_waiting"], "of your files to check", "/dashboard/data"),
        Waiting(pairs, "pairs of items to compare", "/dashboard/matches"),
        Waiting(counts["mails_kept"], "mails kept instead of sent", "/dashboard/outbox"),
    ]
