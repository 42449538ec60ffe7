"""Did anything get lost? What the database, the store and the API say, held against what is right."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import msgspec

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.objects.open import open_object_store
from shared.settings.settings import Settings
from tests.assurance.drills.client import Client, decoded
from tests.assurance.drills.workload import is_poison, right_digest
from tests.support.workers import delete_old

SQL = load_queries(__file__, "drill.sql")


@dataclass(frozen=True, slots=True)
class Check:
    """One promise, what was found, and whether it was kept."""

    promise: str
    found: str
    kept: bool


@dataclass
class Outcome:
    """What a drill found; `more` is what this drill alone reports besides."""

    checks: list[Check] = field(default_factory=list)
    killed: Counter[str] = field(default_factory=Counter)
    more: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every promise was kept."""
        return bool(self.checks) and all(check.kept for check in self.checks)


def judge(settings: Settings, connection: Connection, client: Client, asked: int) -> list[Check]:
    """Return every promise about the jobs with its verdict."""
    orders = connection.execute(SQL.orders).fetchall()
    states = Counter(state for _, _, _, state, *_ in orders)
    made = [row for row in orders if row[3] == "succeeded"]
    failed = [row for row in orders if row[3] == "failed"]
    poison = [row for row in orders if is_poison(row[2])]
    jobs = {row[1] for row in orders}
    served = sum(_served(client, row[0], row[6]) for row in made)
    lost = [row for row in poison if (row[3], row[4], row[5]) == ("failed", 3, "job-lost")]
    return [
        _one_job_each(orders, asked),
        _check("every job ended", states["succeeded"] + states["failed"], len(orders)),
        _check("every failed job says why", sum(row[5] is not None for row in failed), len(failed)),
        _check("every poisoned job ended as job-lost after 3 attempts", len(lost), len(poison)),
        _check("every result has the right digest", sum(row[6] == right_digest(row[2]) for row in made), len(made)),
        _check("every result is served whole, byte for byte", served, len(made)),
        _check("no job was published twice", _published_once(connection, jobs), len(made)),
        _check("no result was published by an attempt that was overtaken", _one(connection, SQL.overtaken), 0),
        _check("no job was taken up again after its end", _one(connection, SQL.taken_after_end), 0),
        _check("no bytes are left but those of published results", _left(settings, connection), len(made)),
        _check("no refund is still owed", _one(connection, SQL.owed), 0),
    ]


def _one_job_each(orders: list[Any], asked: int) -> Check:
    """Hold the jobs against the questions; a question with several is named with what became of each."""
    states: dict[str, dict[str, str]] = {}
    for _, job, parameters, state, attempt, slug, *_ in orders:
        question = f"{parameters['from']} to {parameters['to']}"
        states.setdefault(question, {})[job] = f"{state} in attempt {attempt}" + (f" ({slug})" if slug else "")
    check = _check("every question became exactly one job", sum(map(len, states.values())), asked)
    several = [f"{question}: {', '.join(each.values())}" for question, each in states.items() if len(each) > 1]
    return replace(check, found="; ".join([check.found, *several]))


def _check(promise: str, found: int, right: int) -> Check:
    return Check(promise, f"{found} of {right}" if right else str(found), found == right)


def _served(client: Client, order: str, result_sha256: str) -> bool:
    job = decoded(client.get(f"/jobs/{order}")[1])
    status, body = client.get(f"/jobs/{order}/result")
    document: Any = decoded(body)
    rows = hashlib.sha256(b"".join(msgspec.json.encode(row) + b"\n" for row in document["data"])).hexdigest()
    whole = hashlib.sha256(body).hexdigest() == job["result"]["sha256"] and len(body) == job["result"]["bytes"]
    return status == 200 and whole and rows == document["meta"]["result_sha256"] == result_sha256 and _at_one(job)


def _at_one(job: Any) -> bool:
    return bool(job["progress"]["fraction"] == 1)


def _published_once(connection: Connection, jobs: set[str]) -> int:
    published: dict[str, int] = dict(connection.execute(SQL.published).fetchall())
    return sum(published.get(job) == 1 for job in jobs)


def _left(settings: Settings, connection: Connection) -> int:
    """Sweep, with an attempt's bytes among the rest that no row knows of; return how many attempts are left."""
    store = open_object_store(settings)
    with store.create(f"{uuid4()}/1/unnamed.json") as file:
        file.write(b"of a worker that died")
    delete_old(connection, settings, store)
    return len(list(store.attempts()))


def _one(connection: Connection, query: str) -> int:
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0
