"""Limits of people: calls about organizations by person, sign-ins by address. The same counters as for units."""

from edge.quota.limiter import RateLimiter
from edge.quota.policy import Decision
from edge.quota.refusal import refusal
from shared.config import Settings
from shared.plans import Plan


class PersonLimits:
    """Consumes one call at a time. During an outage of the state store a few calls of each person are allowed."""

    def __init__(self, limiter: RateLimiter, settings: Settings) -> None:
        self._limiter = limiter
        self._calls = Plan(
            name="person",
            title="calls about organizations",
            rank=1,
            counted_by="person",
            daily_units=settings.person_calls_per_day,
            burst_units=settings.person_calls_per_second,
        )
        self._sign_ins = Plan(
            name="sign-in",
            title="sign-ins",
            rank=0,
            counted_by="address",
            daily_units=settings.sign_ins_per_day,
            burst_units=settings.sign_ins_per_second,
        )

    async def consume_call(self, person_id: str, network: str, charge_id: str) -> Decision:
        """Count one call of a person. Raises the problem `rate-limited` where the limit is reached."""
        return _allowed(await self._limiter.consume(f"person:{person_id}", self._calls, 1, charge_id), network)

    async def consume_sign_in(self, network: str, charge_id: str) -> Decision:
        """Count one started sign-in of an address. Raises the problem `rate-limited`."""
        return _allowed(await self._limiter.consume(f"sign-in:{network}", self._sign_ins, 1, charge_id), network)


def _allowed(decision: Decision, network: str) -> Decision:
    if not decision.allowed:
        raise refusal(decision, network)
    return decision
