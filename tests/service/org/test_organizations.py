"""Organizations: members, plans, keys, and who may change them."""

import asyncio
import base64
import hashlib
import hmac
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from click.testing import CliRunner

from deploy.ctl.accounts import orgs
from edge.http.problems import Problem
from edge.organizations.service import OrganizationService
from shared.db.connect import connect
from shared.errors import ConfigurationError
from shared.organizations.accounts import SQL
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.service.org.conftest import SignedIn
from tests.support.accounts import api_key
from tests.support.client import running_edge
from tests.support.database import execute
from tests.support.issuer import Issuer
from tests.support.workers import sweep
from workers.dispatcher.retention import statements

# Organizations: who may do what, one key at a time, and every act in the audit log.


async def test_from_nothing_to_a_key_that_works_and_back(signed_in: SignedIn) -> None:
    assert (await signed_in.ask("GET", "/org")).status == 404
    organization = await signed_in.organization()
    key = await signed_in.key()
    assert await signed_in.works(key) == 200
    shown = (await signed_in.ask("GET", "/org")).json
    assert (shown["id"], shown["role"], shown["plan"]) == (organization, "owner", "brand")
    assert [k["key_id"] for k in shown["keys"]] == [key[10:20]]
    assert key not in str(shown)
    assert (await signed_in.ask("POST", "/org/api-key")).status == 409
    rotated = (await signed_in.ask("POST", "/org/api-key/rotations", body={"grace": "1h"})).json["key"]
    assert (await signed_in.ask("DELETE", "/org/api-key")).status == 204
    for stopped in (key, rotated):
        await signed_in.until(stopped, 401)
    assert await signed_in.works(await signed_in.key()) == 200, "after all keys were revoked another one can be issued"


def test_revoking_all_keys_beside_a_rotation_leaves_none_that_works(settings: Settings) -> None:
    api_key(settings)
    revoked: list[Any] = []
    with connect(settings.database_url, application="tests") as connection:
        row = connection.execute("SELECT organization_id::text FROM api_keys").fetchone()
        assert row is not None
        rotation = (row[0], "new", b"hash", 60, None, "tests")
        assert connection.execute(SQL.rotate_key, rotation).fetchone() is not None

        def revoke() -> None:
            with connect(settings.database_url, application="revocation") as other:
                revoked.extend(other.execute(SQL.revoke_keys, (row[0], None, "tests")).fetchall())

        revoking = threading.Thread(target=revoke)
        revoking.start()
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))"
        with connect(settings.database_url, application="tests", autocommit=True) as watching:
            while revoking.is_alive() and watching.execute(waiting, (connection.info.backend_pid,)).fetchone() == (0,):
                revoking.join(0.01)
        connection.commit()
        revoking.join(30)
        assert len(revoked) == 2
        assert connection.execute("SELECT count(*) FROM api_keys WHERE revoked_at IS NULL").fetchone() == (0,)


async def test_use_is_reported_by_day_endpoint_outcome_and_key(signed_in: SignedIn) -> None:
    await signed_in.organization()
    key = await signed_in.key()
    for path in ("/index/brands", "/index/brands", "/index/lookup/IID-A", "/index/lookup/nonsense"):
        await signed_in.edge.get(path, key=key)
    await signed_in.edge.resources.usage.flush()
    rows = (await signed_in.ask("GET", "/org/usage")).json["data"]
    reported = {
        (r["endpoint"], r["outcome"]): (r["calls"], r["units"])
        for r in rows
        if r["credential"] == f"api-key:{key[10:20]}"
    }
    assert reported == {("brands", "served"): (2, 2), ("lookup", "not-found"): (1, 1), ("lookup", "rejected"): (1, 0)}
    sheet = await signed_in.ask("GET", "/org/usage?format=csv", check=False)
    assert sheet.head["Content-Type"].startswith("text/csv")
    assert b"brands,served,api-key:" in sheet.body
    shown = (await signed_in.ask("GET", "/org")).json["keys"][0]
    assert shown["last_used_network"] == "192.0.2.1" and shown["last_used_at"]
    for query in ("from=2026-02-30", "from=2027-01-01&to=2026-01-01", "from=2020-01-01&to=2026-01-01", "format=xml"):
        assert (await signed_in.ask("GET", f"/org/usage?{query}")).status == 400


def test_usage_statistics_end_with_their_time(settings: Settings) -> None:
    execute(
        settings,
        "INSERT INTO usage SELECT 'org:a', (now() AT TIME ZONE 'UTC')::date - ago, 'api-key:a', 'lookup', 'served', 1, 1 "
        "FROM unnest(ARRAY[0, 365, 400, 401]) ago",
    )
    kept = replace(settings, usage_retention_days=400)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        for _ in range(2):
            [deleting] = [one for one in statements(kept) if one.name == "delete-usage"]
            deleting.execute(connection, Log("tests"))
    ages = "SELECT (now() AT TIME ZONE 'UTC')::date - day FROM usage ORDER BY day DESC"
    assert execute(settings, ages) == [(0,), (365,), (400,)]


async def test_a_suspension_or_a_change_of_plan_counts_within_a_second(signed_in: SignedIn) -> None:
    for plan in ("institutional", "anonymous", "no-such"):
        assert (await signed_in.ask("POST", "/org", body={"name": "Acme", "plan": plan})).status == 409, plan
    assert (await signed_in.ask("GET", "/org")).status == 404, "a refused plan leaves no organization behind"
    organization = await signed_in.organization()
    key = await signed_in.key()
    assert (await signed_in.edge.get("/quota", key=key)).json["limits"][0]["limit"] == 50_000
    signed_in.set_state(organization, "suspended")
    await signed_in.until(key, 401)
    assert (await signed_in.ask("GET", "/org")).json["state"] == "suspended"
    signed_in.set_state(organization, "active")
    await signed_in.until(key, 200)
    with connect(signed_in.edge.settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute(SQL.change_plan, (organization, "institutional", "operator"))
        await _until_limit(signed_in, key, 1_000_000)
        connection.execute("UPDATE plans SET daily_units = 7 WHERE name = 'institutional'")
        await _until_limit(signed_in, key, 7)
    assert (await signed_in.ask("GET", "/org/audit")).json["data"][0]["act"] == "plan.changed"


async def _until_limit(signed_in: SignedIn, key: str, limit: int) -> None:
    async with asyncio.timeout(10):
        while (await signed_in.edge.get("/quota", key=key)).json["limits"][0]["limit"] != limit:
            await asyncio.sleep(0.01)


async def test_the_audit_log_has_pages_and_no_secrets(signed_in: SignedIn) -> None:
    await signed_in.organization()
    secrets = [await signed_in.key()]
    for _ in range(4):
        secrets.append((await signed_in.ask("POST", "/org/api-key/rotations")).json["key"])
    seen, cursor, limit = [], "", 2
    while cursor is not None:
        # A cursor is bound to the organization alone: a later page may be of another length.
        page = (await signed_in.ask("GET", f"/org/audit?limit={limit}{cursor and '&cursor='}{cursor}")).json
        limit += 1
        seen += page["data"]
        assert page["total"] == {"value": 7, "relation": "eq"}
        cursor = page["next_cursor"]
    assert [entry["act"] for entry in seen] == ["key.rotated"] * 4 + [
        "key.issued",
        "plan.changed",
        "organization.created",
    ]
    assert not any(secret[20:52] in str(seen) for secret in secrets)
    assert (await signed_in.ask("GET", "/org/audit?cursor=AAAA")).status == 400


BAD_BODIES = [
    b"{",
    b"[]",
    b'{"name":1}',
    b'{"name":""}',
    b'{"name":"a","more":1}',
    b'{"name":"a\\u0000b"}',
    # Control characters, also those of Unicode.
    b'{"name":"a\\nb"}',
    b'{"name":"\\u001b]0;x\\u0007"}',
    b'{"name":"a\\u202eb"}',
    b'{"name":"a\\u2028b"}',
    b'{"name":"\\u200b"}',
    b'{"name":"a\\tb"}',
]


async def test_a_bad_body_is_400_and_never_an_internal_error(signed_in: SignedIn) -> None:
    token = signed_in.issuer.token()
    for body in BAD_BODIES:
        answer = await signed_in.edge.ask(
            "POST", "/org", anonymous=False, head={"Authorization": f"Bearer {token}"}, body=body
        )
        assert answer.status == 400, body
    form = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-www-form-urlencoded"}
    assert (await signed_in.edge.ask("POST", "/org", anonymous=False, head=form, body=b"name=a")).status == 415


async def test_another_edge_knows_a_change_at_once_also_without_a_notice(signed_in: SignedIn, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    settings = signed_in.edge.settings
    async with running_edge(settings, folder) as edge:
        other = SignedIn(edge, signed_in.issuer)
        await edge.resources.listener.stop()
        assert (await other.ask("GET", "/org")).status == 404, "the other edge remembers a person of no organization"
        organization = await signed_in.organization()
        assert (await other.ask("POST", f"/org/api-key?organization={organization}")).status == 201
        assert (await other.ask("GET", "/")).json["organization"]["id"] == organization
        bob = await signed_in.join("bob", "admin")
        assert (await other.ask("GET", "/org/members", "bob")).status == 200
        assert (await signed_in.ask("PATCH", f"/org/members/{bob}", body={"role": "viewer"})).status == 204
        assert (await other.ask("POST", "/org/api-key/rotations", "bob")).status == 403


# What each role may do, and invitations.


async def test_only_owners_and_admins_touch_keys_and_people(signed_in: SignedIn) -> None:
    await signed_in.organization()
    await signed_in.key()
    acts: list[tuple[str, str, Any]] = [
        ("POST", "/org/api-key/rotations", None),
        ("DELETE", "/org/api-key", None),
        ("POST", "/org/api-key", None),
        ("POST", "/org/invitations", {"email": "eve@example.org", "role": "viewer"}),
    ]
    for who, role in (("mia", "member"), ("vic", "viewer"), ("bob", "admin")):
        await signed_in.join(who, role)
        for method, path, body in acts:
            answer = await signed_in.ask(method, path, who, body)
            assert answer.status in ((200, 201, 204) if role == "admin" else (403,)), (role, path, answer)
        assert (await signed_in.ask("GET", "/org/members", who)).json["count"] >= 2, role
        assert (await signed_in.ask("GET", "/org/audit", who)).status == 200, role


async def test_an_admin_makes_and_unmakes_no_owner_and_the_last_owner_stays(signed_in: SignedIn) -> None:
    await signed_in.organization()
    bob = await signed_in.join("bob", "admin")
    vic = await signed_in.join("vic", "viewer")
    ada = next(m["id"] for m in (await signed_in.ask("GET", "/org/members")).json["data"] if m["role"] == "owner")
    assert (await signed_in.ask("PATCH", f"/org/members/{bob}", "bob", {"role": "owner"})).status == 403
    assert (await signed_in.ask("DELETE", f"/org/members/{ada}", "bob")).status == 403
    assert (await signed_in.ask("PATCH", f"/org/members/{ada}", "bob", {"role": "viewer"})).status == 403
    left = await signed_in.ask("DELETE", f"/org/members/{vic.upper()}", "vic")
    assert left.status == 204, "a member leaves by any spelling of the own id"

    assert (await signed_in.ask("DELETE", f"/org/members/{ada}")).status == 409
    assert (await signed_in.ask("PATCH", f"/org/members/{ada}", body={"role": "viewer"})).status == 409
    assert (await signed_in.ask("PATCH", f"/org/members/{bob}", body={"role": "owner"})).status == 204
    signed_in.edge.resources.users.invalidate()
    both = await asyncio.gather(
        signed_in.ask("PATCH", f"/org/members/{bob}", "ada", {"role": "viewer"}),
        signed_in.ask("PATCH", f"/org/members/{ada}", "bob", {"role": "viewer"}),
    )
    assert sorted(answer.status for answer in both) in ([204, 403], [204, 409])
    owners = [m for m in (await signed_in.ask("GET", "/org/members")).json["data"] if m["role"] == "owner"]
    assert len(owners) == 1


async def test_another_organization_is_as_absent_as_one_that_does_not_exist(signed_in: SignedIn) -> None:
    await signed_in.organization()
    ada = (await signed_in.ask("GET", "/org/members")).json["data"][0]["id"]
    theirs = await signed_in.organization("eve", "Other")
    unknown = "01890000-0000-7000-8000-000000000000"
    for path in ("/org", "/org/members", "/org/usage", "/org/audit", "/org/invitations"):
        foreign, missing = [await signed_in.ask("GET", f"{path}?organization={i}") for i in (theirs, unknown)]
        assert foreign.status == missing.status == 404
        assert foreign.json["detail"] == missing.json["detail"]
    for person in (ada, unknown, "no-uuid"):
        assert (await signed_in.ask("DELETE", f"/org/members/{person}", "eve")).status == 404


async def test_an_invitation_is_for_one_address_once(signed_in: SignedIn) -> None:
    await signed_in.organization()
    await signed_in.join("bob", "viewer")
    link = (await signed_in.ask("POST", "/org/invitations", body={"email": "carol@example.org", "role": "viewer"})).json
    people = signed_in.edge.resources.users
    acts = OrganizationService(signed_in.edge.resources.database, signed_in.edge.settings)
    secret = link["link"].partition("#")[2]
    with pytest.raises(Problem, match="state-conflict"):
        await acts.accept_invitation(await people.authenticate(signed_in.issuer.token("eve")), secret)
    assert (await signed_in.ask("DELETE", f"/org/invitations/{link['id']}")).status == 204
    with pytest.raises(Problem, match="state-conflict"):
        await acts.accept_invitation(await people.authenticate(signed_in.issuer.token("carol")), secret)


async def test_a_month_after_its_end_an_invitation_is_deleted_with_its_address(signed_in: SignedIn) -> None:
    await signed_in.organization()
    await signed_in.join("bob", "viewer")
    for name in ("carol", "dan", "eve"):
        body = {"email": f"{name}@example.org", "role": "viewer"}
        made = (await signed_in.ask("POST", "/org/invitations", body=body)).json
        if name == "carol":
            assert (await signed_in.ask("DELETE", f"/org/invitations/{made['id']}")).status == 204
    settings = signed_in.edge.settings
    ended = {"bob": "accepted_at", "carol": "revoked_at", "dan": "expires_at"}
    for name, column in ended.items():
        move = f"UPDATE invitations SET {column} = now() - interval '29 days' WHERE email = $1"
        execute(settings, move, f"{name}@example.org")
    sweep(settings)
    assert len(execute(settings, "SELECT email FROM invitations")) == 4
    for name, column in ended.items():
        move = f"UPDATE invitations SET {column} = now() - interval '31 days' WHERE email = $1"
        execute(settings, move, f"{name}@example.org")
    sweep(settings)
    assert execute(settings, "SELECT email FROM invitations") == [("eve@example.org",)]


async def test_a_member_who_accepts_an_invitation_keeps_their_role_and_joins_once(signed_in: SignedIn) -> None:
    await signed_in.organization()
    for role in ("admin", "viewer"):
        await signed_in.join("bob", role)
    members = (await signed_in.ask("GET", "/org/members")).json["data"]
    assert sorted(member["role"] for member in members) == ["admin", "owner"]
    entries = (await signed_in.ask("GET", "/org/audit")).json["data"]
    assert [entry["subject"] for entry in entries if entry["act"] == "member.joined"] == ["admin"]


# Plans and limits of people: no person gives themselves a paid plan, or makes organizations or calls without end.


SECRET = "a secret that signs notices, long enough"


@pytest.fixture
async def approved(settings: Settings, tmp_path: Path, issuer: Issuer) -> AsyncIterator[SignedIn]:
    """An edge where an operator approves each plan."""
    chosen = replace(settings, oidc_issuer=issuer.url, plan_approval="manual")
    async with running_edge(chosen, tmp_path) as edge:
        yield SignedIn(edge, issuer)


def operator(settings: Settings, *arguments: str) -> Any:
    """Run `itemindex orgs …` as an operator does."""
    done = CliRunner(env={"DATABASE_URL": settings.database_url}).invoke(orgs, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout


async def test_a_new_organization_begins_free_and_an_operator_approves_the_plan(approved: SignedIn) -> None:
    made = (await approved.ask("POST", "/org", body={"name": "Acme", "plan": "institutional"})).json
    assert (made["plan"], made["requested_plan"]) == ("free", "institutional")
    key = await approved.key()
    before = (await approved.edge.get("/quota", key=key)).json
    assert (before["plan"], before["limits"][0]["limit"]) == ("free", 100)
    assert (await approved.edge.get("/index/cohorts?brand=x", key=key)).status == 403
    settings = approved.edge.settings
    [waiting] = msgspec.json.decode(operator(settings, "list", "--requests", "--json"))
    assert (waiting["id"], waiting["requested_plan"]) == (made["id"], "institutional")
    operator(settings, "set", made["id"], "--request", "approve", "--plan", "brand")
    async with asyncio.timeout(10):
        while (await approved.edge.get("/quota", key=key)).json["plan"] != "brand":
            await asyncio.sleep(0.01)
    shown = (await approved.ask("GET", "/org")).json
    assert (shown["plan"], shown["requested_plan"]) == ("brand", None)
    assert msgspec.json.decode(operator(settings, "list", "--requests", "--json")) == []
    acts = [entry["act"] for entry in (await approved.ask("GET", "/org/audit")).json["data"]]
    assert acts == ["plan.changed", "key.issued", "plan.requested", "organization.created"]


async def test_a_declined_plan_leaves_the_free_one_and_may_be_asked_for_again(approved: SignedIn) -> None:
    organization = (await approved.ask("POST", "/org", body={"name": "Acme"})).json["id"]
    assert (await approved.ask("POST", "/org/plan-requests", body={"plan": "brand"})).status == 409
    operator(approved.edge.settings, "set", organization, "--request", "decline")
    again = await approved.ask("POST", "/org/plan-requests", body={"plan": "brand"})
    assert (again.status, again.json["plan"], again.json["requested_plan"]) == (201, "free", "brand")
    await approved.join("bob", "admin")
    assert (await approved.ask("POST", "/org/plan-requests", "bob", {"plan": "brand"})).status == 403


async def test_a_person_makes_no_more_organizations_than_the_limit_however_many_ask_at_once(approved: SignedIn) -> None:
    answers = await asyncio.gather(*(approved.ask("POST", "/org", body={"name": f"A{n}"}) for n in range(30)))
    limit = approved.edge.settings.organizations_per_person_max
    assert sorted(answer.status for answer in answers) == [201] * limit + [409] * (30 - limit)
    assert (await approved.ask("POST", "/org", "eve", {"name": "Hers"})).status == 201


async def test_calls_about_organizations_have_a_limit_per_person_at_every_address(
    settings: Settings, tmp_path: Path, issuer: Issuer
) -> None:
    chosen = replace(settings, oidc_issuer=issuer.url, person_calls_per_day=6)
    async with running_edge(chosen, tmp_path) as edge:
        signed_in = SignedIn(edge, issuer)
        answers = [await signed_in.ask("GET", "/org", address=f"192.0.2.{n}") for n in range(9)]
        assert [answer.status for answer in answers] == [404] * 6 + [429] * 3
        assert (answers[-1].json["policy"], answers[-1].json["limit"]) == ("person-daily", 6)
        assert int(answers[-1].head["Retry-After"]) >= 1
        assert (await signed_in.ask("GET", "/org", "eve")).status == 404
        assert (await signed_in.ask("GET", "/index/brands")).status == 200
        wrong = [await signed_in.ask("POST", "/org", "bob", {"nam": "Acme"}) for _ in range(7)]
        assert [answer.status for answer in wrong] == [400] * 6 + [429], "calls with wrong parameters count as well"
        assert (await signed_in.ask("GET", "/org?organization=x", "bob")).status == 429


@dataclass
class Billing:
    """A billing system on loopback. `statuses` are its next answers; then it takes everything."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    posts: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, request: web.Request) -> web.Response:
        """Take a notice."""
        self.posts.append((dict(request.headers), await request.read()))
        self.came.set()
        status = self.statuses.pop(0) if self.statuses else 204
        return web.Response(status=status, headers={"Location": "/elsewhere"} if status == 302 else None)

    async def next(self) -> tuple[dict[str, str], bytes]:
        """Wait for a notice and return its header fields and body."""
        async with asyncio.timeout(10):
            await self.came.wait()
        self.came.clear()
        return self.posts[-1]


async def test_a_billing_system_is_sent_a_signed_notice_until_it_takes_it(
    settings: Settings, tmp_path: Path, issuer: Issuer
) -> None:
    billing = Billing(statuses=[500, 302])
    app = web.Application()
    app.router.add_post("/notices", billing.take)
    async with TestServer(app) as server:
        url = str(server.make_url("/notices"))
        chosen = replace(
            settings,
            oidc_issuer=issuer.url,
            plan_approval="webhook",
            plan_approval_url=url,
            plan_approval_secret=SECRET,
        )
        async with running_edge(chosen, tmp_path) as edge:
            signed_in = SignedIn(edge, issuer)
            made = (await signed_in.ask("POST", "/org", body={"name": "Acme"})).json
            for _ in range(3):
                head, body = await billing.next()
                edge.resources.plan_notices.wake()
            signed = b".".join((head["webhook-id"].encode(), head["webhook-timestamp"].encode(), body))
            expected = base64.b64encode(hmac.digest(SECRET.encode(), signed, hashlib.sha256)).decode()
            assert head["webhook-signature"] == f"v1,{expected}"
            notice = msgspec.json.decode(body)
            assert notice["data"]["organization_id"] == made["id"]
            assert notice["data"]["requested_plan"] == "brand"
            assert len({post[0]["webhook-id"] for post in billing.posts}) == 1
            await _until_noted(edge.settings)
            assert len(billing.posts) == 3, "a redirect is not followed, and what was taken is not sent again"
            assert (await signed_in.ask("GET", "/org")).json["plan"] == "free"


async def _until_noted(settings: Settings) -> None:
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        async with asyncio.timeout(10):
            query = "SELECT count(*) FROM plan_requests WHERE notified_at IS NULL"
            while connection.execute(query).fetchone() != (0,):
                await asyncio.sleep(0.01)


def test_an_unusable_way_of_approval_is_refused_at_the_start() -> None:
    assert Settings.from_environment({}).plan_approval == "manual"
    webhook = {"PLAN_APPROVAL": "webhook"}
    for given in (
        {"PLAN_APPROVAL": "auto"},
        webhook,
        {**webhook, "PLAN_APPROVAL_URL": "https://billing.example"},
        {**webhook, "PLAN_APPROVAL_URL": "file:///etc/passwd", "PLAN_APPROVAL_SECRET": SECRET},
    ):
        with pytest.raises(ConfigurationError, match="PLAN_APPROVAL"):
            Settings.from_environment(given)


# One key at a time: issue, rotation with and without a grace, revocation.


def _end_graces(signed_in: SignedIn) -> None:
    execute(signed_in.edge.settings, "UPDATE api_keys SET expires_at = now() WHERE expires_at > now()")


async def test_rotation_with_a_grace_keeps_both_keys_working(signed_in: SignedIn) -> None:
    await signed_in.organization()
    old = await signed_in.key()
    new = (await signed_in.ask("POST", "/org/api-key/rotations", body={"grace": "1h"})).json["key"]
    assert [await signed_in.works(key) for key in (old, new)] == [200, 200]
    keys = (await signed_in.ask("GET", "/org")).json["keys"]
    assert [(k["key_id"], k["expires_at"] is None) for k in keys] == [(new[10:20], True), (old[10:20], False)]
    _end_graces(signed_in)
    await signed_in.until(old, 401)
    assert await signed_in.works(new) == 200
    newest = (await signed_in.ask("POST", "/org/api-key/rotations")).json["key"]
    await signed_in.until(new, 401)
    assert await signed_in.works(newest) == 200, "without a grace the old key stops at once"


async def test_a_second_rotation_keeps_the_grace_that_was_promised_and_two_keys_at_most(signed_in: SignedIn) -> None:
    for who, grace in (("ada", "none"), ("bob", "1h"), ("eve", "24h")):
        await signed_in.organization(who)
        old = await signed_in.key(who)
        first = (await signed_in.ask("POST", "/org/api-key/rotations", who, {"grace": "24h"})).json
        second = (await signed_in.ask("POST", "/org/api-key/rotations", who, {"grace": grace})).json
        await signed_in.until(first["key"], 401)
        assert [await signed_in.works(key) for key in (old, second["key"])] == [200, 200], grace
        ends = {entry["key_id"]: entry["expires_at"] for entry in second["keys"]}
        promised = next(entry["expires_at"] for entry in first["keys"] if entry["key_id"] == old[10:20])
        assert ends == {second["key_id"]: None, old[10:20]: promised}, grace
        shown = (await signed_in.ask("GET", "/org", who)).json["keys"]
        assert {entry["key_id"]: entry["expires_at"] for entry in shown} == ends, grace


async def test_no_call_fails_while_a_key_is_rotated_with_a_grace(signed_in: SignedIn) -> None:
    execute(signed_in.edge.settings, "UPDATE plans SET burst_units = 1000000 WHERE name = 'brand'")
    signed_in.edge.forget_accounts()
    await signed_in.organization()
    key, stop = [await signed_in.key()], asyncio.Event()
    statuses: list[list[int]] = [[] for _ in range(4)]

    async def call(reported: list[int]) -> None:
        while not stop.is_set():
            reported.append(await signed_in.works(key[0]))

    callers = [asyncio.create_task(call(reported)) for reported in statuses]
    for _ in range(5):
        key[0] = (await signed_in.ask("POST", "/org/api-key/rotations", body={"grace": "1h"})).json["key"]
        reached = [len(reported) + 5 for reported in statuses]
        while any(len(reported) < least for reported, least in zip(statuses, reached, strict=True)):
            await asyncio.sleep(0)  # until no call is under way with the replaced key
        # As time would: while a grace lasts, the next rotation has none to give. In a thread, so that a slow database
        # does not stop the loop on which the edge waits for its stores, too.
        await asyncio.to_thread(_end_graces, signed_in)
    stop.set()
    await asyncio.gather(*callers)
    assert {status for reported in statuses for status in reported} == {200}


async def test_of_many_rotations_at_once_the_audit_log_knows_each_that_happened(signed_in: SignedIn) -> None:
    await signed_in.organization()
    await signed_in.key()
    answers = await asyncio.gather(*(signed_in.ask("POST", "/org/api-key/rotations") for _ in range(20)))
    done = sum(answer.status == 201 for answer in answers)
    assert {answer.status for answer in answers} <= {201, 409} and done >= 1
    audit = (await signed_in.ask("GET", "/org/audit")).json["data"]
    assert sum(entry["act"] == "key.rotated" for entry in audit) == done
    assert len((await signed_in.ask("GET", "/org")).json["keys"]) == 1


async def test_a_holder_of_a_leaked_key_can_revoke_it(signed_in: SignedIn) -> None:
    await signed_in.organization()
    key = await signed_in.key()
    wrong = key[:-8] + ("A" if key[-8] != "A" else "B") + key[-7:]
    for text in ("nonsense", wrong, key[:20]):
        assert (
            await signed_in.edge.ask(
                "POST", "/org/api-key/revocations", anonymous=False, body=b'{"key":"%b"}' % text.encode()
            )
        ).status == 204
    assert await signed_in.works(key) == 200
    assert (
        await signed_in.edge.ask(
            "POST", "/org/api-key/revocations", anonymous=False, body=b'{"key":"%b"}' % key.encode()
        )
    ).status == 204
    await signed_in.until(key, 401)
    assert (await signed_in.ask("GET", "/org/audit")).json["data"][0]["act"] == "key.reported-leaked"
