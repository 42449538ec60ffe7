"""Idempotency-Key on /org: one act for all repetitions, with the answer of the first, also when its connection was lost."""

import asyncio
from typing import Any

from shared.db.connect import connect
from tests.service.org.conftest import SignedIn
from tests.support.database import execute
from tests.support.workers import sweep

ROTATIONS = "/org/api-key/rotations"


async def _acts(signed_in: SignedIn, name: str) -> int:
    rows = (await signed_in.ask("GET", "/org/audit?limit=200")).json["data"]
    return sum(row["act"] == name for row in rows)


async def test_of_many_rotations_at_once_under_one_key_one_happens(signed_in: SignedIn) -> None:
    await signed_in.organization()
    production = await signed_in.key()
    head = {"Idempotency-Key": "many"}
    rotations = (signed_in.ask("POST", ROTATIONS, body={"grace": "24h"}, head=head) for _ in range(50))
    answers = await asyncio.gather(*rotations)
    assert {answer.status for answer in answers} <= {201, 409}
    assert {answer.json["type"].rpartition("/")[2] for answer in answers if answer.status == 409} <= {
        "idempotency-in-progress"
    }
    keys = {answer.json["key"] for answer in answers if answer.status == 201}
    assert len(keys) == 1
    assert await _acts(signed_in, "key.rotated") == 1
    again = await signed_in.ask("POST", ROTATIONS, body={"grace": "24h"}, head=head)
    assert (again.status, {again.json["key"]}) == (201, keys), "a later repetition has the same answer"
    assert [await signed_in.works(key) for key in (production, *keys)] == [200, 200], "the first key has its grace"


async def test_while_a_request_is_under_way_its_repetition_is_refused_at_once(signed_in: SignedIn) -> None:
    await signed_in.organization()
    head, body = {"Idempotency-Key": "slow"}, {"name": "Second"}
    with connect(signed_in.edge.settings.database_url, application="tests") as connection:
        connection.execute("SELECT FROM people FOR UPDATE")  # holds up the act of whichever comes first
        both = {asyncio.create_task(signed_in.ask("POST", "/org", body=body, head=head)) for _ in range(2)}
        [early], [late] = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        answer = early.result()
        assert (answer.status, answer.json["type"].rpartition("/")[2]) == (409, "idempotency-in-progress")
        connection.rollback()
        assert (await late).status == 201
        assert connection.execute("SELECT count(*) FROM organizations WHERE name = 'Second'").fetchone() == (1,)


async def _prepared(signed_in: SignedIn) -> dict[str, tuple[str, str, Any]]:
    bob = await signed_in.join("bob", "viewer")
    body = {"email": "eve@example.org", "role": "viewer"}
    invitation = (await signed_in.ask("POST", "/org/invitations", body=body)).json["id"]
    return {
        "organization.created": ("POST", "/org", {"name": "Second"}),
        "member.removed": ("DELETE", f"/org/members/{bob}", None),
        "invitation.withdrawn": ("DELETE", f"/org/invitations/{invitation}", None),
        "member.invited": ("POST", "/org/invitations", {"email": "carol@example.org", "role": "viewer"}),
        "key.issued": ("POST", "/org/api-key", None),
        "key.rotated": ("POST", ROTATIONS, {"grace": "1h"}),
        "key.revoked": ("DELETE", "/org/api-key", None),
    }


async def test_every_post_and_delete_of_org_is_done_once_and_answered_alike(signed_in: SignedIn) -> None:
    await signed_in.organization()
    for act, (method, path, body) in (await _prepared(signed_in)).items():
        before = await _acts(signed_in, act)
        answers = [await signed_in.ask(method, path, body=body, head={"Idempotency-Key": act}) for _ in range(3)]
        assert {(answer.status, answer.body) for answer in answers} == {(answers[0].status, answers[0].body)}, act
        assert answers[0].status in (201, 204), act
        done = await _acts(signed_in, act) - before
        assert done == (0 if act == "organization.created" else 2 if act == "key.revoked" else 1), act
    assert len((await signed_in.ask("GET", "/")).json) > 0
    count = "SELECT count(*) FROM organizations WHERE name = 'Second'"
    assert execute(signed_in.edge.settings, count) == [(1,)]


async def test_the_same_call_about_another_organization_is_another_request(signed_in: SignedIn) -> None:
    first, second = await signed_in.organization(), await signed_in.organization(name="Second")
    head = {"Idempotency-Key": "issue"}
    assert (await signed_in.ask("POST", f"/org/api-key?organization={first}", head=head)).status == 201
    other = await signed_in.ask("POST", f"/org/api-key?organization={second}", head=head)
    assert (other.status, other.json["type"].rpartition("/")[2]) == (422, "idempotency-key-reused")
    assert (await signed_in.ask("GET", f"/org?organization={second}")).json["keys"] == []


async def test_what_a_key_of_a_request_stands_for(signed_in: SignedIn) -> None:
    await signed_in.organization()
    await signed_in.organization("eve", "Other")
    for value in ("x" * 256, "a b", "ä"):
        assert (await signed_in.ask("POST", "/org/api-key", head={"Idempotency-Key": value})).status == 400, value
    assert (await signed_in.ask("GET", "/org")).json["keys"] == [], "a malformed key is refused before anything is done"

    once, same = {"Idempotency-Key": "once"}, {"Idempotency-Key": "same"}
    assert (await signed_in.ask("POST", ROTATIONS, body={"grace": "1h"}, head=once)).status == 409, "no key to rotate"
    mine = await signed_in.ask("POST", "/org/api-key", head=same)
    theirs = await signed_in.ask("POST", "/org/api-key", "eve", head=same)
    assert (mine.status, theirs.status) == (201, 201), "a key belongs to one person"
    assert mine.json["key"] != theirs.json["key"]

    rotated = await signed_in.ask("POST", ROTATIONS, body={"grace": "1h"}, head=once)
    assert rotated.status == 201, "a refused act leaves its key free"
    for method, path, body in (("POST", ROTATIONS, {"grace": "24h"}), ("DELETE", "/org/api-key", None)):
        answer = await signed_in.ask(method, path, body=body, head=once)
        assert (answer.status, answer.json["type"].rpartition("/")[2]) == (422, "idempotency-key-reused")
    assert await _acts(signed_in, "key.rotated") == 1, "another request under a used key does nothing"


async def test_the_stored_answer_shows_no_key_and_is_gone_after_a_day(signed_in: SignedIn) -> None:
    await signed_in.organization()
    first = (await signed_in.ask("POST", "/org/api-key", head={"Idempotency-Key": "kept"})).json["key"]
    with connect(signed_in.edge.settings.database_url, application="tests", autocommit=True) as connection:
        [row] = connection.execute("SELECT sealed_body, key_sha256 FROM idempotent_requests").fetchall()
        assert first.encode() not in bytes(row[0]) and b"kept" not in bytes(row[0]) + bytes(row[1])
        connection.execute("UPDATE idempotent_requests SET created_at = now() - interval '23 hours'")
        again = await signed_in.ask("POST", "/org/api-key", head={"Idempotency-Key": "kept"})
        assert again.json["key"] == first
        connection.execute("UPDATE idempotent_requests SET created_at = now() - interval '25 hours'")
        assert (await signed_in.ask("POST", "/org/api-key", head={"Idempotency-Key": "kept"})).status == 409
        assert (await signed_in.ask("POST", ROTATIONS, head={"Idempotency-Key": "next"})).status == 201
        sweep(signed_in.edge.settings)
        assert connection.execute("SELECT count(*) FROM idempotent_requests").fetchone() == (1,)
