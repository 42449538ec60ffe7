"""Idempotency-Key on /watches and /webhooks: one act for all repetitions, with the answer of the first."""

import asyncio

from shared.settings.settings import Settings
from tests.service.webhooks.calls import call, happen, hook, send
from tests.service.webhooks.receivers import receiver
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.workers import sweep

HOOK = {"url": "https://example.org/hook"}


def acts(settings: Settings, act: str) -> int:
    [[number]] = execute(settings, "SELECT count(*) FROM audit WHERE act = $1", act)
    return int(number)


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


async def test_of_many_calls_at_once_under_one_key_one_is_done(shared_edge: Edge, shared_key: str) -> None:
    answers = await asyncio.gather(*(call(shared_edge, shared_key, "POST", "/webhooks", HOOK) for _ in range(12)))
    assert {answer.status for answer in answers} <= {201, 409}
    assert {a.json["type"].rpartition("/")[2] for a in answers if a.status == 409} <= {"idempotency-in-progress"}
    assert len((await shared_edge.get("/webhooks", key=shared_key)).json["data"]) == 1


async def test_a_key_of_another_call_body_or_organization(shared_edge: Edge, shared_key: str) -> None:
    wanted = {"target": "brand", "code": "no-such-brand", "condition": "returned"}
    assert (await call(shared_edge, shared_key, "POST", "/watches", wanted)).status == 400
    made = await call(shared_edge, shared_key, "POST", "/webhooks", HOOK)
    assert made.status == 201, "a refused call leaves its key free"
    for method, path, body in (
        ("POST", "/webhooks", {"url": "https://example.org/other"}),
        ("DELETE", f"/webhooks/{made.json['id']}", None),
    ):
        refused = await call(shared_edge, shared_key, method, path, body)
        assert (refused.status, refused.json["type"].rpartition("/")[2]) == (422, "idempotency-key-reused")
    other = await call(shared_edge, api_key(shared_edge.settings), "POST", "/webhooks", HOOK)
    assert other.status == 201 and other.json["id"] != made.json["id"]


async def test_after_a_day_a_key_is_free_and_its_answer_is_deleted(edge: Edge, settings: Settings, key: str) -> None:
    first = await call(edge, key, "POST", "/webhooks", HOOK)
    execute(settings, "UPDATE idempotent_organization_requests SET created_at = now() - interval '23 hours'")
    assert (await call(edge, key, "POST", "/webhooks", HOOK)).json["id"] == first.json["id"]
    execute(settings, "UPDATE idempotent_organization_requests SET created_at = now() - interval '25 hours'")
    assert (await call(edge, key, "POST", "/webhooks", HOOK, "next")).status == 201
    sweep(settings)
    assert execute(settings, "SELECT count(*) FROM idempotent_organization_requests") == [(1,)]


async def test_an_endpoint_whose_event_cannot_be_read_keeps_no_other_from_its_events(
    edge: Edge, settings: Settings, key: str
) -> None:
    other = api_key(settings)
    with receiver() as bad, receiver() as good:
        await hook(edge, key, bad.url)
        await hook(edge, other, good.url)
        happen(settings, key, 1, 1)
        execute(settings, "UPDATE event_log SET at = 'infinity'")
        happen(settings, other, 2, 2)
        assert await send(settings) == 1
        assert (len(bad.accepted), len(good.accepted)) == (0, 1)
