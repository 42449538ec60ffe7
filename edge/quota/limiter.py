"""The rate limiter: one script call to the state store charges all windows of an account, or none."""

import asyncio
import hashlib
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import hiredis
import msgspec
from msgspec import structs

from edge.storage.redis_client import RedisClient, pack
from shared.errors import StoreUnavailable
from shared.jobs.contract import refund_arguments
from shared.organizations.accounts import Plan
from shared.redis import keys
from shared.telemetry import metrics

TAKEN, REPEATED, REFUSED_DAY, REFUSED_SECOND, NOT_COUNTED = 1, 2, 0, -1, -2
_NOT_COUNTED_SECONDS = 2
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAMES = {
    TAKEN: "taken",
    REPEATED: "repeated",
    REFUSED_DAY: "refused",
    REFUSED_SECOND: "refused",
    NOT_COUNTED: "refused",
}


class Decision(msgspec.Struct, frozen=True):
    """The outcome of one charge. `verified` is False when the state store was not asked; its numbers then say nothing.

    `used_day` and `used_second` are units, after the charge; `day` is the one the charge was taken on, from 1970-01-01;
    `ends_in_seconds` is how long the present UTC day still lasts by the store's clock.
    """

    account: str
    charge_id: str
    plan: Plan
    units: int
    outcome: int
    used_day: int
    used_second: int
    day: int
    ends_in_seconds: int
    verified: bool = True

    def checked(self, units: int) -> "Decision":
        """Return, of a charge of 0, what a charge of `units` would decide now; by the same rules as take.lua."""
        if self.used_day + units > self.plan.daily_units:
            return msgspec.structs.replace(self, outcome=REFUSED_DAY)
        if self.used_second > 0 and self.used_second + units > self.plan.burst_units:
            return msgspec.structs.replace(self, outcome=REFUSED_SECOND)
        return self

    @property
    def allowed(self) -> bool:
        """Whether the request may be served."""
        return self.outcome > 0

    @property
    def window(self) -> Literal["daily", "burst"]:
        """The window that decides: the one that refused, else the day."""
        return "burst" if self.outcome == REFUSED_SECOND else "daily"

    @property
    def retry_after_seconds(self) -> int:
        """When the refusing window opens again, or counting may work again; 1 to 86,400."""
        if self.outcome == NOT_COUNTED:
            return _NOT_COUNTED_SECONDS
        return 1 if self.outcome == REFUSED_SECOND else max(1, self.ends_in_seconds)

    @property
    def remaining_day(self) -> int:
        """Units left today; never negative, also after a move to a smaller plan."""
        left = self.plan.daily_units - self.used_day
        return left if left > 0 else 0

    @property
    def remaining_second(self) -> int:
        """Units left in this second."""
        left = self.plan.burst_units - self.used_second
        return left if left > 0 else 0

    @property
    def resets_at(self) -> datetime:
        """When the window that decides begins anew, by the store's clock: the next second, or the next UTC midnight."""
        midnight = _EPOCH + timedelta(days=self.day + 1)
        return midnight - timedelta(seconds=self.ends_in_seconds - 1) if self.window == "burst" else midnight


def outcome_name(outcome: int) -> str:
    """Return the outcome's name in the metrics."""
    return _NAMES[outcome]


# The limiter for outages of the state store: each process allows a small number for each network.
# Availability limits fail open to a bound: with w processes an anonymous caller gets at most w more requests in an
# outage's day. When the table is full no new account is allowed, or an attacker with many addresses would have no
# limit. With `closed` no call is allowed: a limit is then never exceeded, and callers get 503 with Retry-After.


_ACCOUNTS_MAX = 100_000
_ALLOWED = {"anonymous": 1}
_ALLOWED_SIGNED_UP = 12
_DAY_SECONDS = 86_400


class DegradedLimiter:
    """Counts per account and UTC day in the memory of one process."""

    def __init__(self, *, closed: bool = False) -> None:
        self._closed = closed
        self._day = 0
        self._used: dict[str, int] = {}

    def decide(self, account: str, plan: Plan, units: int, charge_id: str) -> Decision:
        """Decide without the store; the decision is marked as not verified."""
        seconds = int(time.time())
        day = seconds // _DAY_SECONDS
        if day != self._day:
            self._day, self._used = day, {}
        outcome = self._outcome(account, plan)
        metrics.quota_degraded.labels("served" if outcome == TAKEN else "refused").inc()
        ends_in = _DAY_SECONDS - seconds % _DAY_SECONDS
        return Decision(account, charge_id, plan, units, outcome, plan.daily_units, 0, day, ends_in, verified=False)

    def _outcome(self, account: str, plan: Plan) -> int:
        if self._closed:
            return NOT_COUNTED
        if plan.counted_by == "organization":
            return TAKEN  # paid work continues; the metric counts what was not charged
        used = self._used.get(account, 0)
        if used >= _ALLOWED.get(plan.name, _ALLOWED_SIGNED_UP) or (not used and len(self._used) >= _ACCOUNTS_MAX):
            return REFUSED_DAY
        self._used[account] = used + 1
        return TAKEN


# So near to midnight each call asks the store, whose clock decides which day it is.
_ENDS_IN_SECONDS_MIN = 2
_KNOWN_MAX = 10_000


def may_be_kept(decision: Decision) -> bool:
    """Return whether it is a refusal by the day, which nothing but a refund lifts within its second."""
    return decision.outcome == REFUSED_DAY and decision.ends_in_seconds >= _ENDS_IN_SECONDS_MIN


class KnownRefusals:
    """Accounts that the state store has just refused for the rest of the day; of too many the oldest go first.

    Only a request that began after the refusal is refused by it. One that began before may be a proxy's second attempt
    at a call that was charged already, which the store would recognize by its charge id and allow.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, Decision]] = {}

    def find(self, account: str, plan: Plan, units: int, began: float) -> Decision | None:
        """Return the refusal of as many units or fewer under the same plan, for the rest of the second of its decision.

        A refund by another process lifts it with the next second; nginx repeats it no longer than that.
        `began` is in seconds since 1970. A changed plan is another object, so its account is asked for anew at once.
        """
        entry = self._known.get(account)
        if entry is None:
            return None
        noted, decision = entry
        if not noted <= self._clock() < int(noted) + 1:
            del self._known[account]
            return None
        return decision if began > noted and decision.plan is plan and decision.units <= units else None

    def note(self, decision: Decision) -> None:
        """Keep a decision of the store if it is a refusal by the day."""
        if not may_be_kept(decision):
            return
        self._known[decision.account] = (self._clock(), decision)
        if len(self._known) > _KNOWN_MAX:
            del self._known[next(iter(self._known))]

    def forget(self, account: str) -> None:
        """Ask for an account anew: units were refunded to it."""
        self._known.pop(account, None)


MARKER_SECONDS = 20
_RETRY_SECONDS = 0.06


class LuaScript:
    """A Lua file, called by its digest; loaded when the store does not know it."""

    def __init__(self, name: str) -> None:
        self.source = Path(__file__).with_name(name).read_bytes()
        self.digest = hashlib.sha1(self.source, usedforsecurity=False).hexdigest()


TAKE, REFUND = LuaScript("take.lua"), LuaScript("refund_call.lua")


class RateLimiter:
    """Consumes and refunds units. Never raises: during an outage of the store the degraded limiter decides."""

    def __init__(self, store: RedisClient, local: DegradedLimiter, *, retry_seconds: float = _RETRY_SECONDS) -> None:
        self._retry_seconds = retry_seconds
        self._store = store
        self._local = local
        self._refusals = KnownRefusals()

    def consume_then(
        self,
        account: str,
        plan: Plan,
        units: int,
        charge_id: str,
        done: Callable[[Decision], None],
        began: float = 0.0,
    ) -> None:
        """Charge, and call `done` with the decision. A repeated charge id is charged once.

        `began` is when the request reached this host, in seconds since 1970. Where it is known, an account that was
        refused for the day a moment before is refused without asking the store.
        """
        if not self._store.healthy:
            done(self._local.decide(account, plan, units, charge_id))
            return
        known = self._refusals.find(account, plan, units, began) if began and units else None
        if known is not None:
            done(known)
            return

        def answered(reply: Any) -> None:
            if type(reply) is list:
                decision = Decision(account, charge_id, plan, units, *reply)
                if decision.outcome == REFUSED_DAY:
                    self._refusals.note(decision)
                done(decision)
            else:
                self._retry(reply, packed, lambda reply: self._decide(reply, account, plan, units, charge_id, done))

        packed = _packed_take(TAKE.digest, account, plan, units, charge_id)
        self._store.send(packed, answered)

    def check_then(
        self,
        account: str,
        plan: Plan,
        units: int,
        charge_id: str,
        done: Callable[[Decision], None],
        began: float = 0.0,
    ) -> None:
        """Decide whether units could be charged, and charge none: for a response whose charge would be refunded."""

        def looked(decision: Decision) -> None:
            done(decision.checked(units) if decision.verified else decision)

        self.consume_then(account, plan, 0, charge_id, looked, began)

    async def consume(self, account: str, plan: Plan, units: int, charge_id: str) -> Decision:
        """Charge and wait for the decision."""
        future: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()

        def decided(decision: Decision) -> None:
            if not future.done():
                future.set_result(decision)
            else:  # nobody waits any more: the call was cancelled, and what it was charged must not stay
                self._refund_then(decision, lambda reply: None)

        self.consume_then(account, plan, units, charge_id, decided)
        try:
            decision = await future
        except asyncio.CancelledError:
            if not future.cancelled():  # it was decided just before
                self._refund_then(future.result(), lambda reply: None)
            raise
        if decision.verified and units:
            metrics.quota_decisions.labels(plan.name, outcome_name(decision.outcome)).inc()
        return decision

    async def usage(self, account: str, plan: Plan) -> Decision:
        """Return what is used, and charge nothing."""
        return await self.consume(account, plan, 0, "")

    async def refund(self, decision: Decision) -> Decision:
        """Refund a charge once, never below zero, and return the decision with what is used now."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._refund_then(decision, lambda reply: None if future.done() else future.set_result(reply))
        reply = await future
        if type(reply) is not list:  # the charge stays
            return decision
        given, used, used_second = reply
        self._refusals.forget(decision.account)
        if given:
            metrics.quota_decisions.labels(decision.plan.name, "refunded").inc()
        return structs.replace(decision, outcome=TAKEN, used_day=used, used_second=used_second)

    async def refund_order(self, account: str, charge_id: str, day: int, units: int) -> None:
        """Refund an order's charge as the dispatcher would; only one of both takes effect. Raises StoreUnavailable."""
        await self._store.command("EVAL", *refund_arguments(account, charge_id, day, units, "edge"))
        self._refusals.forget(account)

    def _refund_then(self, decision: Decision, done: Callable[[Any], None]) -> None:
        """Send the refund of a charge that was taken, and once more if its reply was lost: only one takes effect."""
        if not decision.verified or not decision.allowed or not decision.units:
            done(None)
            return
        names = (
            keys.quota(decision.account, decision.day),
            keys.charge_marker(decision.account, decision.charge_id),
        )
        packed = pack("EVAL", REFUND.source, 2, *names)
        self._store.send(packed, lambda reply: self._retry(reply, packed, done))

    def _decide(
        self, reply: Any, account: str, plan: Plan, units: int, charge_id: str, done: Callable[[Decision], None]
    ) -> None:
        """Decide by the reply of the retry, or without one."""
        if type(reply) is list:
            done(Decision(account, charge_id, plan, units, *reply))
        else:
            done(self._local.decide(account, plan, units, charge_id))

    def _retry(self, reply: Any, packed: bytes, done: Callable[[Any], None]) -> None:
        """Retry once where it can help: the script was not loaded, or the reply was lost with its connection.

        The charge id makes the second asking harmless: a charge that was taken before its reply was lost is `repeated`.
        """
        if isinstance(reply, hiredis.ReplyError) and str(reply).startswith("NOSCRIPT"):
            self._store.send(pack("SCRIPT", "LOAD", TAKE.source), lambda loaded: None)
            self._store.send(packed, done)
        elif isinstance(reply, StoreUnavailable) and not self._store.retries_commands:
            asyncio.get_running_loop().call_later(self._retry_seconds, self._store.send, packed, done)
        else:
            done(reply)


def _packed_take(digest: str, account: str, plan: Plan, units: int, charge_id: str) -> bytes:
    spelled = charge_id.encode()
    before, after = _around(digest, account, plan, units, len(spelled))
    return before + spelled + after


@lru_cache(maxsize=8192)
def _around(digest: str, account: str, plan: Plan, units: int, id_length: int) -> tuple[bytes, bytes]:
    """Return the command of a charge on both sides of its id, which is the end of the marker's key."""
    prefix, marker = keys.quota_prefix(account), keys.charge_marker(account, "_" * id_length)
    limits = (plan.daily_units, plan.burst_units, MARKER_SECONDS)
    packed = pack("EVALSHA", digest, 2, prefix, marker, units, *limits)
    end = packed.rindex(marker.encode()) + len(marker.encode())
    return packed[: end - id_length], packed[end:]
