"""`python -m tests.perf.price_index_bench`: GEKS-Jevons from kept prices, beside the same from single observations.

It makes month cells of one category through the code of loads, then reads and computes the index both ways, interleaved.
Only the ratio carries over to other machines; the CPU time of reading and of computing is printed beside it.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from shared.clock import month_after
from shared.db.connect import Connection, connect
from shared.price_index.panel import PriceTable
from shared.price_index.question import Question, method_named
from shared.price_index.series import index_series
from tests.support.servers import Servers
from workers.analytics.reports.aggregator import Range
from workers.analytics.reports.filters import Category, Filter, Tree
from workers.analytics.reports.price_change import ByPeriod, prices_by_period, table_of
from workers.analytics.reports.query import Reader
from workers.analytics.rollups import rows
from workers.analytics.rollups.aggregates import Ancestors
from workers.analytics.rollups.codec import Entries, Stratum
from workers.analytics.rollups.refresh import whole_month

MONTHS = 13
ROOT = Category(1, "bench", ("bench",), (1,))
TREE = Tree({ROOT.code: ROOT}, {ROOT.id: ROOT})
OF_CATEGORY = Filter(categories=(1,), tops=(1,), kinds=("l",))
QUESTION = Question(method_named("geks-jevons"))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=300_000)
    parser.add_argument("--observations", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="itemindex-bench-") as name, Servers.running(Path(name)) as servers:
        with servers.fresh(Path(name)) as settings, connect(settings.database_url, application="bench") as connection:
            days = _fill(connection, options.items, options.observations // MONTHS)
            connection.commit()
            _measure(connection, days, options.rounds)


def _fill(connection: Connection, items: int, observations: int) -> Range:
    random = np.random.default_rng(1)
    levels = random.normal(7, 1, items)
    month = first = date(2025, 1, 1)
    for _ in range(MONTHS):
        item = np.sort(random.integers(0, items, observations))
        ones = np.ones(observations, "i8")
        price = np.exp(levels[item] + random.normal(0, 0.05, observations)).astype("i8") + 1
        channel = random.integers(1, 8, observations)
        entries = Entries(item + 1, random.integers(1, 29, observations), channel, price, ones, 0 * ones, ones, ones)
        observed = {Stratum("EUR", "l"): entries}
        rows.write(connection, whole_month(month, observed, Ancestors({"bench": 1})))
        month = month_after(month)
    return Range(first, month - timedelta(days=1), "month")


def _measure(connection: Connection, days: Range, rounds: int) -> None:
    kept: list[float] = []
    single: list[float] = []
    parts: dict[str, list[float]] = {"read": [], "table": [], "index": []}
    for _ in range(rounds):
        found, read = _timed(lambda: _read(connection, OF_CATEGORY, days))
        table, made = _timed(lambda found=found: table_of(found["EUR", 0]))
        index, computed = _timed(lambda table=table: index_series(table.panel, QUESTION))
        kept.append(read + made + computed)
        for name, seconds in zip(parts, (read, made, computed), strict=True):
            parts[name].append(seconds)
        # The same days in a question that kept prices do not answer: every channel by name.
        channels = Filter(categories=(1,), tops=(1,), channels=tuple(range(1, 8)), kinds=("l",))
        slow, seconds = _timed(lambda channels=channels: _index(_read(connection, channels, days)))
        single.append(seconds)
        assert np.allclose(index, slow, rtol=1e-12)
    figures = " + ".join(f"{name} {1000 * statistics.median(listed):,.0f}" for name, listed in parts.items())
    both = statistics.median(kept), statistics.median(single)
    print(f"kept prices {1000 * both[0]:,.0f} ms ({figures}), least {1000 * min(kept):,.0f} ms")
    print(f"observations {1000 * both[1]:,.0f} ms; ratio {both[1] / both[0]:,.1f}")


def _read(connection: Connection, chosen: Filter, days: Range) -> ByPeriod:
    return prices_by_period(Reader(connection, TREE, days), chosen)


def _index(found: ByPeriod) -> object:
    table: PriceTable = table_of(found["EUR", 0])
    return index_series(table.panel, QUESTION)


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    value = call()
    return value, time.perf_counter() - started


if __name__ == "__main__":
    main()
