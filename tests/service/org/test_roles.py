"""What each role may do, and invitations."""

import asyncio
from typing import Any

import pytest

from edge.http.problems import Problem
from edge.organizations.service import OrganizationService
from tests.service.org.conftest import SignedIn
from tests.support.database import execute
from tests.support.workers import sweep


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
