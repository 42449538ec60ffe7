"""`python -m tests.perf.reports_bench`: each kind of cohort by month, ours beside plain SQL over the raw rows, interleaved.

Both answer the same question from the same snapshot of the same server: items, observations, mean, deviation, p10 to p90,
least and most by month. Only the ratio carries over to other machines.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from shared.db.connect import Connection, connect
from tests.support.servers import Servers
from workers.generate.market import MAPPING, write
from workers.ingest.load import load
from workers.ingest.mapping import read
from workers.reports.filters import KINDS, Filter, Tree
from workers.reports.periods import Range
from workers.reports.query import gather
from workers.reports.registry import COMPUTATIONS

PLAIN = """
SELECT date_trunc('month', o.day)::date{groups}, o.currency, count(DISTINCT o.item_id), count(*), avg(o.price_minor),
       stddev_samp(o.price_minor),
       percentile_cont(ARRAY[0.1, 0.25, 0.5, 0.75, 0.9]) WITHIN GROUP (ORDER BY o.price_minor), min(o.price_minor),
       max(o.price_minor), min(o.day), max(o.day)
FROM observations o JOIN items i ON i.id = o.item_id {joins}
WHERE o.day BETWEEN '2025-07-01' AND '2026-06-30' {conditions}
GROUP BY 1{groups}, o.currency"""
MONTHS = Range(date(2025, 7, 1), date(2026, 6, 30), "month")
YEAR = {"from": "2025-07-01", "to": "2026-06-30", "granularity": "month"}
OF_BRANDS = "AND i.brand_id IN (SELECT id FROM brands WHERE slug = ANY('{{{0}}}'))"
OF_CATEGORY = "AND i.category_id IN (SELECT id FROM categories WHERE code = '{0}' OR starts_with(code, '{0}.'))"


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--observations", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5, help="of ours; plain SQL runs once where it takes over 2 s")
    parser.add_argument("--url", help="an index that holds generated data already")
    options = parser.parse_args()
    if options.url:
        _measure(options.url, options.rounds)
        return
    with tempfile.TemporaryDirectory(prefix="itemindex-bench-") as name, Servers.running(Path(name)) as servers:
        folder = Path(name)
        path = folder / "market.parquet"
        write(path, items=options.items, observations=options.observations, seed=1)
        path.with_suffix(".toml").write_text(MAPPING)
        with servers.fresh(folder) as settings:
            load(settings, read(path.with_suffix(".toml")), [path])
            _measure(settings.worker_database_url, options.rounds)


def _measure(url: str, rounds: int) -> None:
    table = Table("cohort, by month", "observations", "plain SQL ms", "ours ms", "ratio", title="medians of a run")
    with connect(url, application="bench", autocommit=True) as connection:
        connection.execute("SELECT count(*) FROM observations")
        for name, plain, ours in _cases(connection):
            slow, fast = [], []
            for number in range(rounds):
                fast.append(_timed(ours))
                if number == 0 or slow[0] < 2:
                    slow.append(_timed(lambda plain=plain: connection.execute(plain).fetchall()))
            mine, theirs = statistics.median(fast), statistics.median(slow)
            figures = f"{theirs * 1000:,.0f}", f"{mine * 1000:,.1f}", f"{theirs / mine:,.0f} ×"
            print(name, *figures, flush=True)
            table.add_row(name, f"{ours():,}", *figures)
    Console().print(table)


def _cases(connection: Connection) -> list[tuple[str, str, Callable[[], int]]]:
    brands = [row[0] for row in connection.execute("SELECT slug FROM brands ORDER BY item_count DESC, slug")]
    small, large, huge = brands[len(brands) // 2], brands[20], brands[0]
    few = ",".join(brands[:5])
    channel = "JOIN channels h ON h.id = o.channel_id"
    cases: list[tuple[str, dict[str, Any], str, str, str]] = [
        ("small brand", {"brand": [small]}, "", "", OF_BRANDS.format(small)),
        ("large brand", {"brand": [large]}, "", "", OF_BRANDS.format(large)),
        ("huge brand", {"brand": [huge]}, "", "", OF_BRANDS.format(huge)),
        ("five huge brands", {"brand": brands[:5]}, "", "", OF_BRANDS.format(few)),
        ("category (leaf)", {"category": ["food.tea"]}, "", "", OF_CATEGORY.format("food.tea")),
        ("category (a fifth of all)", {"category": ["food"]}, "", "", OF_CATEGORY.format("food")),
        (
            "huge brand × category",
            {"brand": [huge], "category": ["food"]},
            "",
            "",
            OF_BRANDS.format(huge) + OF_CATEGORY.format("food"),
        ),
        (
            "huge brand by category",
            {"brand": [huge], "group_by": ["category"]},
            ", i.category_id",
            "",
            OF_BRANDS.format(huge),
        ),
        (
            "huge brand by channel",
            {"brand": [huge], "group_by": ["channel"]},
            ", o.channel_id",
            "",
            OF_BRANDS.format(huge),
        ),
        (
            "category leaf by channel",
            {"category": ["food.tea"], "group_by": ["channel"]},
            ", o.channel_id",
            "",
            OF_CATEGORY.format("food.tea"),
        ),
        (
            "huge brand, one channel",
            {"brand": [huge], "channel": ["NORTH"]},
            "",
            channel,
            OF_BRANDS.format(huge) + "AND h.code = 'NORTH'",
        ),
    ]
    listed = [
        (name, PLAIN.format(groups=groups, joins=joins, conditions=conditions), _cohort(connection, parameters))
        for name, parameters, groups, joins, conditions in cases
    ]
    return [*listed, ("everything", PLAIN.format(groups="", joins="", conditions=""), _everything(connection))]


def _cohort(connection: Connection, parameters: dict[str, Any]) -> Callable[[], int]:
    def run() -> int:
        answer = COMPUTATIONS["cohorts"](connection, {**YEAR, **parameters}, lambda stage, done, total: None)
        return sum(row["observations"] for row in answer.table.select(["observations"]).to_pylist())

    return run


def _everything(connection: Connection) -> Callable[[], int]:
    """Every brand and category at once: what insights without a name read."""

    def run() -> int:
        found = gather(
            connection, Tree.read(connection), Filter(kinds=KINDS["sale"]), MONTHS, lambda stage, done, total: None
        )
        return int(found.spread.n.sum())

    return run


def _timed(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
