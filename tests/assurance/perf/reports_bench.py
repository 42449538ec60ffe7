"""`python -m tests.assurance.perf.reports_bench`: each kind of cohort by month, ours beside plain SQL over the raw rows, interleaved.

Both answer the same question from the same snapshot of the same server: items, observations, mean, deviation, p10 to p90,
least and most by month. Ours is timed alone, and with the JSON of the answer. Only ratios carry over to other machines.

After that the reports of a market of sales and weekly listings, of the largest brand and of everything, in seconds of
processor time of the worker and of its connection's process of PostgreSQL; half of the observations are listings.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from shared.analytics.observations import OBSERVATION_KINDS
from shared.analytics.results import write
from shared.db.connect import Connection, connect
from tests.assurance.perf import generate as market
from tests.assurance.perf.cpu import cpu_seconds
from tests.support.servers import Servers
from workers.analytics.reports.filters import Filter, Tree
from workers.analytics.reports.periods import Range
from workers.analytics.reports.publish import COMPUTATIONS
from workers.analytics.reports.query import Reader
from workers.analytics.reports.result import Answer
from workers.ingest.load.load import load
from workers.ingest.mapping import read

PLAIN = """
SELECT date_trunc('month', o.day)::date{groups}, o.currency, count(DISTINCT o.item_id), avg(o.price_minor),
       stddev_samp(o.price_minor),
       percentile_cont(ARRAY[0.1, 0.25, 0.5, 0.75, 0.9]) WITHIN GROUP (ORDER BY o.price_minor), min(o.price_minor),
       max(o.price_minor), min(o.day), max(o.day), count(*)
FROM observations o JOIN items i ON i.id = o.item_id {joins}
WHERE o.day BETWEEN '2025-07-01' AND '2026-06-30' {conditions}
GROUP BY 1{groups}, o.currency"""
MONTHS = Range(date(2025, 7, 1), date(2026, 6, 30), "month")
YEAR = {"from": "2025-07-01", "to": "2026-06-30", "granularity": "month"}
UNIT_PRICES = {"measure": "unit_price", "unit": "kg"}
OF_BRANDS = "AND i.brand_id IN (SELECT id FROM brands WHERE slug = ANY('{{{0}}}'))"
OF_CATEGORY = "AND i.category_id IN (SELECT id FROM categories WHERE code = '{0}' OR starts_with(code, '{0}.'))"


REPORTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("price-position", {}),
    ("price-changes", {}),
    ("availability", {}),
    ("promotions", {}),
    ("seasons", {}),
    ("reductions", {}),
    ("price-index", {}),
    ("cohorts", {}),
    ("cohorts", UNIT_PRICES),
    ("promotions", {"rule": "prior_price"}),
    ("reductions", {"progressive": True}),
    ("price-position", {"group_by": ["category"]}),
    ("sustainability-rollup", {}),
    ("footprint-comparison", {}),
    ("brand-insights", {}),
    ("brand-insights", UNIT_PRICES),
    ("category-insights", {}),
)
"""Each report with its further parameters; of `OF_WHOLE_INDEX` there is no question of a brand."""
OF_WHOLE_INDEX = ("category-insights",)
NAMED_BY_SLUG = ("brand-insights",)


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
        listed = folder / "listings.parquet"
        half = {"items": options.items, "observations": options.observations // 2, "seed": 1}
        market.write(path, **half)
        market.write_listings(listed, **half)
        path.with_suffix(".toml").write_text(market.MAPPING)
        listed.with_suffix(".toml").write_text(market.LISTING_MAPPING)
        with servers.fresh(folder) as settings:
            for file in (path, listed):
                load(settings, read(file.with_suffix(".toml")), [file])
            _measure(settings.worker_database_url, options.rounds)


def _measure(url: str, rounds: int) -> None:
    columns = "cohort, by month", "observations", "plain SQL ms", "ours ms", "ratio", "with its JSON ms", "ratio"
    table = Table(*columns, title="medians of a run")
    with connect(url, application="bench", autocommit=True) as connection:
        connection.execute("SELECT count(*) FROM observations")
        for name, plain, ours in _cases(connection):
            slow, fast, whole = list[float](), list[float](), list[float]()
            for number in range(rounds):
                seconds, answer = _timed(ours)
                fast.append(seconds)
                whole.append(seconds + _timed(lambda answer=answer: _written(answer))[0])
                if number == 0 or slow[0] < 2:
                    seconds, rows = _timed(lambda plain=plain: connection.execute(plain).fetchall())
                    slow.append(seconds)
            theirs = statistics.median(slow)
            figures = [f"{theirs * 1000:,.1f}"]
            for mine in (statistics.median(fast), statistics.median(whole)):
                figures += f"{mine * 1000:,.1f}", f"{theirs / mine:,.1f} ×"
            print(name, *figures, flush=True)
            table.add_row(name, f"{sum(row[-1] for row in rows):,}", *figures)
    Console().print(table)
    with connect(url, application="bench", autocommit=True) as connection:
        _measure_reports(connection)


def _measure_reports(connection: Connection) -> None:
    """Print what each report costs, of the largest brand and of everything."""
    figures = "worker's processor s", "PostgreSQL's", "rows"
    table = Table("report", "parameters", "of", *figures, title="one run each")
    server = connection.info.backend_pid
    [(brand,)] = connection.execute("SELECT slug FROM brands ORDER BY item_count DESC, slug LIMIT 1").fetchall()
    for kind, parameters in REPORTS:
        of_brand: dict[str, Any] = {"slug": brand} if kind in NAMED_BY_SLUG else {"brand": [brand]}
        for name, chosen in (("largest brand", of_brand), ("everything", dict[str, Any]())):
            if chosen and kind in OF_WHOLE_INDEX:
                continue
            started, served = time.thread_time(), cpu_seconds(server)
            answer = COMPUTATIONS[kind](connection, {**YEAR, **parameters, **chosen}, _quiet)
            spent = f"{time.thread_time() - started:,.2f}", f"{cpu_seconds(server) - served:,.2f}"
            row = (kind, " ".join(map(str, parameters.values())), name, *spent, f"{answer.rows.num_rows:,}")
            print(*row, flush=True)
            table.add_row(*row)
    Console().print(table)


def _cases(connection: Connection) -> list[tuple[str, str, Callable[[], Answer | None]]]:
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


def _cohort(connection: Connection, parameters: dict[str, Any]) -> Callable[[], Answer]:
    return lambda: COMPUTATIONS["cohorts"](connection, {**YEAR, **parameters}, _quiet)


def _everything(connection: Connection) -> Callable[[], None]:
    """Every brand and category at once: what insights without a name read. No answer has just this."""

    def run() -> None:
        Reader(connection, Tree.read(connection), MONTHS, _quiet).gather(Filter(kinds=OBSERVATION_KINDS["sale"]))

    return run


def _quiet(stage: str, done: int, total: int | None) -> None:
    pass


def _written(answer: Answer | None) -> bytes:
    file = BytesIO()
    if answer is not None:
        write(answer.rows, lambda digest: {"result_sha256": digest, "method": answer.method}, "json", file)
    return file.getvalue()


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    made = call()
    return time.perf_counter() - started, made


if __name__ == "__main__":
    main()
