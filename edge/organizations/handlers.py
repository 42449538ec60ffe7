"""/org: an organization's people, invitations, key, use and audit log, under an ID token."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from aiohttp import web
from aiohttp_apispec import docs, json_schema, match_info_schema, querystring_schema, response_schema

from edge.http.context import CONTEXT
from edge.http.lists import CursorSigner, envelope
from edge.http.parameters import BODY, QUERY
from edge.http.problems import Problem
from edge.http.routing import BEARER, Route, Rule
from edge.organizations import schemas
from edge.organizations.plan_notices import PlanNotices
from edge.organizations.service import Actor, CreatedOrganization, OrganizationService, as_dicts, usage_csv, usage_range
from edge.storage import idempotency as idempotency_key
from edge.storage.database import Scope
from edge.storage.idempotency import (
    PARAMETER,
    IdempotentActs,
    Outcome,
    idempotency_key_of,
    response_of,
)
from edge.storage.idempotency import outcome_of as outcome_of_plain
from shared.clock import rfc3339
from shared.errors import InvalidCursor
from shared.organizations.accounts import Person
from shared.organizations.credentials import parse

# The answers of /org, as JSON that no cache keeps.


def list_of(
    rows: list[dict[str, Any]],
    query: dict[str, Any],
    data_version: int,
    *,
    total: int | None = None,
    next_cursor: str | None = None,
) -> web.Response:
    """Answer in the one envelope of lists; without `total` these rows are all that there are."""
    count = len(rows) if total is None else total
    response = envelope(
        _plain(rows), total=count, exact=True, next_cursor=next_cursor, query=query, data_version=data_version
    )
    response.headers["Cache-Control"] = "no-store"
    return response


def json_of(document: dict[str, Any], status: int = 200) -> web.Response:
    return response_of(outcome_of(document, status))


def outcome_of(document: dict[str, Any], status: int) -> Outcome:
    return outcome_of_plain(_plain(document), status)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return rfc3339(value) if isinstance(value, datetime) else value


# On whose behalf a request to /org is made.


def person_of(request: web.Request) -> Person:
    """Return the person whose ID token the request carries."""
    person = request[CONTEXT].person
    assert person is not None
    return person


def actor_of(request: web.Request) -> Actor:
    """Return the acting member with the organization. Another is as absent as one that does not exist."""
    person = person_of(request)
    chosen = request[QUERY].get("organization")
    membership = person.membership(str(chosen) if chosen else None)
    if membership is None:
        raise Problem(
            "not-found",
            "You are not a member of that organization; create one with POST /org, or ask for an invitation.",
        )
    return Actor(person, membership)


def bound_to(actor: Actor) -> dict[str, Any]:
    """Return what each list of an organization is narrowed to."""
    return {"organization": actor.membership.organization_id}


# A call to /org that its caller may repeat under an Idempotency-Key.


Act = Callable[[OrganizationService], Awaitable[Outcome]]


async def respond(
    idempotent: IdempotentActs,
    acts: OrganizationService,
    request: web.Request,
    act: Act,
    actor: Actor | None = None,
) -> web.StreamResponse:
    """Run the act; under an Idempotency-Key one time for all its repetitions by this person."""
    owner = Scope(person=person_of(request).id)
    organization = actor.membership.organization_id if actor else None
    outcome = await idempotent.run(request, owner, lambda database: act(acts.within(database)), organization)
    return response_of(outcome)


# /org for programs: an organization's people, key, use and audit log, under an ID token.


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

        answer = await respond(self._idempotent, self._acts, request, act)
        self._notices.wake()
        return answer

    @docs(
        operationId="requestPlan",
        summary="Request another plan",
        description="An operator approves it. If the service assigns plans immediately, `requested_plan` is null.",
        tags=_TAGS,
        parameters=[PARAMETER],
    )
    @querystring_schema(schemas.OrganizationQuery())
    @json_schema(schemas.PlanRequest())
    @response_schema(
        schemas.CreatedOrganization(),
        201,
        description="The organization's plan, and the plan that is awaiting approval",
    )
    async def request_plan(self, request: web.Request) -> web.StreamResponse:
        """Ask for another plan."""
        actor, plan = actor_of(request), request[BODY]["plan"]

        async def act(acts: OrganizationService) -> Outcome:
            return _created(await acts.request_plan(actor, plan))

        answer = await respond(self._idempotent, self._acts, request, act, actor)
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

        return await respond(self._idempotent, self._acts, request, act, actor)

    @docs(
        operationId="rotateKey",
        summary="Replace the API key",
        description="The new key works immediately. The current key stops immediately, or after the grace period that "
        "you choose. At most two keys work at a time: if the previous key is still in its grace period, that period "
        "remains and the current key stops immediately. `keys` lists each key with its end. Repeat the call with the "
        "same `Idempotency-Key` within a day to get the same key again.",
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

        return await respond(self._idempotent, self._acts, request, act, actor)

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

        return await respond(self._idempotent, self._acts, request, act, actor)

    @docs(
        operationId="reportLeakedKey",
        summary="Revoke a leaked key by sending it",
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


# /org/members and /org/invitations: the people of an organization and the invitations to it, under an ID token.


class MembersApi:
    """The handlers of members and invitations."""

    def __init__(
        self, acts: OrganizationService, idempotent: IdempotentActs, origin: str, data_version: Callable[[], int]
    ) -> None:
        self._acts = acts
        self._idempotent = idempotent
        self._origin = origin
        self._data_version = data_version

    @docs(operationId="listMembers", summary="List the organization's members", tags=_TAGS)
    @querystring_schema(schemas.OrganizationQuery())
    @response_schema(schemas.MemberList(), 200, description="All members")
    async def members(self, request: web.Request) -> web.StreamResponse:
        """Answer with all members."""
        actor = actor_of(request)
        return list_of(as_dicts(await self._acts.members(actor)), bound_to(actor), self._data_version())

    @docs(
        operationId="changeRole",
        summary="Change a member's role",
        tags=_TAGS,
        responses={"204": {"description": "Changed"}},
    )
    @match_info_schema(schemas.PersonPath())
    @querystring_schema(schemas.OrganizationQuery())
    @json_schema(schemas.RoleChange())
    async def change_role(self, request: web.Request) -> web.StreamResponse:
        """Change a role."""
        await self._acts.change_role(actor_of(request), request.match_info["person"], request[BODY]["role"])
        return web.Response(status=204)

    @docs(
        operationId="removeMember",
        summary="Remove a member, or leave",
        tags=_TAGS,
        parameters=[PARAMETER],
        responses={"204": {"description": "Removed"}},
    )
    @match_info_schema(schemas.PersonPath())
    @querystring_schema(schemas.OrganizationQuery())
    async def remove_member(self, request: web.Request) -> web.StreamResponse:
        """Remove a member."""
        actor, person_id = actor_of(request), request.match_info["person"]

        async def act(acts: OrganizationService) -> Outcome:
            await acts.remove_member(actor, person_id)
            return _DONE

        return await respond(self._idempotent, self._acts, request, act, actor)

    @docs(operationId="listInvitations", summary="List the open invitations", tags=_TAGS)
    @querystring_schema(schemas.OrganizationQuery())
    @response_schema(schemas.InvitationList(), 200, description="Open invitations")
    async def invitations(self, request: web.Request) -> web.StreamResponse:
        """Answer with the open invitations."""
        actor = actor_of(request)
        return list_of(as_dicts(await self._acts.invitations(actor)), bound_to(actor), self._data_version())

    @docs(operationId="invite", summary="Invite a person by e-mail address", tags=_TAGS, parameters=[PARAMETER])
    @querystring_schema(schemas.OrganizationQuery())
    @json_schema(schemas.NewInvitation())
    @response_schema(schemas.IssuedInvitation(), 201, description="The invitation's link, shown only once")
    async def invite(self, request: web.Request) -> web.StreamResponse:
        """Invite a person; the inviting member sends the link."""
        actor, body = actor_of(request), request[BODY]

        async def act(acts: OrganizationService) -> Outcome:
            secret, row = await acts.invite(actor, body["email"], body["role"])
            return outcome_of({**dict(row), "link": invitation_link(self._origin, secret)}, 201)

        return await respond(self._idempotent, self._acts, request, act, actor)

    @docs(
        operationId="withdrawInvitation",
        summary="Withdraw an invitation",
        tags=_TAGS,
        parameters=[PARAMETER],
        responses={"204": {"description": "Withdrawn"}},
    )
    @match_info_schema(schemas.InvitationPath())
    @querystring_schema(schemas.OrganizationQuery())
    async def withdraw_invitation(self, request: web.Request) -> web.StreamResponse:
        """Withdraw an invitation."""
        actor, invitation = actor_of(request), request.match_info["invitation"]

        async def act(acts: OrganizationService) -> Outcome:
            await acts.withdraw_invitation(actor, invitation)
            return _DONE

        return await respond(self._idempotent, self._acts, request, act, actor)


def invitation_link(origin: str, secret: str) -> str:
    """Return the link that an invited person opens. The secret is in the fragment: no server's log ever sees it."""
    return f"{origin}/dashboard/invitation#{secret}"


# The routes below /org, each with its rule.


def routes(org: OrganizationApi, people: MembersApi, prefix: str) -> tuple[Route, ...]:
    """Return every route below {prefix}/org."""
    at = f"{prefix}/org"
    return (
        Route("GET", at, org.show, _rule("organization")),
        Route("POST", at, org.create, _act("organization")),
        Route("POST", f"{at}/api-key", org.issue_key, _act("key")),
        Route("DELETE", f"{at}/api-key", org.revoke_keys, _act("key")),
        Route("POST", f"{at}/api-key/rotations", org.rotate_key, _act("key-rotation")),
        Route("POST", f"{at}/api-key/revocations", org.report_leaked, Rule(name="key-revocation")),
        Route("POST", f"{at}/plan-requests", org.request_plan, _act("plan-requests")),
        Route("GET", f"{at}/members", people.members, _rule("members")),
        Route("PATCH", f"{at}/members/{{person}}", people.change_role, _rule("members", "state-conflict")),
        Route("DELETE", f"{at}/members/{{person}}", people.remove_member, _act("members")),
        Route("GET", f"{at}/invitations", people.invitations, _rule("invitations")),
        Route("POST", f"{at}/invitations", people.invite, _act("invitations")),
        Route("DELETE", f"{at}/invitations/{{invitation}}", people.withdraw_invitation, _act("invitations")),
        Route("GET", f"{at}/usage", org.usage, _rule("usage")),
        Route("GET", f"{at}/audit", org.audit, _rule("audit")),
    )


def _act(name: str) -> Rule:
    return _rule(name, "state-conflict", *idempotency_key.PROBLEMS)


def _rule(name: str, *problems: str) -> Rule:
    listed = ("not-found", "insufficient-role", "rate-limited", *problems)
    return Rule(name=f"org-{name}", accepts=BEARER, per_person=True, problems=listed)
