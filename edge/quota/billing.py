"""Charging of calls: prepare, charge, respond. A charge is refunded unless its response counts."""

import contextlib
from collections.abc import Awaitable
from enum import Enum
from typing import Protocol, TypeVar

from aiohttp import web

from edge.http.context import Context
from edge.http.problems import Problem
from edge.quota.limiter import RateLimiter
from edge.quota.policy import Decision
from edge.quota.refusal import limit_fields, refusal
from edge.quota.unmetered import UnmeteredLimits
from shared.errors import ItemNotFound, StoreUnavailable

# 300 lists the items to choose from.
COUNTED = frozenset({200, 202, 206, 300})


class Disposition(Enum):
    """The outcome of a charge: refunded unless the response counts, owned by an order, or refunded in any case."""

    BY_RESPONSE = "by response"
    TRANSFERRED = "transferred"
    REFUNDED = "refunded"


class Placed(Protocol):
    """An order as it was placed."""

    @property
    def new(self) -> bool:
        """Whether this request made it."""


Order = TypeVar("Order", bound=Placed)


class Charge:
    """The charge of one call. `units` is 0, and `day` with it, for a call that cost nothing or was not counted."""

    def __init__(self, limiter: RateLimiter, context: Context, decision: Decision | None = None) -> None:
        assert context.account is not None
        counted = decision is not None and decision.verified
        self.account: str = context.account
        self.charge_id = context.charge_id
        self.day = decision.day if decision and counted else 0
        self.units = decision.units if decision and counted else 0
        self._decision = decision
        self._limiter = limiter
        self._context = context
        self._disposition = Disposition.BY_RESPONSE

    async def settle(self, answering: Awaitable[web.StreamResponse]) -> web.StreamResponse:
        """Await the response and return it; refund the charge unless the response counts or an order owns it."""
        try:
            response = await answering
        except BaseException as error:
            await self._finish(counts=_is_answer(error))
            raise
        await self._finish(counts=response.status in COUNTED)
        return response

    async def pay_for(self, placing: Awaitable[Order]) -> Order:
        """Await the placing of an order and return it; a new one owns the charge and its refund from then on.

        An order that is not new was paid before, so this charge is refunded. After an error that is no answer the order
        may exist or not: the charge is refunded in the order's name, so that a later refund of the order gives nothing.
        """
        try:
            order = await placing
        except Problem:  # the order was refused
            raise
        except BaseException:  # a stopping edge cancels what is being placed
            self._disposition, self._context.units = Disposition.TRANSFERRED, 0
            if self.units:
                # Without the state store the charge stays. Its error must not hide that the call was cancelled.
                with contextlib.suppress(StoreUnavailable):
                    await self._limiter.refund_order(self.account, self.charge_id, self.day, self.units)
            raise
        self._disposition = Disposition.TRANSFERRED if order.new else Disposition.REFUNDED
        return order

    async def _finish(self, *, counts: bool) -> None:
        kept = self._disposition is Disposition.TRANSFERRED or (self._disposition is Disposition.BY_RESPONSE and counts)
        if not kept and self._decision is not None:
            self._context.units = 0
            self._context.limit_fields = limit_fields(await self._limiter.refund(self._decision))


class Billing:
    """Charges the caller of a request; units and limit headers are kept in the context."""

    def __init__(self, limiter: RateLimiter) -> None:
        self._limiter = limiter
        self._unmetered = UnmeteredLimits(limiter)

    async def charge(self, context: Context, units: int) -> Charge:
        """Charge units, or count a call that costs none. Raises the problem `rate-limited` where a limit is reached."""
        if not units:
            await self.count_call(context)
            return self.free(context)
        assert context.principal is not None
        assert context.account is not None
        decision = await self._limiter.consume(context.account, context.principal.plan, units, context.charge_id)
        context.limit_fields = limit_fields(decision)
        if not decision.allowed:
            raise refusal(decision, context.network)
        context.units = units
        return Charge(self._limiter, context, decision)

    def free(self, context: Context) -> Charge:
        """Return the charge of a call that costs nothing."""
        return Charge(self._limiter, context)

    async def count_call(self, context: Context) -> None:
        """Count a call that costs no unit, before its work. Raises the problem `rate-limited`.

        Only organizations are counted so: a person's calls have limits of their own, a free caller's address has
        nginx's.
        """
        principal, account = context.principal, context.account
        if principal is not None and account is not None and principal.plan.counted_by == "organization":
            await self._unmetered.consume(account, principal.plan, context.network, context.charge_id)


def _is_answer(error: BaseException) -> bool:
    """Return whether an error answers a valid question: there is no such item, or there are several."""
    return isinstance(error, ItemNotFound) or (isinstance(error, Problem) and error.type.status in COUNTED)
