"""Webhooks: every event once accepted, in its order, signed, and never where it must not go."""

import asyncio
import json
from typing import Any

import pytest

from shared.db.connect import connect
from shared.events.webhooks import ENDPOINTS_MAX
from shared.jobs.contract import DELIVER
from shared.settings.settings import Settings
from tests.service.webhooks.calls import execute, happen, hook, numbers, send, signatures_hold, verifies
from tests.service.webhooks.receivers import receiver
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.workers import RecordedMessages, services_of, worker
from workers.dispatcher import SQL as RETENTION
from workers.dispatcher import Dispatcher


async def test_events_arrive_in_their_order_signed_by_the_secret_that_was_shown(
    edge: Edge, settings: Settings, key: str
) -> None:
    happen(settings, key, 1, 1)  # before the webhook is made
    with receiver() as there:
        made = await hook(edge, key, there.url)
        happen(settings, key, 2, 6)
        assert await send(settings) == 5
        assert numbers(there.accepted) == [2, 3, 4, 5, 6]
        assert all(signatures_hold(call, made["secret"]) for call in there.accepted)
        feed = (await edge.get("/events?after=0", key=key)).json["data"]
        assert [json.loads(body) for _, body in there.accepted] == feed[1:]
        assert [head["webhook-id"] for head, _ in there.accepted] == [event["id"] for event in feed[1:]]
        assert await send(settings) == 0, "each once"
    shown = (await edge.get(f"/webhooks/{made['id']}", key=key)).json
    assert (shown["secret"], shown["state"], shown["pending"]) == (None, "active", 0)


async def test_after_a_rotation_both_secrets_sign_and_then_the_new_one_alone(
    edge: Edge, settings: Settings, key: str
) -> None:
    with receiver() as there:
        made = await hook(edge, key, there.url)
        rotated = await edge.ask("POST", f"/webhooks/{made['id']}/rotations", key=key)
        assert rotated.status == 201
        happen(settings, key, 1, 1)
        await send(settings)
        assert signatures_hold(there.calls[0], made["secret"], rotated.json["secret"])
        execute(settings, "UPDATE webhook_endpoints SET secret_before_ends = now()")
        happen(settings, key, 2, 2)
        await send(settings)
        assert signatures_hold(there.calls[1], rotated.json["secret"])
        assert not verifies(there.calls[1], made["secret"]), "its time is over"


async def test_events_are_replayed_by_id_and_by_range(edge: Edge, settings: Settings, key: str) -> None:
    with receiver() as there:
        made = await hook(edge, key, there.url)
        happen(settings, key, 1, 4)
        await send(settings)
        feed = (await edge.get("/events", key=key)).json["data"]

        async def replay(**chosen: Any) -> Answer:
            body = json.dumps(chosen).encode()
            return await edge.ask("POST", f"/webhooks/{made['id']}/replays", key=key, body=body)

        assert (await replay(event=feed[1]["id"])).json == {"events": 1}
        assert (await replay(after=int(feed[1]["cursor"]), to=int(feed[3]["cursor"]))).json == {"events": 2}
        happen(settings, key, 5, 5)
        assert await send(settings) == 4
        assert numbers(there.accepted) == [1, 2, 3, 4, 2, 3, 4, 5]
        assert (await replay()).status == 400


async def test_an_event_that_is_no_longer_kept_is_a_problem_that_names_the_oldest_cursor(
    edge: Edge, settings: Settings, key: str
) -> None:
    happen(settings, key, 1, 3)
    feed = (await edge.get("/events", key=key)).json["data"]
    execute(settings, "UPDATE event_log SET at = now() - interval '31 days' WHERE number <= $1", int(feed[1]["cursor"]))
    execute(settings, RETENTION.delete_old_events, 30)
    gone = await edge.get(f"/events?after={feed[0]['cursor']}", key=key)
    assert (gone.status, gone.json["oldest_cursor"]) == (410, feed[1]["cursor"])
    rest = await edge.get(f"/events?after={gone.json['oldest_cursor']}", key=key)
    assert rest.json["data"] == feed[2:]
    assert (await edge.get("/events", key=key)).json["data"] == feed[2:]


async def test_a_dispatcher_orders_what_is_due_and_a_worker_sends_it(edge: Edge, settings: Settings, key: str) -> None:
    messages = RecordedMessages()
    dispatcher = Dispatcher(services_of(settings, messages=messages))

    def look() -> None:
        with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
            dispatcher.order_deliveries(connection, 1_000.0)

    with receiver() as there:
        await hook(edge, key, there.url)
        await asyncio.to_thread(look)
        assert messages.sent == []
        happen(settings, key, 1, 2)
        await asyncio.to_thread(look)
        await asyncio.to_thread(look)
        assert messages.sent == [(DELIVER, "", "webhooks")], "one message a second"
        await asyncio.to_thread(worker(settings).deliver_webhooks)
        assert numbers(there.accepted) == [1, 2]


@pytest.mark.parametrize(
    "url", ["ftp://example.org/", "https://a:b@example.org/", "https://example.org/#x", "https://", "no address"]
)
async def test_an_address_that_cannot_be_called_is_refused(edge: Edge, key: str, url: str) -> None:
    refused = await edge.ask("POST", "/webhooks", key=key, body=json.dumps({"url": url}).encode())
    assert refused.status == 400
    assert [error["parameter"] for error in refused.json["errors"]] == ["url"]


async def test_another_organization_has_no_part_in_it(edge: Edge, settings: Settings, key: str) -> None:
    with receiver() as there:
        made = await hook(edge, key, there.url)
        other = api_key(settings, "brand")
        happen(settings, other, 1, 3)
        assert await send(settings) == 0
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/rotations"), ("GET", "/attempts")):
            assert (await edge.ask(method, f"/webhooks/{made['id']}{path}", key=other)).status == 404


async def test_additions_at_once_never_pass_the_limit(edge: Edge, key: str) -> None:
    async def add(path: str, body: dict[str, Any]) -> int:
        return (await edge.ask("POST", path, key=key, body=json.dumps(body).encode())).status

    created = await asyncio.gather(
        *(add("/webhooks", {"url": "https://example.org/"}) for _ in range(ENDPOINTS_MAX + 8))
    )
    assert sorted(created) == [201] * ENDPOINTS_MAX + [409] * 8
    assert (await edge.get("/webhooks", key=key)).json["count"] == ENDPOINTS_MAX
