"""Organizations: who may do what, one key at a time, and every act in the audit log."""

import asyncio
from pathlib import Path

import pytest

from shared.db.connect import connect
from shared.organizations.roles import SQL
from tests.service.org.conftest import SignedIn
from tests.support.client import running_edge


async def test_from_nothing_to_a_key_that_works(signed_in: SignedIn) -> None:
    assert (await signed_in.ask("GET", "/org")).status == 404
    organization = await signed_in.organization()
    key = await signed_in.key()
    assert await signed_in.works(key) == 200
    shown = (await signed_in.ask("GET", "/org")).json
    assert (shown["id"], shown["role"], shown["plan"]) == (organization, "owner", "brand")
    assert [k["key_id"] for k in shown["keys"]] == [key[10:20]]
    assert key not in str(shown)
    assert (await signed_in.ask("POST", "/org/api-key")).status == 409


async def test_a_plan_that_operators_give_cannot_be_taken(signed_in: SignedIn) -> None:
    for plan in ("institutional", "anonymous", "no-such"):
        assert (await signed_in.ask("POST", "/org", body={"name": "Acme", "plan": plan})).status == 409
    assert (await signed_in.ask("GET", "/org")).status == 404, "a refused plan leaves no organization behind"


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


async def test_a_suspended_organization_is_refused_within_a_second_and_can_read_why(
    signed_in: SignedIn, suspended_organization: tuple[str, str]
) -> None:
    organization, key = suspended_organization
    await signed_in.until(key, 401)
    assert (await signed_in.ask("GET", "/org")).json["state"] == "suspended"
    signed_in.set_state(organization, "active")
    await signed_in.until(key, 200)


async def test_a_change_of_plan_counts_within_a_second(signed_in: SignedIn) -> None:
    organization = await signed_in.organization()
    key = await signed_in.key()
    assert (await signed_in.edge.get("/quota", key=key)).json["limits"][0]["limit"] == 50_000
    with connect(signed_in.edge.settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute(SQL.change_plan, (organization, "institutional", "operator"))
        async with asyncio.timeout(1):
            while (await signed_in.edge.get("/quota", key=key)).json["limits"][0]["limit"] != 1_000_000:
                await asyncio.sleep(0.01)
        connection.execute("UPDATE plans SET daily_units = 7 WHERE name = 'institutional'")
        async with asyncio.timeout(1):
            while (await signed_in.edge.get("/quota", key=key)).json["limits"][0]["limit"] != 7:
                await asyncio.sleep(0.01)
    assert (await signed_in.ask("GET", "/org/audit")).json["data"][0]["act"] == "plan.changed"


async def test_the_audit_log_has_pages_and_no_secrets(signed_in: SignedIn) -> None:
    await signed_in.organization()
    secrets = [await signed_in.key()]
    for _ in range(4):
        secrets.append((await signed_in.ask("POST", "/org/api-key/rotations")).json["key"])
    seen, cursor = [], ""
    while cursor is not None:
        page = (await signed_in.ask("GET", f"/org/audit?limit=2{cursor and '&cursor='}{cursor}")).json
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


@pytest.mark.parametrize("name", ["members", "invitations", "usage", "audit"])
async def test_each_list_has_the_envelope_of_all_lists(signed_in: SignedIn, name: str) -> None:
    organization = await signed_in.organization()
    found = (await signed_in.ask("GET", f"/org/{name}?organization={organization}")).json
    assert found.keys() == {"data", "count", "total", "next_cursor", "query", "data_version"}
    assert found["count"] == len(found["data"])
    assert found["total"] == {"value": found["count"], "relation": "eq"}
    assert (found["next_cursor"], found["query"]["organization"]) == (None, organization)


BAD_BODIES = [
    b'{"name":"one","name":"two"}',
    b'{"name":' + b"[" * 40 + b"]" * 40 + b"}",
    b"{",
    b"[]",
    b'{"name":1}',
    b'{"name":""}',
    b'{"name":"a","more":1}',
    b'{"name":NaN}',
    b"[" * 50_000,
    b'{"name":"a\\u0000b"}',
    b"\xff",
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
