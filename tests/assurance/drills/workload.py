"""What the drill asks, and what the right answer is: both follow from the question alone. Pure."""

import random
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from shared.analytics.results import Rows, digest
from workers.analytics.reports.periods import Range, number
from workers.analytics.reports.result import Answer, with_partial_periods

KIND = "sustainability-rollup"
_FIRST_DAY = date(2021, 1, 1)
LONG_QUESTION = ("2020-01-01", "2020-01-07")
"""Long enough to be interrupted."""
STALE_QUESTION = ("2020-02-01", "2020-02-07")
"""Its first attempt is stopped between its last look at the lease and its publication, until another has begun."""
LAST_QUESTION = ("2020-03-01", "2020-03-07")
"""Asked when all others have ended, so that whatever waited at the broker before it has been heard."""
# A question that begins in this year kills the worker that computes it.
_POISON_YEAR = 1999
_SCHEMA = pa.schema(
    [
        ("period", pa.date32()),
        ("n", pa.int64()),
        ("name", pa.string()),
        ("currency", pa.string()),
        ("figure", pa.decimal128(38, 6)),
    ]
)


def questions(number: int, poisons: int) -> list[tuple[str, str]]:
    """Return different questions, each a first and a last day; the poisoned ones are spread among them."""
    listed = [_days(_FIRST_DAY + timedelta(days=n)) for n in range(number - poisons)]
    for n in range(poisons):
        at = (n + 1) * len(listed) // (poisons + 1)
        listed.insert(at, _days(date(_POISON_YEAR, 1, 1) + timedelta(days=n)))
    return listed


def is_poison(parameters: dict[str, Any]) -> bool:
    """Return whether working on this kills."""
    return bool(parameters["from"]) and parameters["from"].startswith(f"{_POISON_YEAR}-")


def is_stale(parameters: dict[str, Any]) -> bool:
    """Return whether the first attempt at this is to be overtaken by another."""
    return (parameters["from"], parameters["to"]) == STALE_QUESTION


def pauses(parameters: dict[str, Any]) -> list[float]:
    """Return how long each step of the work takes, in seconds."""
    if (parameters["from"], parameters["to"]) == LONG_QUESTION:
        return [1.0] * 6
    chance = _chance(parameters)
    return [chance.uniform(0.02, 0.5) for _ in range(chance.randint(1, 4))]


def answer(parameters: dict[str, Any]) -> Answer:
    """Return the right answer."""
    chance = _chance(parameters)
    days = Range(date.fromisoformat(parameters["from"]), date.fromisoformat(parameters["to"]), None)
    rows = [{"period": days.first, **_row(n, chance)} for n in range(chance.randint(10, 2000))]
    seen = set(range(number(days.first), number(days.last) + 1))
    return Answer(Rows.of(rows, _SCHEMA), days, seen, {"figure": "currency"}, "Drawn by the question.", {})


def right_digest(parameters: dict[str, Any]) -> str:
    """Return the digest of the right answer's rows."""
    return digest(with_partial_periods(answer(parameters)).rows)


def _chance(parameters: dict[str, Any]) -> random.Random:
    return random.Random(f"{parameters['from']} {parameters['to']}")


def _row(n: int, chance: random.Random) -> dict[str, Any]:
    figure = Decimal(chance.randrange(10**6)) / 100
    return {"n": n, "name": f"{chance.getrandbits(64):016x}", "currency": "HKD", "figure": figure}


def _days(first: date) -> tuple[str, str]:
    return first.isoformat(), (first + timedelta(days=6)).isoformat()
