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
    daily, burst, policy = _named(decision.plan)
    return b'%bRateLimit: "%b";r=%d;t=%d, "%b";r=%d;t=1\r\n' % (
        policy,
        daily,
        decision.remaining_day,
        decision.ends_in_seconds,
        burst,
        decision.remaining_second,
    )


@lru_cache(maxsize=64)
def _named(plan: Plan) -> tuple[bytes, bytes, bytes]:
    daily, burst = plan.daily_policy, plan.burst_policy
    policy = f'RateLimit-Policy: "{daily}";q={plan.daily_units};w=86400, "{burst}";q={plan.burst_units};w=1\r\n'
    return daily.encode(), burst.encode(), policy.encode()
