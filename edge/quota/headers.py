"""The limit headers of a response: `RateLimit-Policy` and `RateLimit`, structured fields. Pure.

Source: IETF draft "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers).
"""

from functools import lru_cache

from edge.quota.policy import Decision
from shared.plans import Plan


def limit_fields(decision: Decision) -> bytes:
    """Return both as header lines; empty if nothing was counted, because the numbers are then unknown."""
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
