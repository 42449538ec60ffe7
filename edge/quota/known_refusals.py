"""Refusals by the day that this process has just received, repeated without asking the state store."""

import time
from collections.abc import Callable

from edge.quota.decision import REFUSED_DAY, QuotaDecision
from shared.organizations.accounts import Plan

# So near to midnight each call asks the store, whose clock decides which day it is.
_ENDS_IN_SECONDS_MIN = 2
_KNOWN_MAX = 10_000


def may_be_kept(decision: QuotaDecision) -> bool:
    """Return whether it is a refusal by the day, which nothing but a refund lifts within its second."""
    return decision.outcome == REFUSED_DAY and decision.ends_in_seconds >= _ENDS_IN_SECONDS_MIN


class KnownRefusals:
    """Accounts that the state store has just refused for the rest of the day; of too many the oldest go first.

    Only a request that began after the refusal is refused by it. One that began before may be a proxy's second attempt
    at a call that was charged already, which the store would recognize by its charge id and allow.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, QuotaDecision]] = {}

    def find(self, account: str, plan: Plan, units: int, began: float) -> QuotaDecision | None:
        """Return the refusal of as many units or fewer under the same plan, for the rest of the second of its decision.

        A refund by another process lifts it with the next second; nginx repeats it no longer than that.
        `began` is in seconds since 1970. A changed plan is another object, so its account is asked for anew at once.
        """
        entry = self._known.get(account)
        if entry is None:
            return None
        noted, decision = entry
        if not noted <= self._clock() < int(noted) + 1:
            del self._known[account]
            return None
        return decision if began > noted and decision.plan is plan and decision.units <= units else None

    def note(self, decision: QuotaDecision) -> None:
        """Keep a decision of the store if it is a refusal by the day."""
        if not may_be_kept(decision):
            return
        self._known[decision.account] = (self._clock(), decision)
        if len(self._known) > _KNOWN_MAX:
            del self._known[next(iter(self._known))]

    def forget(self, account: str) -> None:
        """Ask for an account anew: units were refunded to it."""
        self._known.pop(account, None)
