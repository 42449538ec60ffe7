"""Deliveries that fail: retries, pauses, disabled webhooks, and the order that holds through all of it."""

import asyncio
import random
from contextlib import ExitStack
from dataclasses import replace

from shared.settings.settings import Settings
from tests.service.webhooks.calls import attempts, happen, hook, hurry, numbers, send, verifies
from tests.service.webhooks.receivers import Receiver, receiver
from tests.service.webhooks.test_webhooks import EVENTS
from tests.support.client import Edge
from tests.support.database import execute


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
