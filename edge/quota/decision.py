"""The outcome of one charge: whether it was taken, what is left and when to try again, also as limit headers."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal

import msgspec

from shared.organizations.accounts import Plan

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


class QuotaDecision(msgspec.Struct, frozen=True):
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

    def for_units(self, units: int) -> "QuotaDecision":
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


def limit_fields(decision: QuotaDecision) -> bytes:
    """Return `RateLimit-Policy` and `RateLimit` as lines; empty if nothing was counted: the numbers are unknown then.

    Source: IETF draft "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers).
    """
    if not decision.verified:
        return b""
    return _form(decision.plan) % (decision.remaining_day, decision.ends_in_seconds, decision.remaining_second)


@lru_cache(maxsize=64)
def _form(plan: Plan) -> bytes:
    """Return both lines of a plan, with places for the units left today, the seconds of it, the units left now."""
    daily, burst = (name.replace("%", "%%") for name in (plan.daily_policy, plan.burst_policy))
    policy = f'"{daily}";q={plan.daily_units};w=86400, "{burst}";q={plan.burst_units};w=1'
    left = f'"{daily}";r=%d;t=%d, "{burst}";r=%d;t=1'
    return f"RateLimit-Policy: {policy}\r\nRateLimit: {left}\r\n".encode()
