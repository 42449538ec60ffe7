"""The limiter for outages of the state store: each process allows a small number of calls for each account.

Availability limits fail open to a bound: with w processes an anonymous caller gets at most w more requests in an
outage's day. When the table is full no new account is allowed, or an attacker with many addresses would have no limit.
With `closed` no call is allowed: a limit is then never exceeded, and callers get 503 with Retry-After.
"""

import time

from edge.quota.decision import NOT_COUNTED, REFUSED_DAY, TAKEN, QuotaDecision
from shared.organizations.accounts import Plan
from shared.telemetry import metrics

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

    def decide(self, account: str, plan: Plan, units: int, charge_id: str) -> QuotaDecision:
        """Decide without the store; the decision is marked as not verified."""
        seconds = int(time.time())
        day = seconds // _DAY_SECONDS
        if day != self._day:
            self._day, self._used = day, {}
        outcome = self._outcome(account, plan)
        metrics.quota_degraded.labels("served" if outcome == TAKEN else "refused").inc()
        ends_in = _DAY_SECONDS - seconds % _DAY_SECONDS
        return QuotaDecision(
            account, charge_id, plan, units, outcome, plan.daily_units, 0, day, ends_in, verified=False
        )

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
