"""What both tiers hold about jobs: the kinds, each with its queue and limits, and the refund of an order. Pure."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from shared.db.queries import Queries
from shared.redis import keys

SQL = Queries(Path(__file__).with_name("jobs.sql"))

QUEUES: tuple[str, ...] = ("reports", "exports", "maintenance", "webhooks")
STATES = ("queued", "running", "succeeded", "failed", "cancelled", "expired")
ENDED: frozenset[str] = frozenset({"succeeded", "failed", "cancelled", "expired"})
EXECUTE = "itemindex.execute"
"""Name of the Celery task that runs a job; its message carries the job's id and nothing else."""
EXECUTE_PART = "itemindex.help-export"
"""The same, as a dispatcher of the release before names it for a part of an export."""
DELIVER = "itemindex.deliver-webhooks"
"""Name of the Celery task that sends what is due to webhooks; its message carries nothing."""
DELIVER_QUEUE = "webhooks"
# The counters of a day live 26 hours; a marker must outlive them, or a late second asking would be paid.
_MARKER_SECONDS = 2 * 86_400


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job. Each queue has workers of its own, so that a rush in one never starves another.

    `units` is what an organization pays for it, `units_cached` if the result exists already. Of a kind that is not
    `listed` a caller makes many: pages and lists of all jobs leave them out.
    """

    name: str
    queue: str
    attempts_max: int
    seconds_max: int
    units: int = 0
    units_cached: int = 0
    kept_hours: int = 24
    listed: bool = True

    @property
    def module(self) -> str:
        """The name of the modules that declare and compute a report of this kind."""
        return self.name.replace("-", "_")


SEARCH_INDEX = JobKind("search-index", "maintenance", attempts_max=3, seconds_max=14_400)
COHORTS = JobKind("cohorts", "reports", attempts_max=3, seconds_max=300, units=10, units_cached=1)
CATEGORY_INSIGHTS = JobKind("category-insights", "reports", attempts_max=3, seconds_max=300, units=10, units_cached=1)
BRAND_INSIGHTS = JobKind("brand-insights", "reports", attempts_max=3, seconds_max=300, units=10, units_cached=1)
PRICE_INDEX = JobKind("price-index", "reports", attempts_max=3, seconds_max=300, units=10, units_cached=1)
AGGREGATE_INDEX = JobKind("aggregate-index", "reports", attempts_max=3, seconds_max=300, units=10, units_cached=1)
PRICE_POSITION = JobKind("price-position", "reports", attempts_max=3, seconds_max=300, units=10, units_cached=1)
PRICE_CHANGES = JobKind("price-changes", "reports", attempts_max=3, seconds_max=300, units=10, units_cached=1)
REDUCTIONS = JobKind("reductions", "reports", attempts_max=3, seconds_max=300, units=10, units_cached=1)
AVAILABILITY = JobKind("availability", "reports", attempts_max=3, seconds_max=300, units=10, units_cached=1)
PROMOTIONS = JobKind("promotions", "reports", attempts_max=3, seconds_max=300, units=10, units_cached=1)
SEASONS = JobKind("seasons", "reports", attempts_max=3, seconds_max=300, units=10, units_cached=1)
SUSTAINABILITY_ROLLUP = JobKind(
    "sustainability-rollup", "reports", attempts_max=3, seconds_max=300, units=20, units_cached=20
)
FOOTPRINT_COMPARISON = JobKind(
    "footprint-comparison", "reports", attempts_max=3, seconds_max=300, units=20, units_cached=20
)
MATCH_TABLE = JobKind("match-table", "reports", attempts_max=3, seconds_max=900, units=1, units_cached=1, listed=False)
RELEASE = JobKind("release", "maintenance", attempts_max=3, seconds_max=3_600)
EXPORT = JobKind("export", "exports", attempts_max=5, seconds_max=3_600, units=100, units_cached=100, kept_hours=7 * 24)
EXPORT_PART = JobKind("export-part", "exports", attempts_max=4, seconds_max=3_600)
JOB_KINDS: dict[str, JobKind] = {kind.name: kind for kind in tuple(globals().values()) if isinstance(kind, JobKind)}
"""Every kind that is declared above."""
UNLISTED: tuple[str, ...] = tuple(kind.name for kind in JOB_KINDS.values() if not kind.listed)
REPORT_KINDS: tuple[JobKind, ...] = tuple(
    kind for kind in JOB_KINDS.values() if kind.queue == "reports" and kind.listed
)
"""The reports, in the order in which pages and documents list them."""


def fingerprint(parameters: Mapping[str, object], format: str, data_version: int) -> str:
    """Return what makes two jobs of a kind the same one: canonical parameters, format and data_version."""
    canonical = json.dumps([parameters, format, data_version], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


SCRIPT = Path(__file__).with_name("refund_order.lua").read_text(encoding="utf-8")


Refunder = Literal["edge", "dispatcher"]


def refund_arguments(
    account: str, charge_id: str, day: int, units: int, refunder: Refunder
) -> tuple[str, int, str, str, str, int, int, str]:
    """Return the arguments of EVAL that refund a charge, once, however often and by whichever tier they are sent."""
    names = (
        keys.quota(account, day),
        keys.refund_marker(account, charge_id),
        keys.charge_marker(account, charge_id),
    )
    return (SCRIPT, len(names), *names, units, _MARKER_SECONDS, refunder)
