"""The limit headers of a response: `RateLimit-Policy` and `RateLimit`, structured fields.

Source: IETF draft "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers).
"""

from functools import lru_cache

from edge.http.problems import Problem, unavailable
from edge.quota.policy import NOT_COUNTED, Decision
from shared.clock import rfc3339
from shared.errors import StoreUnavailable
from shared.organizations.accounts import Plan


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


# The problem document of a refusal: which limit, when it resets, which account, and how to raise it.


_UPGRADE_HINTS = {
    "anonymous": "Free sign-up has a higher limit; the Brand plan counts your organization, not your address.",
    "free": "The Brand plan has a higher limit and counts your organization, not your address.",
    "brand": "The Institutional plan has higher limits.",
    "institutional": "Ask us for a limit that fits.",
    "person": "No plan: this limit protects the service.",
    "sign-in": "No plan: this limit protects the service.",
    "unmetered": "A higher plan has a higher limit.",
}

# The limits that count calls, not units.
_COUNTS_CALLS = {"person", "sign-in", "unmetered"}


def refusal(decision: Decision, network: str) -> Problem:
    """Make the problem `rate-limited`, or `service-unavailable` where nothing was counted."""
    if decision.outcome == NOT_COUNTED:
        return unavailable(StoreUnavailable("state", decision.retry_after_seconds))
    plan = decision.plan
    counted_as = network if plan.counted_by in ("ip", "address") else decision.account
    seconds = decision.retry_after_seconds
    resets_at = rfc3339(decision.resets_at)
    if decision.window == "burst":
        limit, policy = plan.burst_units, plan.burst_policy
        unit = plan.title if plan.name in _COUNTS_CALLS else "units"
        detail = f"Limit of {limit} {unit} a second reached; it opens again in 1 s."
    elif plan.counted_by in ("person", "address"):
        limit, policy = plan.daily_units, plan.daily_policy
        detail = f"Daily limit of {limit} {plan.title} reached; it resets at {resets_at}."
    elif plan.counted_by == "ip":
        limit, policy = plan.daily_units, plan.daily_policy
        used = f"{min(decision.used_day, limit)}"
        detail = f"Daily free-tier limit for lookups reached ({used} of {limit} used); it resets at {resets_at}."
    else:
        limit, policy = plan.daily_units, plan.daily_policy
        used = f"{decision.used_day} of {limit} units used"
        detail = f"Daily limit of your organization reached ({used}); it resets at {resets_at}."
    extra = {
        "retry_after": seconds,
        "policy": policy,
        "limit": limit,
        "resets_at": resets_at,
        "counted_as": counted_as,
        "lifted_by": _UPGRADE_HINTS.get(plan.name, "A higher plan has higher limits."),
    }
    return Problem("rate-limited", detail, extra=extra, fields={"Retry-After": str(seconds)})
