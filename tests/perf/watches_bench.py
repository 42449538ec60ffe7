"""`python -m tests.perf.watches_bench`: what 100,000 watches add to a load; with and without them, interleaved."""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from rich.console import Console

from shared.config import Settings
from shared.db.connect import connect
from tests.support.accounts import organization
from tests.support.servers import Servers
from workers.generate.market import MAPPING, write
from workers.ingest.load import load
from workers.ingest.mapping import read


def main() -> None:
    """Measure and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--observations", type=int, default=1_000_000)
    parser.add_argument("--watches", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    without, watched, fired = list[float](), list[float](), 0
    with tempfile.TemporaryDirectory(prefix="itemindex-bench-") as name, Servers.running(Path(name)) as servers:
        folder = Path(name)
        first, second = folder / "first.parquet", folder / "second.parquet"
        for seed, path in enumerate((first, second), 1):
            write(path, items=options.items, observations=options.observations, seed=seed)
            path.with_suffix(".toml").write_text(MAPPING)
        for _ in range(options.rounds):
            for seconds, number in ((without, 0), (watched, options.watches)):
                with servers.fresh(folder) as settings:
                    _load(settings, first)
                    _watch(settings, number)
                    seconds.append(_load(settings, second))
                    fired = _fired(settings)
    plain, more = statistics.median(without), statistics.median(watched)
    Console().print(
        f"{options.observations:,} observations of {options.items:,} items, {options.watches:,} watches, {fired:,} fired: "
        f"{plain:.2f} s without, {more:.2f} s with: +{100 * (more / plain - 1):.1f} %"
    )


def _load(settings: Settings, path: Path) -> float:
    started = time.perf_counter()
    load(settings, read(path.with_suffix(".toml")), [path])
    return time.perf_counter() - started


def _watch(settings: Settings, number: int) -> None:
    """Watch articles drawn evenly: a third each below an amount, at a new low, back after absence."""
    owner = organization(settings)
    with connect(settings.database_url, application="bench") as connection:
        connection.execute(
            """
            WITH drawn AS (
                SELECT n, i.iid, o.currency, o.price_minor FROM generate_series(1, $2::integer) n
                JOIN (SELECT id, iid, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS total FROM items) i
                  ON i.place = n % i.total
                JOIN LATERAL (SELECT currency, price_minor FROM observations WHERE item_id = i.id LIMIT 1) o ON true)
            INSERT INTO watches (organization_id, target, code, condition, kind, currency, amount_minor, days)
            SELECT $1::uuid, 'article', iid, c, 'l', CASE WHEN c <> 'returned' THEN currency END,
                   CASE WHEN c = 'below' THEN greatest(1, price_minor * 8 / 10) END, CASE WHEN c <> 'below' THEN 90 END
            FROM drawn, LATERAL (SELECT (ARRAY['below', 'new-low', 'returned'])[1 + n % 3] AS c) k
            """,
            (owner, number),
        )
        connection.execute("ANALYZE watches")


def _fired(settings: Settings) -> int:
    with connect(settings.database_url, application="bench") as connection:
        [[fired]] = connection.execute("SELECT count(*) FROM event_log WHERE type = 'watch.fired'").fetchall()
    return int(fired)


if __name__ == "__main__":
    main()
