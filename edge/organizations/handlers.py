"""/org: an organization's people, invitations, key, use and audit log, under an ID token."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial

from aiohttp import web
from asyncpg import Record

from edge.auth.actor import Actor
from edge.http.context import CONTEXT
from edge.http.json import NO_STORE, unstored_json
from edge.http.lists import Paginator, envelope
from edge.http.problems import Problem
from edge.http.routing import API_PATH, BEARER, Route, Rule, operation
from edge.http.validation import BODY, QUERY
from edge.organizations import schemas
from edge.organizations.plan_notices import PlanNotices
from edge.organizations.service import OrganizationService, usage_csv, usage_range
from edge.storage.database import Scope
from edge.storage.idempotency import PARAMETER, PROBLEMS, IdempotentActs, idempotency_key_of
from shared.clock import rfc3339
from shared.events.mails import invitation_link
from shared.organizations.accounts import Membership, Person
from shared.organizations.credentials import parse


def _as_document(row: Record) -> dict[str, object]:
    """Return a row as answers show it: moments as RFC 3339 has them."""
    return {name: rfc3339(value) if isinstance(value, datetime) else value for name, value in row.items()}


def person_of(request: web.Request) -> Person:
    """Return the person whose ID token the request carries."""
    person = request[CONTEXT].person
    assert person is not None
    return person


def actor_of(request: web.Request) -> Actor:
    """Return the acting member. An organization of others is as absent as one that does not exist."""
    return Actor.of(person_of(request), _membership_of(request))


def _membership_of(request: web.Request) -> Membership:
    person = person_of(request)
    chosen = request[QUERY].get("organization")
    membership = person.membership(str(chosen) if chosen else None)
    if membership is None:
        raise Problem(
            "not-found",
            "You are not a member of that organization; create one with POST /org, or ask for an invitation.",
        )
    return membership


_operation = partial(operation, "organization")
_act = partial(_operation, parameters=[PARAMETER])


class OrganizationApi:
    def __init__(
        self,
        acts: OrganizationService,
        idempotent: IdempotentActs,
        notices: PlanNotices,
        lists: Paginator,
        data_version: Callable[[], int],
        origin: str,
    ) -> None:
        self._acts = acts
        self._idempotent = idempotent
        self._notices = notices
        self._lists = lists
        self._data_version = data_version
        self._origin = origin

    @_operation("getOrganization", schemas.OrganizationQuery, answers={200: (schemas.Organization, "The organization")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Your organization, your role and its keys."""
        actor, m = actor_of(request), _membership_of(request)
        organization = {
            "id": m.organization_id,
            "name": m.name,
            "plan": m.plan,
            "requested_plan": await self._acts.requested_plan(actor),
            "state": m.state,
            "role": m.role,
            "keys": [*map(_as_document, await self._acts.keys(actor))],
        }
        return unstored_json(organization)

    @_act("createOrganization", schemas.NewOrganization, answers={201: (schemas.CreatedOrganization, "Created")})
    async def create(self, request: web.Request) -> web.StreamResponse:
        """Create an organization and become its owner."""
        person, body = person_of(request), request[BODY]

        answer = await self._once(request, 201, lambda acts: acts.create(person, body["name"], body["plan"]))
        self._notices.wake()
        return answer

    @_act(
        "requestPlan",
        schemas.OrganizationQuery,
        schemas.PlanRequest,
        answers={201: (schemas.CreatedOrganization, "The organization's plan, and the plan that is awaiting approval")},
    )
    async def request_plan(self, request: web.Request) -> web.StreamResponse:
        """Request another plan.

        An operator approves it. If the service assigns plans immediately, `requested_plan` is null.
        """
        actor, plan = actor_of(request), request[BODY]["plan"]

        answer = await self._once(request, 201, lambda acts: acts.request_plan(actor, plan), actor)
        self._notices.wake()
        return answer

    @_act("issueKey", schemas.OrganizationQuery, answers={201: (schemas.IssuedKey, "The key, shown only once")})
    async def issue_key(self, request: web.Request) -> web.StreamResponse:
        """Issue the organization's first API key."""
        actor = actor_of(request)

        async def act(acts: OrganizationService) -> object:
            return await _issued_key(acts, actor, await acts.issue_key(actor))

        return await self._once(request, 201, act, actor)

    @_act(
        "rotateKey",
        schemas.OrganizationQuery,
        schemas.Rotation,
        answers={201: (schemas.IssuedKey, "The new key, shown only once")},
    )
    async def rotate_key(self, request: web.Request) -> web.StreamResponse:
        """Replace the API key.

        The new key works immediately. The current key stops immediately, or after the grace period that you choose. At
        most two keys work at a time: if the previous key is still in its grace period, that period remains and the
        current key stops immediately. `keys` lists each key with its end. Repeat the call with the same
        `Idempotency-Key` within a day to get the same key again.
        """
        actor, grace = actor_of(request), request[BODY]["grace"]

        async def act(acts: OrganizationService) -> object:
            return await _issued_key(acts, actor, await acts.rotate_key(actor, grace))

        return await self._once(request, 201, act, actor)

    @_act("revokeKeys", schemas.OrganizationQuery, answers={204: "All keys are revoked"})
    async def revoke_keys(self, request: web.Request) -> web.StreamResponse:
        """Revoke every API key of the organization."""
        actor = actor_of(request)
        return await self._once(request, 204, lambda acts: acts.revoke_keys(actor), actor)

    @_act("reportLeakedKey", schemas.LeakedKey, answers={204: "If the key existed, it is revoked"})
    async def report_leaked(self, request: web.Request) -> web.StreamResponse:
        """Revoke a leaked key by sending it.

        Anyone who has a key can revoke it. The response is the same for a key that does not exist, and for a
        repeated call, with or without an `Idempotency-Key`.
        """
        idempotency_key_of(request)
        await self._acts.revoke_leaked(request[BODY]["key"])
        return web.Response(status=204)

    @_operation(
        "getUsage",
        schemas.UsageQuery,
        answers={200: (schemas.UsageList, "Statistics, at most a minute old")},
        produces=["application/json", "text/csv"],
    )
    async def usage(self, request: web.Request) -> web.StreamResponse:
        """Calls by day, endpoint, outcome and credential."""
        first, last = usage_range(request[QUERY]["first"], request[QUERY]["last"])
        actor = actor_of(request)
        rows = await self._acts.usage(actor, first, last)
        if request[QUERY]["format"] == "csv":
            return usage_csv(rows)
        return self._list(actor, rows, **{"from": first, "to": last})

    @_operation(
        "getAudit", schemas.AuditQuery, answers={200: (schemas.AuditList, "One page of the audit log, newest first")}
    )
    async def audit(self, request: web.Request) -> web.StreamResponse:
        """Audit log of the organization."""
        actor, limit, cursor = actor_of(request), request[QUERY]["limit"], request[QUERY]["cursor"] or None
        bound = {"organization": actor.organization}
        find = partial(self._acts.audit_page, actor, limit)
        response = await self._lists.answer(
            "audit", {**bound, "limit": limit}, cursor, find, _as_document, lambda row: row["id"], bound=bound
        )
        response.headers.update(NO_STORE)
        return response

    @_operation("listMembers", schemas.OrganizationQuery, answers={200: (schemas.MemberList, "All members")})
    async def members(self, request: web.Request) -> web.StreamResponse:
        """List the organization's members."""
        actor = actor_of(request)
        return self._list(actor, await self._acts.members(actor))

    @_operation(
        "changeRole", schemas.PersonPath, schemas.OrganizationQuery, schemas.RoleChange, answers={204: "Changed"}
    )
    async def change_role(self, request: web.Request) -> web.StreamResponse:
        """Change a member's role."""
        await self._acts.change_role(actor_of(request), request.match_info["person"], request[BODY]["role"])
        return web.Response(status=204)

    @_act("removeMember", schemas.PersonPath, schemas.OrganizationQuery, answers={204: "Removed"})
    async def remove_member(self, request: web.Request) -> web.StreamResponse:
        """Remove a member, or leave."""
        actor, person_id = actor_of(request), request.match_info["person"]
        return await self._once(request, 204, lambda acts: acts.remove_member(actor, person_id), actor)

    @_operation(
        "listInvitations", schemas.OrganizationQuery, answers={200: (schemas.InvitationList, "Open invitations")}
    )
    async def invitations(self, request: web.Request) -> web.StreamResponse:
        """List the open invitations."""
        actor = actor_of(request)
        return self._list(actor, await self._acts.invitations(actor))

    @_act(
        "invite",
        schemas.OrganizationQuery,
        schemas.NewInvitation,
        answers={201: (schemas.IssuedInvitation, "The invitation's link, shown only once")},
    )
    async def invite(self, request: web.Request) -> web.StreamResponse:
        """Invite a person by e-mail address."""
        actor, body = actor_of(request), request[BODY]

        async def act(acts: OrganizationService) -> object:
            secret, row = await acts.invite(actor, body["email"], body["role"])
            return {**_as_document(row), "link": invitation_link(self._origin, secret)}

        return await self._once(request, 201, act, actor)

    @_act("withdrawInvitation", schemas.InvitationPath, schemas.OrganizationQuery, answers={204: "Withdrawn"})
    async def withdraw_invitation(self, request: web.Request) -> web.StreamResponse:
        """Withdraw an invitation."""
        actor, invitation = actor_of(request), request.match_info["invitation"]
        return await self._once(request, 204, lambda acts: acts.withdraw_invitation(actor, invitation), actor)

    async def _once(
        self,
        request: web.Request,
        status: int,
        act: Callable[[OrganizationService], Awaitable[object]],
        actor: Actor | None = None,
    ) -> web.Response:
        owner, organization = Scope(person=person_of(request).id), actor.organization if actor else None
        return await self._idempotent.respond(request, owner, self._acts, act, status, organization)

    def _list(self, actor: Actor, rows: Sequence[Record], **query: object) -> web.Response:
        """Answer in the one envelope of lists with these rows, which are all that there are."""
        response = envelope(
            [*map(_as_document, rows)],
            total=len(rows),
            exact=True,
            next_cursor=None,
            query={"organization": actor.organization, **query},
            data_version=self._data_version(),
        )
        response.headers.update(NO_STORE)
        return response


async def _issued_key(acts: OrganizationService, actor: Actor, key: str) -> dict[str, object]:
    form = parse(key)
    assert form is not None
    return {"key": key, "key_id": form.credential_id, "keys": [*map(_as_document, await acts.keys(actor))]}


def routes(org: OrganizationApi) -> tuple[Route, ...]:
    """Return every route below /v1/org."""
    at = f"{API_PATH}/org"
    return (
        Route("GET", at, org.show, _rule("organization")),
        Route("POST", at, org.create, _act_rule("organization")),
        Route("POST", f"{at}/api-key", org.issue_key, _act_rule("key")),
        Route("DELETE", f"{at}/api-key", org.revoke_keys, _act_rule("key")),
        Route("POST", f"{at}/api-key/rotations", org.rotate_key, _act_rule("key-rotation")),
        Route("POST", f"{at}/api-key/revocations", org.report_leaked, Rule(name="key-revocation")),
        Route("POST", f"{at}/plan-requests", org.request_plan, _act_rule("plan-requests")),
        Route("GET", f"{at}/members", org.members, _rule("members")),
        Route("PATCH", f"{at}/members/{{person}}", org.change_role, _rule("members", "state-conflict")),
        Route("DELETE", f"{at}/members/{{person}}", org.remove_member, _act_rule("members")),
        Route("GET", f"{at}/invitations", org.invitations, _rule("invitations")),
        Route("POST", f"{at}/invitations", org.invite, _act_rule("invitations")),
        Route("DELETE", f"{at}/invitations/{{invitation}}", org.withdraw_invitation, _act_rule("invitations")),
        Route("GET", f"{at}/usage", org.usage, _rule("usage")),
        Route("GET", f"{at}/audit", org.audit, _rule("audit")),
    )


def _act_rule(name: str) -> Rule:
    return _rule(name, "state-conflict", *PROBLEMS)


def _rule(name: str, *problems: str) -> Rule:
    listed = ("not-found", "insufficient-role", "rate-limited", *problems)
    return Rule(name=f"org-{name}", accepts=BEARER, per_person=True, problems=listed)
