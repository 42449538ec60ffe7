"""One key at a time: issue, rotation with and without a grace, revocation."""

import asyncio

from tests.service.org.conftest import SignedIn
from tests.support.database import execute


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
