"""/org/members and /org/invitations: the people of an organization and the invitations to it, under an ID token."""

from collections.abc import Callable

from aiohttp import web
from aiohttp_apispec import docs, json_schema, match_info_schema, querystring_schema, response_schema

from edge.http.idempotency_key import PARAMETER
from edge.http.outcome import Outcome
from edge.http.parameters import BODY
from edge.organizations import schemas
from edge.organizations.answers import list_of, outcome_of
from edge.organizations.callers import actor_of, bound_to
from edge.organizations.idempotent_calls import run_once
from edge.organizations.service import OrganizationService, as_dicts
from edge.storage.idempotency import IdempotentActs

_TAGS = ["organization"]
_DONE = Outcome(204)


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
        summary="Give a member another role",
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

        return await run_once(self._idempotent, self._acts, request, act, actor)

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

        return await run_once(self._idempotent, self._acts, request, act, actor)

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

        return await run_once(self._idempotent, self._acts, request, act, actor)


def invitation_link(origin: str, secret: str) -> str:
    """Return the link that an invited person opens. The secret is in the fragment: no server's log ever sees it."""
    return f"{origin}/dashboard/invitation#{secret}"
