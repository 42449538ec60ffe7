"""Webhooks: every event once accepted, in its order and signed; failures, secrets, repeated calls."""

import asyncio
import json
import random
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from shared.db.connect import connect
from shared.events.webhooks import ENDPOINTS_MAX
from shared.jobs.contract import DELIVER
from shared.settings.settings import Settings
from tests.service.webhooks.calls import (
    attempts,
    happen,
    hook,
    hurry,
    numbers,
    send,
    signatures_hold,
    verifies,
)
from tests.service.webhooks.receivers import Receiver, receiver
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.command import Run
from tests.support.database import execute
from tests.support.workers import RecordedMessages, services_of, sweep
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


# Deliveries that fail: retries, pauses, disabled webhooks, and the order that holds through all of it.


async def test_an_event_that_fails_is_sent_again_and_later_ones_wait(edge: Edge, settings: Settings, key: str) -> None:
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


async def test_a_long_answer_of_success_is_one_and_the_event_is_not_sent_again(
    edge: Edge, settings: Settings, key: str
) -> None:
    with receiver(lambda call: 200, answer=b"x" * 100_000) as talkative:
        made = await hook(edge, key, talkative.url)
        happen(settings, key, 1, 1)
        assert await send(settings) == 1
        [attempt] = await attempts(edge, key, made)
        assert (attempt["outcome"], attempt["status"]) == ("accepted", 200)
        hurry(settings)
        assert await send(settings) == 0
        assert len(talkative.calls) == 1


async def test_what_counts_as_a_failure(edge: Edge, settings: Settings, key: str) -> None:
    with (
        receiver() as elsewhere,
        receiver(lambda call: 302, location=elsewhere.url) as redirecting,
        receiver(lambda call: 410) as closed,
    ):
        redirected = await hook(edge, key, redirecting.url)
        gone = await hook(edge, key, closed.url)
        happen(settings, key, 1, 1)
        assert await send(settings) == 0
        assert elsewhere.calls == []
        assert [one["outcome"] for one in await attempts(edge, key, redirected)] == ["redirected"]
        shown = (await edge.get(f"/webhooks/{gone['id']}", key=key)).json
        assert (shown["state"], shown["disabled_reason"]) == ("disabled", "The receiver answered 410 Gone.")
        assert execute(settings, "SELECT actor FROM audit WHERE act = 'webhook.disabled'") == [("the service",)]
        hurry(settings)
        strict = replace(settings, webhook_private_addresses=False)
        before = len(redirecting.calls)
        assert await send(strict) == 0
        assert len(redirecting.calls) == before, "no connection is made"
        assert (await attempts(edge, key, redirected))[0]["outcome"] == "private-address"


async def test_nothing_is_lost_or_out_of_order_while_receivers_fail_hang_and_workers_are_stopped(
    edge: Edge, settings: Settings, key: str
) -> None:
    dice = random.Random(15)

    def flaky(call: int) -> int | None:
        return 500 if dice.random() < 0.3 else 200

    with ExitStack() as stack:
        good = [stack.enter_context(receiver()) for _ in range(4)]
        bad = [stack.enter_context(receiver(flaky)) for _ in range(2)]
        hanging = stack.enter_context(receiver(lambda call: None if call == 0 else 200))
        secrets = [(await hook(edge, key, there.url))["secret"] for there in (*good, *bad, hanging)]
        happen(settings, key, 1, EVENTS)
        expected = list(range(1, EVENTS + 1))
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
            if all(len(there.accepted) >= EVENTS for there in pending):
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


# Idempotency-Key on /watches and /webhooks: one act for all repetitions, with the answer of the first.


HOOK = {"url": "https://example.org/hook"}


async def call(edge: Edge, key: str, method: str, path: str, body: Any = None, name: str = "once") -> Answer:
    content = None if body is None else json.dumps(body).encode()
    return await edge.ask(method, path, key=key, body=content, head={"Idempotency-Key": name})


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


# Secrets of webhooks survive a rotation of the secret that seals them: no delivery fails in between.


NEW = "another secret for tests, as long as it must be"


async def test_a_rotation_of_the_signing_secret_loses_no_secret_of_a_webhook(
    edge: Edge, settings: Settings, key: str, run: Run
) -> None:
    overlap = replace(settings, signing_secret=NEW, signing_secret_previous=settings.signing_secret)
    alone = replace(settings, signing_secret=NEW)
    with receiver() as there:
        made = await hook(edge, key, there.url)
        anew = (await edge.ask("POST", f"/webhooks/{made['id']}/rotations", key=key)).json["secret"]
        happen(settings, key, 1, 1)
        assert await send(overlap) == 1, "the old one is accepted"
        happen(settings, key, 2, 2)
        assert await send(alone) == 0
        assert (await attempts(edge, key, made))[0]["outcome"] == "secret-unreadable"

        variables = {"SIGNING_SECRET": NEW, "SIGNING_SECRET_PREVIOUS": settings.signing_secret}
        for resealed, current in ((1, 0), (0, 1)):
            code, out, _ = run("secrets", "retire", "signing-secret", "--json", **variables)
            assert (code, json.loads(out)) == (0, {"resealed": resealed, "current": current, "unreadable": []})
        hurry(settings)
        assert await send(alone) == 1
        assert len(there.accepted) == 2
        assert all(signatures_hold(call, made["secret"], anew) for call in there.accepted)


async def test_a_secret_that_no_signing_secret_opens_is_named_and_left_as_it_is(
    edge: Edge, settings: Settings, key: str, run: Run
) -> None:
    with receiver() as there:
        made = await hook(edge, key, there.url)
        code, out, error = run("secrets", "retire", "signing-secret", "--json", SIGNING_SECRET=NEW)
        assert (code, json.loads(out)["unreadable"]) == (1, [made["id"]])
        assert "Traceback" not in error and made["id"] in " ".join(error.split())
        happen(settings, key, 1, 1)
        assert await send(settings) == 1


def test_the_steps_of_a_rotation_seal_anew_before_the_old_secret_ends(run: Run) -> None:
    code, out, _ = run("secrets", "rotate", "signing-secret", "--json")
    steps = json.loads(out)
    assert code == 0
    assert [step["run"] for step in steps] == ["", "", "itemindex secrets retire signing-secret", ""]
    assert steps[1]["set"]["SIGNING_SECRET"] == steps[0]["set"]["SIGNING_SECRET_PREVIOUS"]
    assert all(not step["run"] for step in json.loads(run("secrets", "rotate", "token-pepper", "--json")[1]))
