"""Notices of requested plans to a billing system, which answers by having `itemindex orgs set --request` called."""

import asyncio
import contextlib
import time

import aiohttp
import asyncpg
import msgspec

from edge.storage.background import Background
from edge.storage.database import Database, Scope
from shared.clock import rfc3339
from shared.errors import StoreUnavailable
from shared.events.webhooks import signature_headers
from shared.organizations.accounts import SQL
from shared.settings.settings import Settings
from shared.telemetry.log import Log, trace_of

_SECONDS_MAX = 5.0
_RETRY_SECONDS = 60.0
_SCOPE = Scope(task="plan-notices")


class PlanNotices(Background):
    """Posts each waiting request until the billing system has taken it (2xx), at once and then every minute.

    Two edges may post the same request: its id is the `webhook-id`, by which the receiver recognizes a repetition.
    """

    def __init__(self, database: Database, settings: Settings, log: Log) -> None:
        super().__init__(self._post_forever, log)
        self._database = database
        self._url = settings.plan_approval_url
        self._secret = settings.plan_approval_secret
        self._due = asyncio.Event()
        self.enabled = settings.plan_approval == "webhook"

    def start(self) -> None:
        """Begin to post, in the background, where PLAN_APPROVAL is `webhook`."""
        if self.enabled:
            super().start()

    def wake(self) -> None:
        """Look now: a request was made."""
        self._due.set()

    async def _post_forever(self) -> None:
        timeout = aiohttp.ClientTimeout(total=_SECONDS_MAX)
        jar = aiohttp.DummyCookieJar()
        async with aiohttp.ClientSession(timeout=timeout, trust_env=False, cookie_jar=jar) as session:
            while True:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._due.wait(), _RETRY_SECONDS)
                self._due.clear()
                with contextlib.suppress(StoreUnavailable):
                    await self._post_due(session)

    async def _post_due(self, session: aiohttp.ClientSession) -> None:
        """Post each request that waits. One that cannot be posted keeps no other from its turn."""
        after: str | None = None
        while due := await self._database.fetch(SQL.plan_notices_due, after, scope=_SCOPE):
            for request in due:
                try:
                    await self._post(session, request)
                except StoreUnavailable:
                    raise
                except Exception as error:  # noqa: BLE001 - whatever it is, it is this request's alone
                    self._log.error("unhandled-error", error=type(error).__name__, trace=trace_of(error))
            after = due[-1]["id"]

    async def _post(self, session: aiohttp.ClientSession, request: asyncpg.Record) -> None:
        body = msgspec.json.encode(
            {
                "type": "plan.requested",
                "timestamp": rfc3339(request["requested_at"]),
                "data": {
                    "request_id": request["id"],
                    "organization_id": request["organization_id"],
                    "organization_name": request["name"],
                    "current_plan": request["current_plan"],
                    "requested_plan": request["requested_plan"],
                },
            }
        )
        fields = signature_headers([self._secret.encode()], request["id"], int(time.time()), body)
        try:
            async with session.post(
                self._url, data=body, headers={"Content-Type": "application/json", **fields}, allow_redirects=False
            ) as answer:
                taken = 200 <= answer.status < 300
        except (aiohttp.ClientError, TimeoutError, OSError):
            taken = False
        if taken:
            await self._database.fetch(SQL.note_plan_notice, request["id"], scope=_SCOPE)
        else:
            self._log.warning("plan-notice-failed", organization=request["organization_id"])
