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
KINDS: dict[str, Kind] = {kind.name: kind for kind in (SEARCH_INDEX,)}
QUEUES: frozenset[str] = frozenset(kind.queue for kind in KINDS.values())
EXECUTE = "itemindex.execute"
"""Name of the one Celery task: a doorbell that carries a job's id and nothing else."""
