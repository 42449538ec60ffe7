"""Webhooks: every event once accepted, in its order and signed; failures, secrets, repeated calls."""

import asyncio
import json
from typing import Any

from shared.db.connect import connect
from shared.events.webhooks import ENDPOINTS_MAX
from shared.jobs.contract import DELIVER
from shared.settings.settings import Settings
from tests.service.webhooks.calls import call, happen, hook, numbers, send, signatures_hold, verifies
from tests.service.webhooks.receivers import receiver
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.database import execute
from tests.support.workers import RecordedMessages, services_of
from workers.dispatcher.dispatch import Dispatcher
from workers.dispatcher.retention import SQL as RETENTION
from workers.events.webhooks import deliver

# In the test of all failures at once.
EVENTS = 15

# Webhooks: every event once accepted, in its order, signed, and never where it must not go.


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
        # The answer of the first is lost: the caller asks again.
        rotated, again = [await call(edge, key, "POST", f"/webhooks/{made['id']}/rotations") for _ in range(2)]
        assert (rotated.status, again.body) == (201, rotated.body)
        [[sealed]] = execute(settings, "SELECT sealed_body FROM idempotent_organization_requests")
        assert rotated.json["secret"].encode() not in bytes(sealed)
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
        assert (await replay(after=int(feed[1]["cursor"]), to=feed[3]["cursor"])).json == {"events": 2}
        assert (await replay(after="1e3")).status == 400
        happen(settings, key, 5, 5)
        assert await send(settings) == 4
        assert numbers(there.accepted) == [1, 2, 3, 4, 2, 3, 4, 5]
        assert (await replay()).status == 400


async def test_a_replay_ends_with_the_event_that_it_is_of(edge: Edge, settings: Settings, key: str) -> None:
    """A webhook that has a replay is claimed; there would be nothing to send, and it would be claimed again, for ever."""
    with receiver() as there:
        made = await hook(edge, key, there.url)
        happen(settings, key, 1, 2)
        assert await send(settings) == 2
        for event in (await edge.get("/events", key=key)).json["data"]:
            body = json.dumps({"event": event["id"]}).encode()
            assert (await edge.ask("POST", f"/webhooks/{made['id']}/replays", key=key, body=body)).status == 202
        execute(settings, "UPDATE event_log SET at = now() - interval '31 days' WHERE data ->> 'n' = '1'")
        with connect(settings.worker_database_url, application="tests") as connection:
            connection.execute(RETENTION.delete_old_events, (30,))
        assert await send(settings) == 1
        assert numbers(there.accepted) == [1, 2, 2]
        due = execute(settings, "SELECT webhook_has_event(w) FROM webhook_endpoints w")
        # One that was asked for while its event was being deleted ends with the next deletion.
        execute(settings, "INSERT INTO webhook_replays SELECT id, 1 FROM webhook_endpoints")
        execute(settings, RETENTION.delete_old_events, 30)
        assert [due, execute(settings, "SELECT webhook_has_event(w) FROM webhook_endpoints w")] == [[(False,)]] * 2


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


async def test_a_cursor_that_the_log_has_not_reached_is_a_problem_and_the_newest_one_is_not(
    edge: Edge, settings: Settings, key: str
) -> None:
    assert (await edge.get("/events?after=0", key=key)).json["data"] == []
    happen(settings, key, 1, 3)
    newest = (await edge.get("/events", key=key)).json["data"][-1]["cursor"]
    for query in (newest, f"{newest}&type=release.cut"):
        assert (await edge.get(f"/events?after={query}", key=key)).json["data"] == []
    ahead = await edge.get(f"/events?after={int(newest) + 1}", key=key)
    assert (ahead.status, ahead.json["oldest_cursor"]) == (410, "0")
    execute(settings, "UPDATE event_log SET at = now() - interval '31 days'")
    execute(settings, RETENTION.delete_old_events, 30)
    assert (await edge.get(f"/events?after={newest}", key=key)).json["data"] == []


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
        await asyncio.to_thread(deliver, settings, 60.0)
        assert numbers(there.accepted) == [1, 2]


async def test_events_wait_while_the_organization_is_suspended_or_its_plan_has_no_webhooks(
    edge: Edge, settings: Settings, key: str
) -> None:
    messages = RecordedMessages()

    def is_due() -> bool:
        messages.sent.clear()
        with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
            Dispatcher(services_of(settings, messages=messages)).order_deliveries(connection, 1_000.0)
        return bool(messages.sent)

    with receiver() as there:
        await hook(edge, key, there.url)
        happen(settings, key, 1, 1)
        assert await asyncio.to_thread(is_due)
        for plan, state in (("institutional", "suspended"), ("free", "active")):
            execute(settings, "UPDATE organizations SET plan = $1, state = $2", plan, state)
            assert (await asyncio.to_thread(is_due), await send(settings), there.calls) == (False, 0, []), plan
        execute(settings, "UPDATE organizations SET plan = 'brand'")
        assert (await asyncio.to_thread(is_due), await send(settings), numbers(there.accepted)) == (True, 1, [1])


async def test_an_address_that_cannot_be_called_is_refused(shared_edge: Edge, shared_key: str) -> None:
    for url in ("ftp://example.org/", "https://a:b@example.org/", "https://example.org/#x", "https://", "no address"):
        refused = await shared_edge.ask("POST", "/webhooks", key=shared_key, body=json.dumps({"url": url}).encode())
        assert refused.status == 400, url
        assert [error["parameter"] for error in refused.json["errors"]] == ["url"], url


async def test_another_organization_has_no_part_in_it(edge: Edge, settings: Settings, key: str) -> None:
    with receiver() as there:
        made = await hook(edge, key, there.url)
        other = api_key(settings, "brand")
        happen(settings, other, 1, 3)
        assert await send(settings) == 0
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/rotations"), ("GET", "/attempts")):
            assert (await edge.ask(method, f"/webhooks/{made['id']}{path}", key=other)).status == 404


async def test_additions_at_once_never_pass_the_limit(shared_edge: Edge, shared_key: str) -> None:
    async def add(path: str, body: dict[str, Any]) -> int:
        return (await shared_edge.ask("POST", path, key=shared_key, body=json.dumps(body).encode())).status

    created = await asyncio.gather(
        *(add("/webhooks", {"url": "https://example.org/"}) for _ in range(ENDPOINTS_MAX + 8))
    )
    assert sorted(created) == [201] * ENDPOINTS_MAX + [409] * 8
    assert (await shared_edge.get("/webhooks", key=shared_key)).json["count"] == ENDPOINTS_MAX
