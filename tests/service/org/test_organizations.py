"""Organizations: who may do what, one key at a time, and every act in the audit log."""

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from shared.db.connect import connect
from shared.organizations.accounts import SQL
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.service.org.conftest import SignedIn
from tests.support.accounts import api_key
from tests.support.client import running_edge
from tests.support.database import execute
from workers.dispatcher.retention import statements


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
