"""Idempotency-Key on /watches and /webhooks: one act for all repetitions, with the answer of the first."""

import asyncio
import json
from typing import Any

from shared.settings.settings import Settings
from tests.service.webhooks.calls import execute, happen, hook, send, signatures_hold
from tests.service.webhooks.receivers import receiver
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge

HOOK = {"url": "https://example.org/hook"}


async def call(edge: Edge, key: str, method: str, path: str, body: Any = None, name: str = "once") -> Answer:
    content = None if body is None else json.dumps(body).encode()
    return await edge.ask(method, path, key=key, body=content, head={"Idempotency-Key": name})


def acts(settings: Settings, act: str) -> int:
    [[number]] = execute(settings, "SELECT count(*) FROM audit WHERE act = $1", act)
    return int(number)


async def test_a_rotation_whose_answer_was_lost_leaves_the_secret_in_use_its_day(
    edge: Edge, settings: Settings, key: str
) -> None:
    with receiver() as there:
        made = await hook(edge, key, there.url)
        rotations = [await call(edge, key, "POST", f"/webhooks/{made['id']}/rotations") for _ in range(3)]
        assert {(answer.status, answer.body) for answer in rotations} == {(201, rotations[0].body)}
        happen(settings, key, 1, 1)
        await send(settings)
        assert signatures_hold(there.calls[0], made["secret"], rotations[0].json["secret"])
    [[sealed]] = execute(settings, "SELECT sealed_body FROM idempotent_organization_requests")
    assert rotations[0].json["secret"].encode() not in bytes(sealed)


async def test_every_post_and_delete_is_done_once_and_answered_alike(edge: Edge, settings: Settings, key: str) -> None:
    one = f"/webhooks/{(await hook(edge, key, HOOK['url']))['id']}"
    for act, method, path, body, status in (
        ("webhook.created", "POST", "/webhooks", HOOK, 201),
        ("webhook.secret-rotated", "POST", f"{one}/rotations", None, 201),
        ("webhook.disabled", "POST", f"{one}/deactivations", None, 200),
        ("webhook.enabled", "POST", f"{one}/activations", None, 200),
        ("webhook.replayed", "POST", f"{one}/replays", {"after": 0}, 202),
        ("webhook.deleted", "DELETE", one, None, 204),
    ):
        before = acts(settings, act)
        answers = [await call(edge, key, method, path, body, act) for _ in range(3)]
        location = answers[0].head.get("Location")
        assert {(answer.status, answer.body, answer.head.get("Location")) for answer in answers} == {
            (status, answers[0].body, location)
        }, act
        assert acts(settings, act) - before == 1, act
        assert (location is not None) == (act == "webhook.created")


async def test_of_many_calls_at_once_under_one_key_one_is_done(edge: Edge, key: str) -> None:
    answers = await asyncio.gather(*(call(edge, key, "POST", "/webhooks", HOOK) for _ in range(12)))
    assert {answer.status for answer in answers} <= {201, 409}
    assert {a.json["type"].rpartition("/")[2] for a in answers if a.status == 409} <= {"idempotency-in-progress"}
    assert len((await edge.get("/webhooks", key=key)).json["data"]) == 1


async def test_a_key_of_another_call_body_or_organization(edge: Edge, settings: Settings, key: str) -> None:
    made = await call(edge, key, "POST", "/webhooks", HOOK)
    for method, path, body in (
        ("POST", "/webhooks", {"url": "https://example.org/other"}),
        ("DELETE", f"/webhooks/{made.json['id']}", None),
    ):
        refused = await call(edge, key, method, path, body)
        assert (refused.status, refused.json["type"].rpartition("/")[2]) == (422, "idempotency-key-reused")
    other = await call(edge, api_key(settings), "POST", "/webhooks", HOOK)
    assert other.status == 201 and other.json["id"] != made.json["id"]


async def test_after_a_day_a_key_is_free_and_its_answer_is_deleted(edge: Edge, settings: Settings, key: str) -> None:
    first = await call(edge, key, "POST", "/webhooks", HOOK)
    execute(settings, "UPDATE idempotent_organization_requests SET created_at = now() - interval '23 hours'")
    assert (await call(edge, key, "POST", "/webhooks", HOOK)).json["id"] == first.json["id"]
    execute(settings, "UPDATE idempotent_organization_requests SET created_at = now() - interval '25 hours'")
    assert (await call(edge, key, "POST", "/webhooks", HOOK, "next")).status == 201
    assert execute(settings, "SELECT count(*) FROM idempotent_organization_requests") == [(1,)]


async def test_a_refused_call_leaves_its_key_free(edge: Edge, key: str) -> None:
    wanted = {"target": "brand", "code": "no-such-brand", "condition": "returned"}
    assert (await call(edge, key, "POST", "/watches", wanted)).status == 400
    assert (await call(edge, key, "POST", "/webhooks", HOOK)).status == 201
