"""GET /: the service, the authenticated caller, and what the caller's plan allows."""

from collections.abc import Iterable

from aiohttp import web
from marshmallow import Schema, fields

from edge.analytics.reports.declared import REPORTS
from edge.http.context import CONTEXT
from edge.http.json import unstored_json
from edge.http.parameters import field_doc
from edge.http.routing import RULE, Rule, operation
from edge.quota.limiter import RateLimiter
from edge.quota.page import QuotaWindow, windows_of
from shared.organizations.accounts import Plan
from shared.settings.settings import Settings

# Each capability and the name of the rule of its calls, which says what plan it needs.
CAPABILITIES = {
    "lookup": "lookup",
    "search": "search",
    "brands": "brands",
    "categories": "categories",
    "channels": "channels",
    "batch-lookup": "lookup-batch",
    "pricing-history": "pricing",
    "sustainability-metrics": "sustainability",
    **{report.entitlement: report.route_name for report in REPORTS},
    "enterprise-data-access": "datasets",
}

_LINKS = {
    "self": "",
    "quota": "quota",
    "lookup": "index/lookup",
    "search": "index/search",
    "brands": "index/brands",
    "categories": "index/categories",
    "channels": "index/channels",
    "pricing": "index/pricing",
    "sustainability": "index/sustainability",
    **{report.kind.name.replace("-", "_"): f"index{report.base_path}" for report in REPORTS},
    "datasets": "index/datasets",
    "exports": "index/exports",
    "delta_sharing": "delta-sharing/shares",
    "reconcile": "reconcile",
    "jobs": "jobs",
    "organization": "org",
    "openapi": "openapi.json",
    "docs": "docs",
    "errors": "errors",
}


class OrganizationRef(Schema):
    """The organization that the credential belongs to."""

    id = fields.Str(required=True)
    name = fields.Str(required=True)


class RootAnswer(Schema):
    """The service and the caller."""

    service = fields.Str(required=True)
    version = fields.Str(required=True)
    revision = fields.Str(required=True)
    organization = fields.Nested(OrganizationRef(), required=True, allow_none=True)
    credential = fields.Str(required=True)
    plan = fields.Str(required=True)
    entitlements = fields.List(fields.Str(), required=True)
    batch_iids_max = fields.Int(
        required=True, metadata=field_doc("Largest number of IIDs in one batch lookup; 0 if the plan has no batches")
    )
    quota = fields.List(fields.Nested(QuotaWindow()), required=True)
    links = fields.Dict(keys=fields.Str(), values=fields.Url(), required=True)


class Root:
    def __init__(self, settings: Settings, limiter: RateLimiter) -> None:
        self._settings = settings
        self._limiter = limiter

    @operation("account", "getRoot", answers={200: (RootAnswer, "The service and the caller")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Caller, plan and entitlements."""
        context = request[CONTEXT]
        principal, account = context.principal, context.account
        assert principal is not None
        assert account is not None
        base = self._settings.base_url
        organization = {"id": principal.organization_id, "name": principal.organization_name}
        document = {
            "service": "Item Index",
            "version": "v1",
            "revision": f"api-{self._settings.revision}",
            "organization": organization if principal.organization_id else None,
            "credential": principal.kind,
            "plan": principal.plan.name,
            "entitlements": entitlements(principal.plan, request.app[RULE].values()),
            "batch_iids_max": principal.plan.batch_iids_max,
            "quota": windows_of(await self._limiter.usage(account, principal.plan)),
            "links": {name: f"{base}/{path}" for name, path in _LINKS.items()},
        }
        return unstored_json(document)


def entitlements(plan: Plan, rules: Iterable[Rule]) -> list[str]:
    """Name the capabilities that a plan has, by the rules of their calls."""
    ranks = {rule.name: rule.rank_min for rule in rules}
    return [capability for capability, name in CAPABILITIES.items() if plan.rank >= ranks[name]]
