"""What the limits promise, as a model of twenty lines, and a machine that compares the scripts of a store with it."""

import asyncio
import hashlib
import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as options
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from edge.quota import limiter as meters
from edge.quota.decision import QuotaDecision
from edge.quota.degraded_limiter import DegradedLimiter
from edge.quota.limiter import LuaScript, RateLimiter
from edge.quota.unmetered_limits import burst_of
from edge.storage.redis_client import RedisClient
from shared.jobs.contract import Refunder, refund_arguments
from shared.organizations.accounts import Plan

DAY_SECONDS = 86_400
_NOON = 20_778 * DAY_SECONDS + DAY_SECONDS // 2
_RUNS = itertools.count()


def _plan(name: str, daily_units: int, burst_units: int) -> Plan:
    return Plan(name=name, title="", rank=1, counted_by="ip", daily_units=daily_units, burst_units=burst_units)


PLANS = {
    "ip": _plan("anonymous", 3, 2),
    "org": _plan("brand", 40, 10),
    "calls": burst_of(_plan("brand", 40, 5)),
    "person": _plan("person", 12, 20),
}
_CLOCK = b"redis.call('MGET', 'clock' .. string.match(KEYS[1], '{.*}'))"
Name = tuple[str, str]


class Model:
    """Counts units by day and by second. An order's refund leaves a repeat of its charge free; a call's does not."""

    def __init__(self) -> None:
        self.second = _NOON
        self.used: Counter[tuple[str, str, int]] = Counter()
        self.taken: dict[Name, tuple[int, int]] = {}

    def charge(self, account: str, charge_id: str, units: int, plan: Plan) -> bool:
        if (account, charge_id) in self.taken:
            return True
        day, burst = self.windows(account, self.second)
        if self.used[day] + units > plan.daily_units or 0 < self.used[burst] > plan.burst_units - units:
            return False
        self.used.update({day: units, burst: units})
        self.taken[account, charge_id] = (self.second, units)
        return True

    def refund(self, account: str, charge_id: str, day: int, *, order: bool = False) -> None:
        second, units = self.taken.get((account, charge_id), (0, 0))
        if second // DAY_SECONDS != day:
            return
        self.used.subtract(dict.fromkeys(self.windows(account, second), units))
        if order:
            self.taken[account, charge_id] = (second, 0)
        elif units:
            del self.taken[account, charge_id]

    def windows(self, account: str, second: int) -> tuple[tuple[str, str, int], tuple[str, str, int]]:
        return (account, "day", second // DAY_SECONDS), (account, "second", second)


class LimitsMachine(RuleBasedStateMachine):
    """Draws charges, refunds, repeats, seconds and midnights of several accounts."""

    run: Any
    store: RedisClient

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.limiter = RateLimiter(self.store, DegradedLimiter(closed=True))
        self.accounts = {f"{kind}:{next(_RUNS)}": plan for kind, plan in PLANS.items()}
        self.decisions: list[QuotaDecision] = []
        self.number = itertools.count()

    @initialize()
    def noon(self) -> None:
        self._set_clock(_NOON)

    @rule(kind=st.sampled_from(sorted(PLANS)), units=st.integers(1, 12))
    def charge(self, kind: str, units: int) -> None:
        account = next(name for name in self.accounts if name.startswith(kind))
        self._charge(account, f"c{next(self.number)}", units)

    @precondition(lambda self: self.decisions)
    @rule(number=st.integers(0, 99))
    def repeat(self, number: int) -> None:
        known = self._known(number)
        self._charge(known.account, known.charge_id, known.units)

    @precondition(lambda self: self.decisions)
    @rule(number=st.integers(0, 99), times=st.integers(1, 2))
    def refund(self, number: int, times: int) -> None:
        known = self._known(number)
        for _ in range(times):
            after = self.run(self.limiter.refund(known))
            if known.allowed:
                self.model.refund(known.account, known.charge_id, known.day)
                day, _ = self.model.windows(known.account, known.day * DAY_SECONDS)
                assert (after.used_day, after.units) == (self.model.used[day], 0)

    @precondition(lambda self: any((known.account, known.charge_id) in self.model.taken for known in self.decisions))
    @rule(number=st.integers(0, 99), times=st.integers(1, 2), refunder=st.sampled_from(["edge", "dispatcher"]))
    def refund_order(self, number: int, times: int, refunder: Refunder) -> None:
        taken = [known for known in self.decisions if (known.account, known.charge_id) in self.model.taken]
        known = taken[number % len(taken)]
        second, _ = self.model.taken[known.account, known.charge_id]
        call = refund_arguments(known.account, known.charge_id, second // DAY_SECONDS, known.units, refunder)
        for _ in range(times):
            self.run(self.store.command("EVAL", *call))
            self.model.refund(known.account, known.charge_id, second // DAY_SECONDS, order=True)

    @rule(seconds=st.integers(1, 3))
    def wait(self, seconds: int) -> None:
        self._set_clock(self.model.second + seconds)

    @rule(before=st.integers(0, 1))
    def wait_for_midnight(self, before: int) -> None:
        midnight = (self.model.second // DAY_SECONDS + 1) * DAY_SECONDS
        self._set_clock(max(self.model.second, midnight - before))

    @invariant()
    def counts_what_the_model_counts(self) -> None:
        for account, now in zip(self.accounts, self.run(self._usage()), strict=True):
            assert now.verified
            counted = tuple(self.model.used[window] for window in self.model.windows(account, self.model.second))
            assert (now.used_day, now.used_second) == counted

    def _charge(self, account: str, charge_id: str, units: int) -> None:
        plan = self.accounts[account]
        decision = self.run(self.limiter.consume(account, plan, units, charge_id))
        assert decision.allowed == self.model.charge(account, charge_id, units, plan)
        if decision.allowed:
            second, _ = self.model.taken[account, charge_id]
            assert decision.day == second // DAY_SECONDS
        self.decisions.append(decision)

    def _known(self, number: int) -> QuotaDecision:
        return self.decisions[number % len(self.decisions)]

    def _set_clock(self, second: int) -> None:
        self.model.second = second
        self.run(self._store_second(second))

    async def _store_second(self, second: int) -> None:
        await asyncio.gather(*(self.store.command("SET", f"clock{{{name}}}", second) for name in self.accounts))

    async def _usage(self) -> list[QuotaDecision]:
        return await asyncio.gather(*(self.limiter.usage(name, plan) for name, plan in self.accounts.items()))


# Steps that random ones seldom take one after the other.
HISTORIES = (
    # A refund of a second that is over.
    (("charge", "org", 10), ("wait", 1), ("charge", "org", 10), ("refund", 0, 1)),
    # An order's refund, and one of its call.
    (("charge", "org", 9), ("wait", 1), ("charge", "org", 10), ("refund_order", 0, 1, "dispatcher"), ("refund", 0, 1)),
    # A charge that is repeated after midnight, and given back.
    (("charge", "org", 9), ("wait_for_midnight", 0), ("charge", "org", 10), ("repeat", 0), ("refund", 2, 2)),
)


def compare_with_model(client: RedisClient, monkeypatch: pytest.MonkeyPatch, *, examples: int, steps: int) -> None:
    """Run the machine on a store whose scripts read the machine's clock, and whose markers outlive an example.

    It takes the steps of HISTORIES, and then random ones.
    """
    script = LuaScript("take.lua")
    script.source = script.source.replace(b"redis.call('TIME')", _CLOCK)
    script.digest = hashlib.sha1(script.source, usedforsecurity=False).hexdigest()
    monkeypatch.setattr(meters, "TAKE", script)
    monkeypatch.setattr(meters, "MARKER_SECONDS", 3_600)
    with asyncio.Runner() as runner:
        run = runner.get_loop().run_until_complete
        run(_started(client))
        machine = type("Machine", (LimitsMachine,), {"store": client, "run": staticmethod(run)})
        for history in HISTORIES:
            played = machine()
            played.noon()
            for step, *values in history:
                getattr(played, step)(*values)
                played.counts_what_the_model_counts()
        run_state_machine_as_test(  # type: ignore[no-untyped-call]
            machine,
            settings=options(
                max_examples=examples,
                stateful_step_count=steps,
                suppress_health_check=list(HealthCheck),
                deadline=None,
                database=None,
            ),
        )
        run(client.close())


async def _started(client: RedisClient) -> None:
    await client.start()
    async with asyncio.timeout(30):
        while not client.healthy:  # a busy machine may not connect at the first attempt
            await asyncio.sleep(0.01)
