"""/org for programs: an organization's people, key, use and audit log, under an ID token."""

from collections.abc import Callable

from aiohttp import web
from aiohttp_apispec import docs, json_schema, querystring_schema, response_schema

from edge.http.cursors import CursorSigner
from edge.http.idempotency_key import PARAMETER, idempotency_key_of
from edge.http.outcome import Outcome
from edge.http.parameters import BODY, QUERY
from edge.organizations import schemas
from edge.organizations.answers import json_of, list_of, outcome_of
from edge.organizations.callers import actor_of, bound_to, person_of
from edge.organizations.idempotent_calls import run_once
from edge.organizations.plan_notices import PlanNotices
from edge.organizations.service import Actor, CreatedOrganization, OrganizationService, as_dicts
from edge.organizations.usage import usage_csv, usage_range
from edge.storage.idempotency import IdempotentActs
from shared.credentials import parse
from shared.errors import InvalidCursor

_TAGS = ["organization"]
_DONE = Outcome(204)


class OrganizationApi:
    """The handlers."""

    def __init__(
        self,
        acts: OrganizationService,
        idempotent: IdempotentActs,
        notices: PlanNotices,
        cursors: CursorSigner,
        data_version: Callable[[], int],
    ) -> None:
        self._acts = acts
        self._idempotent = idempotent
        self._notices = notices
        self._cursors = cursors
        self._data_version = data_version

    @docs(operationId="getOrganization", summary="Your organization, your role and its keys", tags=_TAGS)
    @querystring_schema(schemas.OrganizationQuery())
    @response_schema(schemas.Organization(), 200, description="The organization")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with the organization and its keys, without their secrets."""
        actor = actor_of(request)
        m = actor.membership
        keys = as_dicts(await self._acts.keys(actor))
        requested = await self._acts.requested_plan(actor)
        return json_of(
            {
                "id": m.organization_id,
                "name": m.name,
                "plan": m.plan,
                "requested_plan": requested,
                "state": m.state,
                "role": m.role,
                "keys": keys,
            }
        )

    @docs(
        operationId="createOrganization",
        summary="Create an organization and become its owner",
        tags=_TAGS,
        parameters=[PARAMETER],
    )
    @json_schema(schemas.NewOrganization())
    @response_schema(schemas.CreatedOrganization(), 201, description="Created")
    async def create(self, request: web.Request) -> web.StreamResponse:
        """Create an organization."""
        person, body = person_of(request), request[BODY]

        async def act(acts: OrganizationService) -> Outcome:
            return _created(await acts.create(person, body["name"], body["plan"]))

        answer = await run_once(self._idempotent, self._acts, request, act)
        self._notices.wake()
        return answer

    @docs(
        operationId="requestPlan",
        summary="Request another plan",
        description="An operator approves it, unless the service gives plans at once; `requested_plan` is null then.",
        tags=_TAGS,
        parameters=[PARAMETER],
    )
    @querystring_schema(schemas.OrganizationQuery())
    @json_schema(schemas.PlanRequest())
    @response_schema(
        schemas.CreatedOrganization(), 201, description="The organization's plan, and the plan that waits for approval"
    )
    async def request_plan(self, request: web.Request) -> web.StreamResponse:
        """Ask for another plan."""
        actor, plan = actor_of(request), request[BODY]["plan"]

        async def act(acts: OrganizationService) -> Outcome:
            return _created(await acts.request_plan(actor, plan))

        answer = await run_once(self._idempotent, self._acts, request, act, actor)
        self._notices.wake()
        return answer

    @docs(operationId="issueKey", summary="Issue the organization's first API key", tags=_TAGS, parameters=[PARAMETER])
    @querystring_schema(schemas.OrganizationQuery())
    @response_schema(schemas.IssuedKey(), 201, description="The key, shown only once")
    async def issue_key(self, request: web.Request) -> web.StreamResponse:
        """Issue a key where there is none."""
        actor = actor_of(request)

        async def act(acts: OrganizationService) -> Outcome:
            return await _issued(acts, actor, await acts.issue_key(actor))

        return await run_once(self._idempotent, self._acts, request, act, actor)

    @docs(
        operationId="rotateKey",
        summary="Replace the API key",
        description="The new key works at once. The current one stops at once, or after the grace you choose. A key "
        "that is in the grace of an earlier rotation keeps the end it was promised, and the current one then stops at "
        "once: two keys work at most, and `keys` lists both with their ends. Repeat the call under the same "
        "`Idempotency-Key` within a day to get the same key again.",
        tags=_TAGS,
        parameters=[PARAMETER],
    )
    @querystring_schema(schemas.OrganizationQuery())
    @json_schema(schemas.Rotation())
    @response_schema(schemas.IssuedKey(), 201, description="The new key, shown only once")
    async def rotate_key(self, request: web.Request) -> web.StreamResponse:
        """Replace the key."""
        actor, grace = actor_of(request), request[BODY]["grace"]

        async def act(acts: OrganizationService) -> Outcome:
            return await _issued(acts, actor, await acts.rotate_key(actor, grace))

        return await run_once(self._idempotent, self._acts, request, act, actor)

    @docs(
        operationId="revokeKeys",
        summary="Revoke every API key of the organization",
        tags=_TAGS,
        parameters=[PARAMETER],
        responses={"204": {"description": "All keys are revoked"}},
    )
    @querystring_schema(schemas.OrganizationQuery())
    async def revoke_keys(self, request: web.Request) -> web.StreamResponse:
        """Revoke every key of the organization; done as well when there is none."""
        actor = actor_of(request)

        async def act(acts: OrganizationService) -> Outcome:
            await acts.revoke_keys(actor)
            return _DONE

        return await run_once(self._idempotent, self._acts, request, act, actor)

    @docs(
        operationId="reportLeakedKey",
        summary="Revoke a leaked key by showing it",
        description="Anyone who holds a key may revoke it. The answer is the same for a key that does not exist, and "
        "for a repetition, with or without an `Idempotency-Key`.",
        tags=_TAGS,
        parameters=[PARAMETER],
        responses={"204": {"description": "If the key existed, it is revoked"}},
    )
    @json_schema(schemas.LeakedKey())
    async def report_leaked(self, request: web.Request) -> web.StreamResponse:
        """Revoke the key in the body. Repeating that changes nothing, so the header needs no memory here."""
        idempotency_key_of(request)
        await self._acts.revoke_leaked(request[BODY]["key"])
        return web.Response(status=204)

    @docs(
        operationId="getUsage",
        summary="Calls by day, endpoint, outcome and credential",
        tags=_TAGS,
        produces=["application/json", "text/csv"],
    )
    @querystring_schema(schemas.UsageQuery())
    @response_schema(schemas.UsageList(), 200, description="Statistics, at most a minute old")
    async def usage(self, request: web.Request) -> web.StreamResponse:
        """Answer with the statistics of use."""
        first, last = usage_range(request[QUERY]["first"], request[QUERY]["last"])
        actor = actor_of(request)
        rows = as_dicts(await self._acts.usage(actor, first, last))
        if request[QUERY]["format"] == "csv":
            return usage_csv(rows)
        return list_of(rows, {**bound_to(actor), "from": first, "to": last}, self._data_version())

    @docs(operationId="getAudit", summary="Audit log of the organization", tags=_TAGS)
    @querystring_schema(schemas.AuditQuery())
    @response_schema(schemas.AuditList(), 200, description="One page of the audit log, newest first")
    async def audit(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page of the audit log."""
        actor, limit, cursor = actor_of(request), request[QUERY]["limit"], request[QUERY]["cursor"]
        bound = bound_to(actor)
        before = self._cursors.open("audit", bound, cursor) if cursor else [None]
        if len(before) != 1:
            raise InvalidCursor
        rows = as_dicts(await self._acts.audit(actor, before[0], limit + 1))
        more = len(rows) > limit
        next_cursor = self._cursors.seal("audit", bound, [rows[limit - 1]["id"]]) if more else None
        return list_of(
            rows[:limit],
            {**bound, "limit": limit},
            self._data_version(),
            total=await self._acts.audit_count(actor),
            next_cursor=next_cursor,
        )


def _created(made: CreatedOrganization) -> Outcome:
    return outcome_of({"id": made.id, "plan": made.plan, "requested_plan": made.requested_plan}, 201)


async def _issued(acts: OrganizationService, actor: Actor, key: str) -> Outcome:
    form = parse(key)
    assert form is not None
    return outcome_of({"key": key, "key_id": form.credential_id, "keys": as_dicts(await acts.keys(actor))}, 201)
