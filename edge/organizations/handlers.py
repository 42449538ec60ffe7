"""/org for programs: an organization's people, key, use and audit log, under an ID token."""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
from aiohttp import web
from aiohttp_apispec import docs, json_schema, match_info_schema, querystring_schema, response_schema

from edge.http.cursors import CursorSigner
from edge.http.idempotency_key import PARAMETER, idempotency_key_of
from edge.http.parameters import BODY, QUERY
from edge.organizations import schemas
from edge.organizations.answers import answer_of, json_of, list_of, outcome_of
from edge.organizations.callers import actor_of, person_of
from edge.organizations.idempotency import Act, IdempotentActs, IdempotentRequest, Outcome
from edge.organizations.plan_notices import PlanNotices
from edge.organizations.service import Actor, CreatedOrganization, OrganizationService, as_dicts
from edge.organizations.usage import usage_csv, usage_range
from shared.credentials import split
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
        origin: str,
        data_version: Callable[[], int],
    ) -> None:
        self._acts = acts
        self._idempotent = idempotent
        self._notices = notices
        self._cursors = cursors
        self._origin = origin
        self._data_version = data_version

    @docs(operationId="getOrganization", summary="My organization, my role, its keys", tags=_TAGS)
    @querystring_schema(schemas.OrganizationQuery())
    @response_schema(schemas.OrganizationAnswer(), 200, description="The organization")
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

    @docs(operationId="createOrganization", summary="Create an organization and become its owner", tags=_TAGS,
          parameters=[PARAMETER])  # fmt: skip
    @json_schema(schemas.NewOrganization())
    @response_schema(schemas.Created(), 201, description="Created")
    async def create(self, request: web.Request) -> web.StreamResponse:
        """Create an organization."""
        person, body = person_of(request), request[BODY]

        async def act(acts: OrganizationService) -> Outcome:
            return _created(await acts.create(person, body["name"], body["plan"]))

        answer = await self._once(request, None, act)
        self._notices.wake()
        return answer

    @docs(
        operationId="requestPlan",
        summary="Ask for another plan",
        description="An operator approves it, unless the service gives plans at once; `requested_plan` is null then.",
        tags=_TAGS,
        parameters=[PARAMETER],
    )
    @querystring_schema(schemas.OrganizationQuery())
    @json_schema(schemas.PlanRequest())
    @response_schema(schemas.Created(), 201, description="The plan that the organization has, and what it waits for")
    async def request_plan(self, request: web.Request) -> web.StreamResponse:
        """Ask for another plan."""
        actor, plan = actor_of(request), request[BODY]["plan"]

        async def act(acts: OrganizationService) -> Outcome:
            return _created(await acts.request_plan(actor, plan))

        answer = await self._once(request, actor, act)
        self._notices.wake()
        return answer

    @docs(operationId="issueKey", summary="Issue the organization's first API key", tags=_TAGS, parameters=[PARAMETER])
    @querystring_schema(schemas.OrganizationQuery())
    @response_schema(schemas.IssuedKey(), 201, description="The key, shown this once")
    async def issue_key(self, request: web.Request) -> web.StreamResponse:
        """Issue a key where there is none."""
        actor = actor_of(request)

        async def act(acts: OrganizationService) -> Outcome:
            return await _issued(acts, actor, await acts.issue_key(actor))

        return await self._once(request, actor, act)

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
    @response_schema(schemas.IssuedKey(), 201, description="The new key, shown this once")
    async def rotate_key(self, request: web.Request) -> web.StreamResponse:
        """Replace the key."""
        actor, grace = actor_of(request), request[BODY]["grace"]

        async def act(acts: OrganizationService) -> Outcome:
            return await _issued(acts, actor, await acts.rotate_key(actor, grace))

        return await self._once(request, actor, act)

    @docs(operationId="revokeKeys", summary="Revoke the API key, and one in its grace", tags=_TAGS,
          parameters=[PARAMETER], responses={"204": {"description": "No key works any more"}})  # fmt: skip
    @querystring_schema(schemas.OrganizationQuery())
    async def revoke_keys(self, request: web.Request) -> web.StreamResponse:
        """Revoke every key of the organization; done as well when there is none."""
        actor = actor_of(request)

        async def act(acts: OrganizationService) -> Outcome:
            await acts.revoke_keys(actor)
            return _DONE

        return await self._once(request, actor, act)

    @docs(
        operationId="reportLeakedKey",
        summary="Revoke a leaked key by showing it",
        description="Anyone who holds a key may revoke it. The answer is the same for a key that does not exist, and "
        "for a repetition, with or without an `Idempotency-Key`.",
        tags=_TAGS,
        parameters=[PARAMETER],
        responses={"204": {"description": "If there was such a key, it no longer works"}},
    )
    @json_schema(schemas.LeakedKey())
    async def report_leaked(self, request: web.Request) -> web.StreamResponse:
        """Revoke the key in the body. Repeating that changes nothing, so the header needs no memory here."""
        idempotency_key_of(request)
        await self._acts.revoke_leaked(request[BODY]["key"])
        return web.Response(status=204)

    @docs(operationId="listMembers", summary="The people of the organization", tags=_TAGS)
    @querystring_schema(schemas.OrganizationQuery())
    @response_schema(schemas.MemberList(), 200, description="All members")
    async def members(self, request: web.Request) -> web.StreamResponse:
        """Answer with all members."""
        actor = actor_of(request)
        return list_of(as_dicts(await self._acts.members(actor)), bound_to(actor), self._data_version())

    @docs(operationId="changeRole", summary="Give a member another role", tags=_TAGS,
          responses={"204": {"description": "Changed"}})  # fmt: skip
    @match_info_schema(schemas.PersonPath())
    @querystring_schema(schemas.OrganizationQuery())
    @json_schema(schemas.Role())
    async def change_role(self, request: web.Request) -> web.StreamResponse:
        """Change a role."""
        await self._acts.change_role(actor_of(request), request.match_info["person"], request[BODY]["role"])
        return web.Response(status=204)

    @docs(operationId="removeMember", summary="Remove a member, or leave", tags=_TAGS, parameters=[PARAMETER],
          responses={"204": {"description": "Removed"}})  # fmt: skip
    @match_info_schema(schemas.PersonPath())
    @querystring_schema(schemas.OrganizationQuery())
    async def remove_member(self, request: web.Request) -> web.StreamResponse:
        """Remove a member."""
        actor, person_id = actor_of(request), request.match_info["person"]

        async def act(acts: OrganizationService) -> Outcome:
            await acts.remove_member(actor, person_id)
            return _DONE

        return await self._once(request, actor, act)

    @docs(operationId="listInvitations", summary="Invitations that can still be accepted", tags=_TAGS)
    @querystring_schema(schemas.OrganizationQuery())
    @response_schema(schemas.InvitationList(), 200, description="Open invitations")
    async def invitations(self, request: web.Request) -> web.StreamResponse:
        """Answer with the open invitations."""
        actor = actor_of(request)
        return list_of(as_dicts(await self._acts.invitations(actor)), bound_to(actor), self._data_version())

    @docs(operationId="invite", summary="Invite a person by e-mail address", tags=_TAGS, parameters=[PARAMETER])
    @querystring_schema(schemas.OrganizationQuery())
    @json_schema(schemas.NewInvitation())
    @response_schema(schemas.IssuedInvitation(), 201, description="The link to hand over, shown this once")
    async def invite(self, request: web.Request) -> web.StreamResponse:
        """Invite a person; the link is for whoever invites to send."""
        actor, body = actor_of(request), request[BODY]

        async def act(acts: OrganizationService) -> Outcome:
            secret, row = await acts.invite(actor, body["email"], body["role"])
            return outcome_of({**dict(row), "link": invitation_link(self._origin, secret)}, 201)

        return await self._once(request, actor, act)

    @docs(operationId="withdrawInvitation", summary="Make an invitation's link stop working", tags=_TAGS,
          parameters=[PARAMETER],
          responses={"204": {"description": "Withdrawn"}})  # fmt: skip
    @match_info_schema(schemas.InvitationPath())
    @querystring_schema(schemas.OrganizationQuery())
    async def withdraw_invitation(self, request: web.Request) -> web.StreamResponse:
        """Withdraw an invitation."""
        actor, invitation = actor_of(request), request.match_info["invitation"]

        async def act(acts: OrganizationService) -> Outcome:
            await acts.withdraw_invitation(actor, invitation)
            return _DONE

        return await self._once(request, actor, act)

    @docs(operationId="getUsage", summary="Calls by day, endpoint, outcome and credential", tags=_TAGS,
          produces=["application/json", "text/csv"])  # fmt: skip
    @querystring_schema(schemas.UsageQuery())
    @response_schema(schemas.UsageList(), 200, description="A minute behind at most")
    async def usage(self, request: web.Request) -> web.StreamResponse:
        """Answer with the statistics of use."""
        first, last = usage_range(request[QUERY]["first"], request[QUERY]["last"])
        actor = actor_of(request)
        rows = as_dicts(await self._acts.usage(actor, first, last))
        if request[QUERY]["format"] == "csv":
            return usage_csv(rows)
        return list_of(rows, {**bound_to(actor), "from": first, "to": last}, self._data_version())

    @docs(operationId="getAudit", summary="What was done in the organization, and by whom", tags=_TAGS)
    @querystring_schema(schemas.AuditQuery())
    @response_schema(schemas.AuditList(), 200, description="One page, the newest first")
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
            rows[:limit], {**bound, "limit": limit}, self._data_version(),
            total=await self._acts.audit_count(actor), next_cursor=next_cursor,
        )  # fmt: skip

    async def _once(self, request: web.Request, actor: Actor | None, act: Act) -> web.StreamResponse:
        """Run the act; under an Idempotency-Key one time for all its repetitions by this person."""
        key = idempotency_key_of(request)
        if key is None:
            return answer_of(await act(self._acts))
        asked = {
            "call": f"{request.method} {request.path}",
            "organization": actor.membership.organization_id if actor else None,
            "body": request.get(BODY, {}),
        }
        digest = hashlib.sha256(msgspec.json.encode(asked, order="sorted")).digest()
        return answer_of(await self._idempotent.run(IdempotentRequest(person_of(request).id, key, digest), act))


def bound_to(actor: Actor) -> dict[str, Any]:
    """Return what each list of an organization is narrowed to."""
    return {"organization": actor.membership.organization_id}


def invitation_link(origin: str, secret: str) -> str:
    """Return the link that an invited person opens. The secret is in the fragment: no server's log ever sees it."""
    return f"{origin}/dashboard/invitation#{secret}"


def _created(made: CreatedOrganization) -> Outcome:
    return outcome_of({"id": made.id, "plan": made.plan, "requested_plan": made.requested_plan}, 201)


async def _issued(acts: OrganizationService, actor: Actor, key: str) -> Outcome:
    form = split(key)
    assert form is not None
    return outcome_of({"key": key, "key_id": form.credential_id, "keys": as_dicts(await acts.keys(actor))}, 201)
