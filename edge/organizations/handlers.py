"""/org for programs: an organization's people, key, use and audit log, under an ID token."""

import csv
import io
from datetime import date, datetime, timedelta
from typing import Any

import msgspec
from aiohttp import web
from aiohttp_apispec import docs, json_schema, match_info_schema, querystring_schema, response_schema

from edge.http.context import CONTEXT
from edge.http.cursors import CursorSigner
from edge.http.parameters import BODY, QUERY
from edge.http.problems import Problem
from edge.organizations import schemas
from edge.organizations.service import Actor, OrganizationService, as_dicts
from shared.clock import rfc3339, utc_now
from shared.credentials import split
from shared.errors import InvalidCursor, InvalidParameter

_TAGS = ["organization"]
_USAGE_DAYS_MAX = 366
USAGE_COLUMNS = ("day", "endpoint", "outcome", "credential", "calls", "units")


class OrganizationApi:
    """The handlers."""

    def __init__(self, acts: OrganizationService, cursors: CursorSigner, origin: str) -> None:
        self._acts = acts
        self._cursors = cursors
        self._origin = origin

    @docs(operationId="getOrganization", summary="My organization, my role, its keys", tags=_TAGS)
    @querystring_schema(schemas.OrganizationQuery())
    @response_schema(schemas.OrganizationAnswer(), 200, description="The organization")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with the organization and its keys, without their secrets."""
        actor = actor_of(request)
        m = actor.membership
        keys = as_dicts(await self._acts.keys(actor))
        return _json({"id": m.organization_id, "name": m.name, "plan": m.plan, "state": m.state, "role": m.role,
                      "keys": keys})  # fmt: skip

    @docs(operationId="createOrganization", summary="Create an organization and become its owner", tags=_TAGS)
    @json_schema(schemas.NewOrganization())
    @response_schema(schemas.Created(), 201, description="Created")
    async def create(self, request: web.Request) -> web.StreamResponse:
        """Create an organization."""
        person = request[CONTEXT].person
        assert person is not None
        made = await self._acts.create(person, request[BODY]["name"], request[BODY]["plan"])
        return _json({"id": made}, 201)

    @docs(operationId="issueKey", summary="Issue the organization's first API key", tags=_TAGS)
    @querystring_schema(schemas.OrganizationQuery())
    @response_schema(schemas.IssuedKey(), 201, description="The key, shown this once")
    async def issue_key(self, request: web.Request) -> web.StreamResponse:
        """Issue a key where there is none."""
        return _key(await self._acts.issue_key(actor_of(request)))

    @docs(
        operationId="rotateKey",
        summary="Replace the API key",
        description="The new key works at once. The old one stops at once, or after the grace you choose.",
        tags=_TAGS,
    )
    @querystring_schema(schemas.OrganizationQuery())
    @json_schema(schemas.Rotation())
    @response_schema(schemas.IssuedKey(), 201, description="The new key, shown this once")
    async def rotate_key(self, request: web.Request) -> web.StreamResponse:
        """Replace the key."""
        return _key(await self._acts.rotate_key(actor_of(request), request[BODY]["grace"]))

    @docs(operationId="revokeKeys", summary="Revoke the API key, and one in its grace", tags=_TAGS,
          responses={"204": {"description": "No key works any more"}})  # fmt: skip
    @querystring_schema(schemas.OrganizationQuery())
    async def revoke_keys(self, request: web.Request) -> web.StreamResponse:
        """Revoke every key of the organization; done as well when there is none."""
        await self._acts.revoke_keys(actor_of(request))
        return web.Response(status=204)

    @docs(
        operationId="reportLeakedKey",
        summary="Revoke a leaked key by showing it",
        description="Anyone who holds a key may revoke it. The answer is the same for a key that does not exist.",
        tags=_TAGS,
        responses={"204": {"description": "If there was such a key, it no longer works"}},
    )
    @json_schema(schemas.LeakedKey())
    async def report_leaked(self, request: web.Request) -> web.StreamResponse:
        """Revoke the key in the body."""
        await self._acts.revoke_leaked(request[BODY]["key"])
        return web.Response(status=204)

    @docs(operationId="listMembers", summary="The people of the organization", tags=_TAGS)
    @querystring_schema(schemas.OrganizationQuery())
    @response_schema(schemas.MemberList(), 200, description="All members")
    async def members(self, request: web.Request) -> web.StreamResponse:
        """Answer with all members."""
        return _list(as_dicts(await self._acts.members(actor_of(request))))

    @docs(operationId="changeRole", summary="Give a member another role", tags=_TAGS,
          responses={"204": {"description": "Changed"}})  # fmt: skip
    @match_info_schema(schemas.PersonPath())
    @querystring_schema(schemas.OrganizationQuery())
    @json_schema(schemas.Role())
    async def change_role(self, request: web.Request) -> web.StreamResponse:
        """Change a role."""
        await self._acts.change_role(actor_of(request), request.match_info["person"], request[BODY]["role"])
        return web.Response(status=204)

    @docs(operationId="removeMember", summary="Remove a member, or leave", tags=_TAGS,
          responses={"204": {"description": "Removed"}})  # fmt: skip
    @match_info_schema(schemas.PersonPath())
    @querystring_schema(schemas.OrganizationQuery())
    async def remove_member(self, request: web.Request) -> web.StreamResponse:
        """Remove a member."""
        await self._acts.remove_member(actor_of(request), request.match_info["person"])
        return web.Response(status=204)

    @docs(operationId="listInvitations", summary="Invitations that can still be accepted", tags=_TAGS)
    @querystring_schema(schemas.OrganizationQuery())
    @response_schema(schemas.InvitationList(), 200, description="Open invitations")
    async def invitations(self, request: web.Request) -> web.StreamResponse:
        """Answer with the open invitations."""
        return _list(as_dicts(await self._acts.invitations(actor_of(request))))

    @docs(operationId="invite", summary="Invite a person by e-mail address", tags=_TAGS)
    @querystring_schema(schemas.OrganizationQuery())
    @json_schema(schemas.NewInvitation())
    @response_schema(schemas.IssuedInvitation(), 201, description="The link to hand over, shown this once")
    async def invite(self, request: web.Request) -> web.StreamResponse:
        """Invite a person; the link is for whoever invites to send."""
        secret, row = await self._acts.invite(actor_of(request), request[BODY]["email"], request[BODY]["role"])
        return _json({**dict(row), "link": invitation_link(self._origin, secret)}, 201)

    @docs(operationId="withdrawInvitation", summary="Make an invitation's link stop working", tags=_TAGS,
          responses={"204": {"description": "Withdrawn"}})  # fmt: skip
    @match_info_schema(schemas.InvitationPath())
    @querystring_schema(schemas.OrganizationQuery())
    async def withdraw_invitation(self, request: web.Request) -> web.StreamResponse:
        """Withdraw an invitation."""
        await self._acts.withdraw_invitation(actor_of(request), request.match_info["invitation"])
        return web.Response(status=204)

    @docs(operationId="getUsage", summary="Calls by day, endpoint, outcome and credential", tags=_TAGS,
          produces=["application/json", "text/csv"])  # fmt: skip
    @querystring_schema(schemas.UsageQuery())
    @response_schema(schemas.UsageList(), 200, description="A minute behind at most")
    async def usage(self, request: web.Request) -> web.StreamResponse:
        """Answer with the statistics of use."""
        first, last = usage_range(request[QUERY]["first"], request[QUERY]["last"])
        rows = as_dicts(await self._acts.usage(actor_of(request), first, last))
        return usage_csv(rows) if request[QUERY]["format"] == "csv" else _list(rows)

    @docs(operationId="getAudit", summary="What was done in the organization, and by whom", tags=_TAGS)
    @querystring_schema(schemas.AuditQuery())
    @response_schema(schemas.AuditList(), 200, description="One page, the newest first")
    async def audit(self, request: web.Request) -> web.StreamResponse:
        """Answer with one page of the audit log."""
        actor, limit, cursor = actor_of(request), request[QUERY]["limit"], request[QUERY]["cursor"]
        bound = {"organization": actor.membership.organization_id}
        before = self._cursors.open("audit", bound, cursor) if cursor else [None]
        if len(before) != 1:
            raise InvalidCursor
        rows = as_dicts(await self._acts.audit(actor, before[0], limit + 1))
        more = len(rows) > limit
        next_cursor = self._cursors.seal("audit", bound, [rows[limit - 1]["id"]]) if more else None
        return _json({"data": rows[:limit], "count": min(len(rows), limit), "next_cursor": next_cursor})


def actor_of(request: web.Request) -> Actor:
    """Return who acts in which organization. Another's organization is as absent as one that does not exist."""
    person = request[CONTEXT].person
    assert person is not None
    chosen = request[QUERY].get("organization")
    membership = person.membership(str(chosen) if chosen else None)
    if membership is None:
        raise Problem(
            "not-found", "You are in no such organization; create one with POST /org, or ask for an invitation."
        )
    return Actor(person, membership)


def usage_range(first: date | None, last: date | None) -> tuple[date, date]:
    """Fill in the days asked for: the last 30. Raises InvalidParameter for a range that is none, or too long."""
    last = last or utc_now().date()
    first = first or last - timedelta(days=29)
    if not timedelta(0) <= last - first < timedelta(days=_USAGE_DAYS_MAX):
        raise InvalidParameter("from", f"must be a day not after `to`, {_USAGE_DAYS_MAX} days before it at most")
    return first, last


def usage_csv(rows: list[dict[str, Any]]) -> web.Response:
    """Make a CSV (RFC 4180) of statistics of use. Every cell is ours: no caller's text is in it."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(USAGE_COLUMNS)
    writer.writerows([row[name] for name in USAGE_COLUMNS] for row in rows)
    fields = {"Cache-Control": "no-store", "Content-Disposition": 'attachment; filename="usage.csv"'}
    return web.Response(text=text.getvalue(), content_type="text/csv", headers=fields)


def invitation_link(origin: str, secret: str) -> str:
    """Return the link that an invited person opens. The secret is in the fragment: no server's log ever sees it."""
    return f"{origin}/dashboard/invitation#{secret}"


def _key(key: str) -> web.Response:
    form = split(key)
    assert form is not None
    return _json({"key": key, "key_id": form.credential_id}, 201)


def _list(rows: list[dict[str, Any]]) -> web.Response:
    return _json({"data": rows, "count": len(rows)})


def _json(document: dict[str, Any], status: int = 200) -> web.Response:
    body = msgspec.json.encode(_plain(document))
    return web.Response(
        status=status, body=body, content_type="application/json", headers={"Cache-Control": "no-store"}
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return rfc3339(value) if isinstance(value, datetime) else value
