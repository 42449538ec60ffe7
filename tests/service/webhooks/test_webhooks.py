"""Webhooks: every event once accepted, in its order, signed, and never where it must not go."""

import asyncio
import base64
import hashlib
import hmac
import json
import random
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from shared.config import Settings
from shared.db.connect import connect
from shared.jobs.contract import DELIVER
from tests.service.webhooks.receivers import Receiver, receiver
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.workers import RecordedMessages, services_of, worker
from workers.dispatch.dispatcher import Dispatcher
from workers.dispatch.retention import SQL as RETENTION
from workers.webhooks.deliver import deliver


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Receivers are on loopback, which the setting allows for tests."""
    return replace(settings, webhook_private_addresses=True)


def execute(settings: Settings, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        cursor = connection.execute(query, values or None)
        return cursor.fetchall() if cursor.description else []


def happen(settings: Settings, key: str, first: int, last: int) -> None:
    """Log numbered events, each in a transaction of its own."""
    for n in range(first, last + 1):
        execute(
            settings,
            "INSERT INTO event_log (organization_id, type, data) "
            "SELECT organization_id, 'key.rotated', jsonb_build_object('n', $2::integer) FROM api_keys WHERE key_id = $1",
            key[10:20],
            n,
        )


def hurry(settings: Settings) -> None:
    """Let the pauses after failures be over."""
    execute(settings, "UPDATE webhook_endpoints SET due_at = now()")


async def hook(edge: Edge, key: str, url: str, **more: Any) -> dict[str, Any]:
    made = await edge.ask("POST", "/webhooks", key=key, body=json.dumps({"url": url, **more}).encode())
    assert made.status == 201, made
    return dict(made.json)


async def send(settings: Settings, seconds: float = 30, **options: Any) -> int:
    return await asyncio.to_thread(lambda: deliver(settings, seconds, **options))


def numbers(arrived: list[tuple[dict[str, str], bytes]]) -> list[int]:
    return [json.loads(body)["data"]["n"] for _, body in arrived]


def verifies(call: tuple[dict[str, str], bytes], secret: str) -> bool:
    """Whether the library of Standard Webhooks takes a delivery as signed by this secret."""
    head, body = call
    try:
        Webhook(secret).verify(body, head)
    except WebhookVerificationError:
        return False
    return True


def signatures_hold(call: tuple[dict[str, str], bytes], *secrets: str) -> bool:
    """Verify by the library with each secret, and that there is no signature besides, by the specification's text."""
    head, body = call
    assert all(verifies(call, secret) for secret in secrets)
    assert abs(int(head["webhook-timestamp"]) - time.time()) < 60
    signed = f"{head['webhook-id']}.{head['webhook-timestamp']}.{body.decode()}".encode()
    expected = [
        "v1," + base64.b64encode(hmac.new(base64.b64decode(s[6:]), signed, hashlib.sha256).digest()).decode()
        for s in secrets
    ]
    return sorted(head["webhook-signature"].split(" ")) == sorted(expected)


async def attempts(edge: Edge, key: str, made: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await edge.get(f"/webhooks/{made['id']}/attempts", key=key)
    return list(answer.json["data"])


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


async def test_what_fails_is_sent_again_and_what_is_behind_it_waits(edge: Edge, settings: Settings, key: str) -> None:
    with receiver(lambda call: 500 if call < 2 else 200) as there:
        made = await hook(edge, key, there.url)
        happen(settings, key, 1, 3)
        assert await send(settings) == 0
        shown = (await edge.get(f"/webhooks/{made['id']}", key=key)).json
        assert (shown["state"], shown["failures"], shown["pending"]) == ("retrying", 1, 3)
        assert shown["next_attempt_at"] is not None
        assert await send(settings) == 0, "its pause is not over"
        assert len(there.calls) == 1
        hurry(settings)
        await send(settings)
        hurry(settings)
        assert await send(settings) == 3
        assert numbers(there.calls) == [1, 1, 1, 2, 3]
        assert len({head["webhook-id"] for head, _ in there.calls[:3]}) == 1
    outcomes = [one["outcome"] for one in await attempts(edge, key, made)]
    assert outcomes == ["accepted", "accepted", "accepted", "refused", "refused"]


async def test_a_receiver_that_keeps_failing_is_disabled_with_notice_and_continues_when_it_is_enabled(
    edge: Edge, settings: Settings, key: str
) -> None:
    with receiver(lambda call: 500 if call < 13 else 204) as there:
        made = await hook(edge, key, there.url)
        happen(settings, key, 1, 2)
        for _ in range(13):
            hurry(settings)
            await send(settings)
        shown = (await edge.get(f"/webhooks/{made['id']}", key=key)).json
        assert shown["state"] == "disabled"
        notice = (await edge.get("/events?type=webhook.disabled", key=key)).json["data"]
        assert [event["data"]["webhook"] for event in notice] == [made["id"]]
        hurry(settings)
        assert await send(settings) == 0
        assert (await edge.ask("POST", f"/webhooks/{made['id']}/activations", key=key)).json["state"] == "active"
        assert await send(settings) == 3, "two events and the notice"
        assert numbers(there.accepted[:2]) == [1, 2]


async def test_a_receiver_that_answers_gone_is_disabled_at_once(edge: Edge, settings: Settings, key: str) -> None:
    with receiver(lambda call: 410) as there:
        made = await hook(edge, key, there.url)
        happen(settings, key, 1, 1)
        await send(settings)
        shown = (await edge.get(f"/webhooks/{made['id']}", key=key)).json
        assert (shown["state"], shown["disabled_reason"]) == ("disabled", "The receiver answered 410 Gone.")


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


async def test_redirects_and_private_addresses_and_long_answers_are_failures(
    edge: Edge, settings: Settings, key: str
) -> None:
    with (
        receiver() as elsewhere,
        receiver(lambda call: 302, location=elsewhere.url) as redirecting,
        receiver(lambda call: 200, answer=b"x" * 100_000) as long,
    ):
        redirected, talkative = await hook(edge, key, redirecting.url), await hook(edge, key, long.url)
        happen(settings, key, 1, 1)
        assert await send(settings) == 0
        assert elsewhere.calls == []
        assert [one["outcome"] for one in await attempts(edge, key, redirected)] == ["redirected"]
        assert [one["outcome"] for one in await attempts(edge, key, talkative)] == ["answer-too-large"]
        hurry(settings)
        strict = replace(settings, webhook_private_addresses=False)
        before = len(redirecting.calls)
        assert await send(strict) == 0
        assert len(redirecting.calls) == before, "no connection is made"
        assert (await attempts(edge, key, redirected))[0]["outcome"] == "private-address"


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


async def test_nothing_is_lost_or_out_of_order_while_receivers_fail_hang_and_workers_are_stopped(
    edge: Edge, settings: Settings, key: str
) -> None:
    dice = random.Random(15)

    def flaky(call: int) -> int | None:
        return 500 if dice.random() < 0.3 else 200

    with ExitStack() as stack:
        good = [stack.enter_context(receiver()) for _ in range(7)]
        bad = [stack.enter_context(receiver(flaky)) for _ in range(2)]
        hanging = stack.enter_context(receiver(lambda call: None if call == 0 else 200))
        secrets = [(await hook(edge, key, there.url))["secret"] for there in (*good, *bad, hanging)]
        happen(settings, key, 1, 40)
        expected = list(range(1, 41))
        run = asyncio.create_task(send(settings, 300, call_seconds=300))
        while not all(numbers(there.accepted) == expected for there in good):
            await asyncio.sleep(0.05)
            assert not run.done(), "the call that hangs is still open, and the others did not wait for it"
        hanging.ended.set()
        await run
        # A worker that died within a call: its lease ends, and the event is sent again.
        execute(
            settings, "UPDATE webhook_endpoints SET lease_until = now() + interval '1 hour', lease_no = lease_no + 1"
        )
        assert await send(settings) == 0
        execute(settings, "UPDATE webhook_endpoints SET lease_until = now()")
        pending: list[Receiver] = [*bad, hanging]
        for _ in range(200):
            if all(len(there.accepted) >= 40 for there in pending):
                break
            hurry(settings)
            await send(settings)
        assert [numbers(there.accepted) for there in pending] == [expected] * 3
        for there, secret in zip((*good, *bad, hanging), secrets, strict=True):
            assert all(verifies(call, secret) for call in there.calls)


async def test_a_call_that_hangs_at_the_end_of_a_run_does_not_keep_the_next_run_from_the_others(
    edge: Edge, settings: Settings, key: str
) -> None:
    with receiver() as good, receiver(lambda call: None) as hanging:
        for there in (good, hanging):
            made = await hook(edge, key, there.url)
        happen(settings, key, 1, 1)
        await send(settings, 1.0)
        happen(settings, key, 2, 2)
        await send(settings, 1.0)
        assert await attempts(edge, key, made) == [], "the call that hangs is under way"
        assert (numbers(good.accepted), len(hanging.calls)) == ([1, 2], 1)
        hanging.ended.set()
        async with asyncio.timeout(60):
            while not (noted := await attempts(edge, key, made)):
                await asyncio.sleep(0.1)
        assert [one["outcome"] for one in noted] == ["unreachable"], "and is recorded when it ends"


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
