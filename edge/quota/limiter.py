"""The rate limiter: one script call to the state store charges all windows of an account, or none."""

import asyncio
import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import hiredis
from msgspec import structs

from edge.quota.decision import REFUSED_DAY, TAKEN, QuotaDecision, outcome_name
from edge.quota.degraded_limiter import DegradedLimiter
from edge.quota.known_refusals import KnownRefusals
from edge.storage.redis_client import RedisClient, pack
from shared.errors import StoreUnavailable
from shared.jobs.contract import refund_arguments
from shared.organizations.accounts import Plan
from shared.redis import keys
from shared.telemetry import metrics

# Within it a proxy repeats a call, and a call can be refunded. The store keeps a marker for each charge: a longer life
# costs memory, and a call that lasted so long has sent most of its answer or waited for a job that owns its charge.
MARKER_SECONDS = 20
# Outcomes of refund_call.lua.
_EXPIRED, _REFUNDED = 0, 1
_RETRY_SECONDS = 0.06


class LuaScript:
    """A Lua file, called by its digest; loaded when the store does not know it."""

    def __init__(self, name: str) -> None:
        self.source = Path(__file__).with_name(name).read_bytes()
        self.digest = hashlib.sha1(self.source, usedforsecurity=False).hexdigest()


TAKE, REFUND = LuaScript("take.lua"), LuaScript("refund_call.lua")


class RateLimiter:
    """Consumes and refunds units. During an outage of the store the degraded limiter decides, and a charge stays.

    Only `refund_order` raises, StoreUnavailable.
    """

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
        done: Callable[[QuotaDecision], None],
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

        def take_reply(reply: object) -> None:
            if type(reply) is list:
                decision = QuotaDecision(account, charge_id, plan, units, *reply)
                if decision.outcome == REFUSED_DAY:
                    self._refusals.note(decision)
                done(decision)
            else:
                self._retry(reply, packed, lambda reply: self._decide(reply, account, plan, units, charge_id, done))

        packed = _pack_take(TAKE.digest, account, plan, units, charge_id)
        self._store.send(packed, take_reply)

    def check_then(
        self,
        account: str,
        plan: Plan,
        units: int,
        charge_id: str,
        done: Callable[[QuotaDecision], None],
        began: float = 0.0,
    ) -> None:
        """Decide whether units could be charged, and charge none: for a response whose charge would be refunded."""

        def decide(decision: QuotaDecision) -> None:
            done(decision.for_units(units) if decision.verified else decision)

        self.consume_then(account, plan, 0, charge_id, decide, began)

    async def consume(self, account: str, plan: Plan, units: int, charge_id: str) -> QuotaDecision:
        """Charge and wait for the decision."""
        future: asyncio.Future[QuotaDecision] = asyncio.get_running_loop().create_future()

        def resolve(decision: QuotaDecision) -> None:
            if not future.done():
                future.set_result(decision)
            else:  # nobody waits any more: the call was cancelled, and what it was charged must not stay
                self._refund_then(decision, lambda reply: None)

        self.consume_then(account, plan, units, charge_id, resolve)
        try:
            decision = await future
        except asyncio.CancelledError:
            if not future.cancelled():  # it was decided just before
                self._refund_then(future.result(), lambda reply: None)
            raise
        if decision.verified and units:
            metrics.quota_decisions.labels(plan.name, outcome_name(decision.outcome)).inc()
        return decision

    async def usage(self, account: str, plan: Plan) -> QuotaDecision:
        """Return the units used so far; charge nothing."""
        return await self.consume(account, plan, 0, "")

    async def refund(self, decision: QuotaDecision) -> QuotaDecision:
        """Refund a charge once, never below zero; return the decision with what is used now and the units that stay.

        Without the store the charge stays, and so does one that is older than MARKER_SECONDS: its units are then those
        of the decision. Of a charge that was not taken no units stay.
        """
        if not _is_taken(decision):
            return structs.replace(decision, units=0)
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._refund_then(decision, lambda reply: None if future.done() else future.set_result(reply))
        reply = await future
        if type(reply) is not list:
            metrics.quota_decisions.labels(decision.plan.name, "not-refunded").inc()
            return decision
        outcome, used, used_second = reply
        now = structs.replace(decision, outcome=TAKEN, used_day=used, used_second=used_second)
        if outcome == _EXPIRED:
            metrics.quota_decisions.labels(decision.plan.name, "not-refunded").inc()
            return now
        self._refusals.forget(decision.account)
        if outcome == _REFUNDED:
            metrics.quota_decisions.labels(decision.plan.name, "refunded").inc()
        return structs.replace(now, units=0)

    async def refund_order(self, account: str, charge_id: str, day: int, units: int) -> None:
        """Refund an order's charge as the dispatcher would; only one of both takes effect. Raises StoreUnavailable."""
        await self._store.command("EVAL", *refund_arguments(account, charge_id, day, units, "edge"))
        self._refusals.forget(account)

    def _refund_then(self, decision: QuotaDecision, done: Callable[[object], None]) -> None:
        """Send the refund of a charge that was taken, and once more if its reply was lost: only one takes effect."""
        if not _is_taken(decision):
            done(None)
            return
        names = (
            keys.quota(decision.account, decision.day),
            keys.charge_marker(decision.account, decision.charge_id),
        )
        packed = pack("EVAL", REFUND.source, 2, *names, MARKER_SECONDS)
        self._store.send(packed, lambda reply: self._retry(reply, packed, done))

    def _decide(
        self, reply: object, account: str, plan: Plan, units: int, charge_id: str, done: Callable[[QuotaDecision], None]
    ) -> None:
        """Decide by the reply of the retry, or without one."""
        if type(reply) is list:
            done(QuotaDecision(account, charge_id, plan, units, *reply))
        else:
            done(self._local.decide(account, plan, units, charge_id))

    def _retry(self, reply: object, packed: bytes, done: Callable[[object], None]) -> None:
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


def _is_taken(decision: QuotaDecision) -> bool:
    return decision.verified and decision.allowed and decision.units > 0


def _pack_take(digest: str, account: str, plan: Plan, units: int, charge_id: str) -> bytes:
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
