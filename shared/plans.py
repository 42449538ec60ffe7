"""Plans as values. They live in the table `plans`, which operators edit; code knows only their shape."""

from dataclasses import dataclass
from typing import Literal

CountedBy = Literal["ip", "organization", "person", "address"]
BRAND, INSTITUTIONAL = 2, 3
"""Ranks that capabilities ask for. Operators may make plans of any rank between and above."""


# Without eq: a plan is the same while it is the same object, which makes it a key that costs nothing to hash.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """The limits of an account: units a day, units a second, jobs at a time, IIDs in one call.

    `rank` orders the plans: a route that asks for a plan lets in that rank and every higher one.
    """

    name: str
    title: str
    rank: int
    counted_by: CountedBy
    daily_units: int
    burst_units: int
    jobs_running: int = 0
    jobs_queued: int = 0
    batch_iids_max: int = 0
    self_service: bool = False

    @property
    def daily_policy(self) -> str:
        """Name of the daily window in the `RateLimit` fields; both free plans share one counter and so one name."""
        return "free-daily" if self.counted_by == "ip" else f"{self.name}-daily"

    @property
    def burst_policy(self) -> str:
        """Name of the one-second window in the `RateLimit` fields."""
        return "free-burst" if self.counted_by == "ip" else f"{self.name}-burst"
