"""What each role may do, and invitations."""

import asyncio
from typing import Any

import pytest

from edge.http.problems import Problem
from edge.organizations.service import OrganizationService
from tests.service.org.conftest import SignedIn


@pytest.mark.parametrize(("role", "allowed"), [("admin", True), ("member", False), ("viewer", False)])
async def test_only_owners_and_admins_touch_keys_and_people(signed_in: SignedIn, role: str, allowed: bool) -> None:
    await signed_in.organization()
    await signed_in.key()
    await signed_in.join("bob", role)
    acts: list[tuple[str, str, Any]] = [
        ("POST", "/org/api-key/rotations", None),
        ("DELETE", "/org/api-key", None),
        ("POST", "/org/api-key", None),
        ("POST", "/org/invitations", {"email": "eve@example.org", "role": "viewer"}),
    ]
    for method, path, body in acts:
        answer = await signed_in.ask(method, path, "bob", body)
        assert answer.status in ((200, 201, 204) if allowed else (403,)), (path, answer)
    assert (await signed_in.ask("GET", "/org/members", "bob")).json["count"] == 2
    assert (await signed_in.ask("GET", "/org/audit", "bob")).status == 200


async def test_an_admin_cannot_make_or_unmake_owners(signed_in: SignedIn) -> None:
    await signed_in.organization()
    bob = await signed_in.join("bob", "admin")
    ada = next(m["id"] for m in (await signed_in.ask("GET", "/org/members")).json["data"] if m["role"] == "owner")
    assert (await signed_in.ask("PATCH", f"/org/members/{bob}", "bob", {"role": "owner"})).status == 403
    assert (await signed_in.ask("DELETE", f"/org/members/{ada}", "bob")).status == 403
    assert (await signed_in.ask("PATCH", f"/org/members/{ada}", "bob", {"role": "viewer"})).status == 403


async def test_a_member_leaves_by_any_spelling_of_the_own_id(signed_in: SignedIn) -> None:
    await signed_in.organization()
    bob = await signed_in.join("bob", "viewer")
    assert (await signed_in.ask("DELETE", f"/org/members/{bob.upper()}", "bob")).status == 204


async def test_the_last_owner_stays(signed_in: SignedIn) -> None:
    await signed_in.organization()
    bob = await signed_in.join("bob", "admin")
    ada = next(m["id"] for m in (await signed_in.ask("GET", "/org/members")).json["data"] if m["role"] == "owner")
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
