"""Acts of a person in an organization, checked by role and written to the audit log, and its statistics of use."""

import csv
import hashlib
import io
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Self

import asyncpg
from aiohttp import web

from edge.auth.actor import Actor
from edge.http.problems import Problem
from edge.storage.database import Database, Scope, Transaction
from shared.clock import utc_now
from shared.errors import InvalidParameter
from shared.events.mails import seal_invitation
from shared.index.iid import require_uuid
from shared.organizations import credentials
from shared.organizations.accounts import SQL, Person
from shared.organizations.roles import GRACE_SECONDS, right_for
from shared.settings.settings import Settings

USAGE_COLUMNS = ("day", "endpoint", "outcome", "credential", "calls", "units")
_DAYS_MAX = 366


def usage_range(first: date | None, last: date | None) -> tuple[date, date]:
    """Fill in the days asked for: the last 30. Raises InvalidParameter for a range that is none, or too long."""
    last = last or max(utc_now().date(), first or date.min)
    first = first or last - timedelta(days=29)
    if not timedelta(0) <= last - first < timedelta(days=_DAYS_MAX):
        allowed = f"must be a day from {last - timedelta(days=_DAYS_MAX - 1)} to {last}, which is `to`"
        raise InvalidParameter("from", allowed, first.isoformat())
    return first, last


def usage_csv(rows: Sequence[asyncpg.Record]) -> web.Response:
    """Make a CSV (RFC 4180) of statistics of use. Every cell is ours: no caller's text is in it."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(USAGE_COLUMNS)
    writer.writerows([row[name] for name in USAGE_COLUMNS] for row in rows)
    fields = {"Cache-Control": "no-store", "Content-Disposition": 'attachment; filename="usage.csv"'}
    return web.Response(text=text.getvalue(), content_type="text/csv", headers=fields)


Row = asyncpg.Record


@dataclass(frozen=True, slots=True)
class AddedOrganization:
    """An organization's id, the plan it has, and the plan that waits for approval, if any."""

    id: str
    plan: str
    requested_plan: str | None


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries of the audit log: of one act, of one actor by name, of one UTC day; None is every one."""

    act: str | None = None
    actor: str | None = None
    day: date | None = None


EVERY_ENTRY = AuditFilter()


class OrganizationService:
    """Reads and changes organizations. `plans_at_once`: a plan of self-service is given without approval."""

    def __init__(self, database: Database | Transaction, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._peppers = settings.peppers
        self._owned_max = settings.organizations_per_person_max
        self.plans_at_once = settings.plan_approval == "none"

    def within(self, database: Database | Transaction) -> Self:
        """Return the service whose acts are part of a transaction, where it is given one."""
        return type(self)(database, self._settings)

    async def create(self, person: Person, name: str, plan: str) -> AddedOrganization:
        """Make an organization with its first owner, on the free plan, and ask for the other plan."""
        async with self._database.transaction(Scope(person=person.id)) as transaction:
            values = (name, plan, person.id, person.name, self._owned_max, self.plans_at_once)
            [row] = await transaction.fetch(SQL.create_organization, *values)
            if row["refusal"] == "too-many":
                text = f"You have {self._owned_max} organizations, which is the limit; ask us for more."
                raise Problem("state-conflict", text)
            _check_plan(row["refusal"])  # raises inside the transaction: no organization is made on another plan
        return AddedOrganization(row["organization_id"], row["granted_plan"], plan if row["request_id"] else None)

    async def request_plan(self, actor: Actor, plan: str) -> AddedOrganization:
        """Ask for another plan; it is given at once where no approval is needed."""
        actor.require("manage-plan")
        values = (actor.organization, plan, actor.person, actor.name, self.plans_at_once)
        row = await self._act(SQL.request_plan, *values, scope=actor.scope)
        assert row is not None
        _check_plan(row["refusal"])
        return AddedOrganization(actor.organization, row["granted_plan"], plan if row["request_id"] else None)

    async def requested_plan(self, actor: Actor) -> str | None:
        """Return the plan that waits for an operator's approval, or None."""
        row = await self._database.fetch_row(SQL.plan_request, actor.organization, scope=actor.scope)
        return str(row["plan"]) if row else None

    async def keys(self, actor: Actor) -> list[Row]:
        """Return the keys that work, the current one first; never their secrets."""
        return await self._database.fetch(SQL.keys, actor.organization, scope=actor.scope)

    async def issue_key(self, actor: Actor) -> str:
        """Issue the organization's key and return it, once. A second current key is refused."""
        actor.require("manage-key")
        key, key_id, digest = self._mint()
        if await self._act_as(actor, SQL.issue_key, key_id, digest) is None:
            raise Problem(
                "state-conflict", "The organization already has a key, or is suspended; rotate the key instead."
            )
        return key

    async def rotate_key(self, actor: Actor, grace: str) -> str:
        """Replace the current key and return the new one, once.

        The replaced key works for the grace, unless an older key is in its grace: that one keeps the end it was
        promised, and the replaced one ends at once. So two keys work at most.
        """
        actor.require("manage-key")
        key, key_id, digest = self._mint()
        if await self._act_as(actor, SQL.rotate_key, key_id, digest, GRACE_SECONDS[grace]) is None:
            raise Problem(
                "state-conflict",
                "There is no current key to rotate. Issue one; the audit log shows whether another member rotated it.",
            )
        return key

    async def revoke_keys(self, actor: Actor) -> None:
        """Revoke every key that works."""
        actor.require("manage-key")
        await self._act_as(actor, SQL.revoke_keys)

    async def revoke_leaked(self, key: str) -> bool:
        """Revoke a key for its holder. Return False if there is no such key; the time taken does not show which."""
        form = credentials.parse(key)
        if form is None or form.prefix != credentials.KEY_PREFIX:
            return False
        digests = [credentials.keyed_hash(key, pepper) for pepper in self._peppers]
        done = [await self._database.fetch(SQL.revoke_leaked, form.credential_id, digest) for digest in digests]
        return any(done)

    async def members(self, actor: Actor) -> list[Row]:
        """Return the people of the organization."""
        return await self._database.fetch(SQL.members, actor.organization, scope=actor.scope)

    async def change_role(self, actor: Actor, person_id: str, role: str) -> None:
        """Change a member's role; the last owner stays one."""
        member = await self._member(actor, person_id)
        for concerned in (member["role"], role):
            actor.require(right_for(concerned))
        done = await self._act_as(actor, SQL.change_role, member["id"], role, member["role"])
        if not done and member["role"] != role:
            raise Problem("state-conflict", "The role changed in the meantime, or this is the last owner.")

    async def remove_member(self, actor: Actor, person_id: str) -> None:
        """Remove a member; any member may leave, but the last owner cannot."""
        member = await self._member(actor, person_id)
        if member["id"] != actor.person:
            actor.require(right_for(member["role"]))
        done = await self._act_as(actor, SQL.remove_member, member["id"], member["role"])
        if not done:
            raise Problem("state-conflict", "The last owner cannot leave; make another member an owner first.")

    async def invite(self, actor: Actor, email: str, role: str) -> tuple[str, Row]:
        """Invite an address, by mail where the service sends any; return the secret, once, and its id and end."""
        actor.require(right_for(role))
        secret = secrets.token_urlsafe(32)
        sealed = seal_invitation(self._settings.signing_secret, secret) if self._settings.mail_from else None
        row = await self._act_as(actor, SQL.invite, email, role, invitation_hash(secret), sealed)
        if row is None:
            raise Problem("state-conflict", "Another member invited this address at the same time.")
        return secret, row

    async def invitations(self, actor: Actor) -> list[Row]:
        """Return the invitations that can still be accepted."""
        return await self._database.fetch(SQL.invitations, actor.organization, scope=actor.scope)

    async def invitation_mails(self, actor: Actor) -> dict[str, Row]:
        """Return what became of the mails of open invitations: `ended_at` and `refusal` by the invitation's id."""
        rows = await self._database.fetch(SQL.invitation_mails, actor.organization, scope=actor.scope)
        return {row["invitation_id"]: row for row in rows}

    async def show_invitation(self, secret: str) -> Row | None:
        """Return what the invitation of a link is for; None where it cannot be accepted (any more)."""
        return await self._database.fetch_row(SQL.show_invitation, invitation_hash(secret), scope=Scope())

    async def withdraw_invitation(self, actor: Actor, invitation_id: str) -> None:
        """Make an invitation's link stop working."""
        actor.require("manage-members")
        invitation_id = require_uuid(invitation_id, _not_found())
        if await self._act_as(actor, SQL.withdraw_invitation, invitation_id) is None:
            raise Problem("not-found", "There is no open invitation with this ID.")

    async def accept_invitation(self, person: Person, secret: str) -> str:
        """Join the organization; return its id. The invitation must have been sent to the person's own address."""
        values = (invitation_hash(secret), person.id)
        row = await self._act(SQL.accept_invitation, *values, scope=Scope(person=person.id))
        if row is None:
            raise Problem(
                "state-conflict",
                "The invitation was used or withdrawn, or is for an address that is not verified as yours.",
            )
        return str(row["organization_id"])

    async def audit(self, actor: Actor, before: str | None, limit: int, wanted: AuditFilter = EVERY_ENTRY) -> list[Row]:
        """Return the entries of the organization's audit log, the newest first, before the entry of an id."""
        values = (actor.organization, before, limit, wanted.act, wanted.actor, wanted.day)
        return await self._database.fetch(SQL.audit, *values, scope=actor.scope)

    async def audit_page(self, actor: Actor, limit: int, before: str | None) -> tuple[list[Row], int]:
        """Return entries before that of an id, one more than the limit if there are more, and how many there are."""
        [counted] = await self._database.fetch(SQL.audit_count, actor.organization, scope=actor.scope)
        return await self.audit(actor, before, limit + 1), int(counted["total"])

    async def audit_choices(self, actor: Actor) -> tuple[list[str], list[str]]:
        """Return the acts and the actors that the organization's audit log has."""
        [row] = await self._database.fetch(SQL.audit_choices, actor.organization, scope=actor.scope)
        return list(row["acts"]), list(row["actors"])

    async def usage(self, actor: Actor, first: date, last: date) -> list[Row]:
        """Return the calls of the organization by day, endpoint, outcome and credential."""
        return await self._database.fetch(SQL.usage, f"org:{actor.organization}", first, last, scope=actor.scope)

    async def usage_of_token(self, person: Person, token_id: str, first: date, last: date) -> list[Row]:
        """Return the calls made with the person's public token."""
        return await self._database.fetch(SQL.usage, f"token:{token_id}", first, last, scope=Scope(person=person.id))

    async def token(self, person: Person) -> Row | None:
        """Return the person's own public token, without its secret."""
        return await self._database.fetch_row(SQL.token_of, person.id, scope=Scope(person=person.id))

    async def issue_token(self, person: Person) -> str:
        """Issue the person's public token and return it, once; an older one stops working."""
        token, token_id, digest = self._mint(credentials.FREE_PREFIX)
        if (
            await self._act(SQL.issue_token, token_id, digest, person.id, person.name, scope=Scope(person=person.id))
            is None
        ):
            raise Problem("state-conflict", "Another token was issued at the same time; use that one.")
        return token

    async def revoke_token(self, person: Person) -> None:
        """Revoke the person's public token."""
        await self._database.fetch(SQL.revoke_token, person.id, scope=Scope(person=person.id))

    def _mint(self, prefix: str = credentials.KEY_PREFIX) -> tuple[str, str, bytes]:
        text = credentials.mint(prefix)
        form = credentials.parse(text)
        assert form is not None
        return text, form.credential_id, credentials.keyed_hash(text, self._peppers[0])

    async def _member(self, actor: Actor, person_id: str) -> Row:
        person_id = require_uuid(person_id, _not_found())
        members = [row for row in await self.members(actor) if row["id"] == person_id]
        if not members:
            raise Problem("not-found", "There is no member with this ID.")
        return members[0]

    async def _act_as(self, actor: Actor, query: str, *values: object) -> Row | None:
        """Run an act of a member: its values stand between the organization, and the member's id and name."""
        return await self._act(query, actor.organization, *values, actor.person, actor.name, scope=actor.scope)

    async def _act(self, query: str, *values: object, scope: Scope) -> Row | None:
        """Run an act; None where a unique index stops it: of two at the same moment the other one was first.

        PostgreSQL checks the role itself: it may have changed since it was read here.
        """
        try:
            rows = await self._database.fetch(query, *values, scope=scope)
            return rows[0] if rows else None
        except asyncpg.UniqueViolationError:
            return None
        except asyncpg.InsufficientPrivilegeError:
            raise Problem("insufficient-role", "Your role in the organization has changed; ask an owner.") from None


def _check_plan(refusal: str | None) -> None:
    details = {
        "no-such-plan": "There is no such plan for organizations; the dashboard lists them.",
        "not-self-service": "This plan is not self-service: choose another, or contact us.",
        "has-it": "The organization already has this plan.",
        "waiting": "A plan request is already awaiting approval.",
    }
    if refusal is not None:
        raise Problem("state-conflict", details[refusal])


def invitation_hash(secret: str) -> bytes:
    """Return what is stored of an invitation's secret: 256 random bits need no key and no salt."""
    return hashlib.sha256(secret.encode()).digest()


def _not_found() -> Problem:
    return Problem("not-found", "There is nothing with this ID.")
