"""The kinds of jobs, each declared once with its queue and limits. Pure."""

from dataclasses import dataclass
from pathlib import Path

from shared.db.queries import Queries

SQL = Queries(Path(__file__).with_name("jobs.sql"))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job. Each queue has workers of its own, so that a rush in one never starves another."""

    name: str
    queue: str
    attempts_max: int
    seconds_max: int


SEARCH_INDEX = Kind("search-index", "maintenance", attempts_max=3, seconds_max=1800)
COHORTS = Kind("cohorts", "reports", attempts_max=3, seconds_max=300)
CATEGORY_INSIGHTS = Kind("category-insights", "reports", attempts_max=3, seconds_max=300)
BRAND_INSIGHTS = Kind("brand-insights", "reports", attempts_max=3, seconds_max=300)
SUSTAINABILITY_ROLLUP = Kind("sustainability-rollup", "reports", attempts_max=3, seconds_max=300)
KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (SEARCH_INDEX, COHORTS, CATEGORY_INSIGHTS, BRAND_INSIGHTS, SUSTAINABILITY_ROLLUP)
}
QUEUES: frozenset[str] = frozenset(kind.queue for kind in KINDS.values())
EXECUTE = "itemindex.execute"
"""Name of the one Celery task: a doorbell that carries a job's id and nothing else."""
