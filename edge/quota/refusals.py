"""The problem `rate-limited`: which limit was reached, when it resets, and what raises it."""

from edge.http.problems import Problem, retry_later, unavailable
from edge.quota.decision import NOT_COUNTED, QuotaDecision
from shared.clock import rfc3339
from shared.errors import StoreUnavailable

_UPGRADE_HINTS = {
    "anonymous": "Free sign-up has a higher limit; the Brand plan counts your organization, not your address.",
    "free": "The Brand plan has a higher limit and counts your organization, not your address.",
    "brand": "The Institutional plan has higher limits.",
    "institutional": "Ask us for a higher limit.",
    "person": "This limit protects the service; no plan raises it.",
    "sign-in": "This limit protects the service; no plan raises it.",
    "pages": "Free sign-up shows more, and counts what you look at with your calls.",
    "unmetered": "A higher plan has a higher limit.",
    "suggestions": "Enter what you search for. The Brand plan counts no suggestions.",
}

# The limits that count calls, not units.
_COUNTS_CALLS = {"person", "sign-in", "unmetered", "suggestions", "pages"}


def refusal(decision: QuotaDecision, network: str) -> Problem:
    """Make the problem `rate-limited`, or `service-unavailable` where nothing was counted."""
    if decision.outcome == NOT_COUNTED:
        return unavailable(StoreUnavailable("state", decision.retry_after_seconds))
    plan = decision.plan
    counted_as = network if plan.counted_by in ("ip", "address") else decision.account
    seconds = decision.retry_after_seconds
    resets_at = rfc3339(decision.resets_at)
    if decision.window == "burst":
        limit, policy = plan.burst_units, plan.burst_policy
        unit = plan.title if plan.name in _COUNTS_CALLS else "unit" if limit == 1 else "units"
        detail = f"Limit of {limit} {unit} a second reached; it resets in 1 s."
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
    return limit_problem(
        detail,
        seconds,
        policy=policy,
        limit=limit,
        resets_at=resets_at,
        counted_as=counted_as,
        lifted_by=_UPGRADE_HINTS.get(plan.name, "A higher plan has higher limits."),
    )


def limit_problem(
    detail: str, seconds: int, *, policy: str, limit: int, resets_at: str | None, counted_as: str, lifted_by: str
) -> Problem:
    """Return the problem `rate-limited` of a limit that has a name; the call may succeed after `seconds`."""
    members = {
        "policy": policy,
        "limit": limit,
        "resets_at": resets_at,
        "counted_as": counted_as,
        "lifted_by": lifted_by,
    }
    return retry_later("rate-limited", detail, seconds, members)
