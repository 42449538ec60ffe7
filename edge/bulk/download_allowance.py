"""Bytes of files that an organization may download in a UTC day, counted exactly: what an answer sends, ranges too."""

from edge.http.problems import Problem
from edge.quota.decision import QuotaDecision
from edge.quota.limiter import RateLimiter
from edge.quota.refusals import limit_problem
from shared.clock import rfc3339
from shared.organizations.accounts import Plan
from shared.settings.settings import Settings


class DownloadAllowance:
    """Consumes bytes before they are sent. During an outage of the state store downloads continue, as paid calls do."""

    def __init__(self, limiter: RateLimiter, settings: Settings) -> None:
        self._limiter = limiter
        self._plan = Plan(
            name="downloads",
            title="bytes of downloads",
            rank=0,
            counted_by="organization",
            daily_units=settings.download_bytes_per_day,
            burst_units=settings.download_bytes_per_day,
        )

    async def consume(self, organization: str, length: int, charge_id: str) -> None:
        """Count the bytes of one answer. Raises the problem `rate-limited` where they would exceed the day's."""
        decision = await self._limiter.consume(f"bytes:{organization}", self._plan, length, charge_id)
        if not decision.allowed:
            raise _refusal(decision)


def _refusal(decision: QuotaDecision) -> Problem:
    limit, seconds, resets_at = decision.plan.daily_units, decision.retry_after_seconds, rfc3339(decision.resets_at)
    detail = (
        f"Your organization may download {limit} bytes a day; {decision.remaining_day} are left, and this answer has "
        f"{decision.units}. Ask for a smaller `Range`, or continue after the reset at {resets_at}."
    )
    return limit_problem(
        detail,
        seconds,
        policy=decision.plan.daily_policy,
        limit=limit,
        resets_at=resets_at,
        counted_as=decision.account,
        lifted_by="Ask us for a larger allowance.",
    )
