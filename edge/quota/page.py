"""GET /quota: the caller's account and every limit that applies. The call costs nothing."""

from aiohttp import web
from marshmallow import Schema, fields

from edge.http.context import CONTEXT
from edge.http.json import unstored_json
from edge.http.parameters import field_doc
from edge.http.problems import unavailable
from edge.http.routing import operation
from edge.quota.decision import QuotaDecision
from edge.quota.limiter import RateLimiter
from edge.quota.stored_exports import StoredExports
from edge.storage.database import Database, Scope
from shared.clock import rfc3339
from shared.db.queries import load_queries
from shared.errors import StoreUnavailable
from shared.organizations.accounts import INSTITUTIONAL, Principal

SQL = load_queries(__file__, "quota.sql")


class QuotaWindow(Schema):
    """One limit."""

    policy = fields.Str(required=True, metadata={"example": "free-daily"})
    window_seconds = fields.Int(required=True)
    limit = fields.Int(required=True)
    used = fields.Int(required=True)
    remaining = fields.Int(required=True)
    resets_at = fields.DateTime(required=True, allow_none=True)


class JobLimit(Schema):
    """Limit of an organization's jobs in one state."""

    limit = fields.Int(required=True)
    used = fields.Int(required=True)


class JobLimits(Schema):
    """Limits of simultaneous jobs."""

    running = fields.Nested(JobLimit(), required=True)
    queued = fields.Nested(JobLimit(), required=True)


class ByteLimit(Schema):
    """Limit of bytes that are stored at the same time."""

    limit = fields.Int(required=True)
    used = fields.Int(required=True)


class ExportLimits(Schema):
    """Limits of exports."""

    stored_bytes = fields.Nested(ByteLimit(), required=True)


class QuotaAnswer(Schema):
    """The account that calls are counted for, with its limits."""

    counted_as = fields.Str(required=True, metadata=field_doc("Your network address, or your organization's ID"))
    plan = fields.Str(required=True)
    limits = fields.List(fields.Nested(QuotaWindow()), required=True)
    jobs = fields.Nested(
        JobLimits(),
        required=True,
        allow_none=True,
        metadata=field_doc(
            "Jobs of the key's organization; null for other credentials, or if the count is unavailable"
        ),
    )
    exports = fields.Nested(
        ExportLimits(),
        required=True,
        allow_none=True,
        metadata=field_doc("Exports of the key's organization; null as `jobs`, and for plans without exports"),
    )


class QuotaPage:
    def __init__(self, limiter: RateLimiter, database: Database, exports: StoredExports) -> None:
        self._limiter = limiter
        self._database = database
        self._exports = exports

    @operation("account", "getQuota", answers={200: (QuotaAnswer, "Every limit that applies to the caller")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Remaining limits of the caller."""
        context = request[CONTEXT]
        principal, account = context.principal, context.account
        assert principal is not None
        assert account is not None
        decision = await self._limiter.usage(account, principal.plan)
        if not decision.verified:
            raise unavailable(StoreUnavailable("state"))
        document = {
            "counted_as": account.partition(":")[2],
            "plan": principal.plan.name,
            "limits": windows_of(decision),
            "jobs": await self._job_limits(principal),
            "exports": await self._export_limits(principal),
        }
        return unstored_json(document)

    async def _job_limits(self, principal: Principal) -> dict[str, object] | None:
        if principal.kind != "api-key":
            return None
        try:
            [used] = await self._database.fetch(
                SQL.jobs, principal.organization_id, scope=Scope(organization=principal.organization_id)
            )
        except StoreUnavailable:
            return None
        plan = principal.plan
        return {
            "running": {"limit": plan.jobs_running, "used": used["running"]},
            "queued": {"limit": plan.jobs_queued, "used": used["queued"]},
        }

    async def _export_limits(self, principal: Principal) -> dict[str, object] | None:
        if principal.kind != "api-key" or principal.plan.rank < INSTITUTIONAL:
            return None
        try:
            stored = await self._exports.read(principal.organization_id)
        except StoreUnavailable:
            return None
        return {"stored_bytes": {"limit": self._exports.limit(principal.plan), "used": stored.used}}


def windows_of(decision: QuotaDecision) -> list[dict[str, object]]:
    """Return both windows of an account, as the contract shows them; nothing where nothing is known."""
    if not decision.verified:
        return []
    plan = decision.plan
    return [
        {
            "policy": plan.daily_policy,
            "window_seconds": 86_400,
            "limit": plan.daily_units,
            "used": decision.used_day,
            "remaining": decision.remaining_day,
            "resets_at": rfc3339(decision.resets_at),
        },
        {
            "policy": plan.burst_policy,
            "window_seconds": 1,
            "limit": plan.burst_units,
            "used": decision.used_second,
            "remaining": decision.remaining_second,
            "resets_at": None,
        },
    ]
