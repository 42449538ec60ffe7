"""`python -m tests.perf.watches_bench`: what 100,000 watches add to a load: CPU time of the loader and PostgreSQL, interleaved."""

import argparse
import tempfile
from pathlib import Path

from rich.console import Console

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.perf.load_cost import Spent, compared, load_file, market_files, measured, settle
from tests.support.accounts import organization
from tests.support.servers import Servers


def main() -> None:
    """Measure and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--observations", type=int, default=1_000_000, help="As many are there before the load.")
    parser.add_argument("--watches", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    fired = 0
    with tempfile.TemporaryDirectory(prefix="itemindex-bench-") as name, Servers.running(Path(name)) as servers:
        before, loaded = market_files(Path(name), options.items, options.observations)

        def measure(watch: bool) -> Spent:
            nonlocal fired
            with servers.fresh(contents=lambda settings, folder: load_file(settings, before)) as settings:
                _watch(settings, options.watches if watch else 0)
                settle(settings)
                with measured(servers) as spent:
                    load_file(settings, loaded)
                fired = max(fired, _fired(settings))
            return spent[0]

        words = compared(options.rounds, measure)
    Console().print(
        f"{options.observations:,} observations of {options.items:,} items after as many; {options.watches:,} watches, "
        f"{fired:,} fired\n{words}"
    )


def _watch(settings: Settings, number: int) -> None:
    """Watch articles drawn evenly: a third each below an amount, at a new low, back after absence."""
    owner = organization(settings)
    with connect(settings.database_url, application="bench") as connection:
        connection.execute(
            """
            WITH priced AS MATERIALIZED (
                SELECT i.iid, min(o.currency) AS currency, min(o.price_minor) AS low, row_number() OVER (ORDER BY i.iid) - 1 AS place
                FROM observations o JOIN items i ON i.id = o.item_id GROUP BY i.iid),
            numbers AS (SELECT n, n % (SELECT count(*) FROM priced) AS place FROM generate_series(1, $2::integer) n),
            drawn AS (SELECT n, iid, currency, low FROM numbers JOIN priced USING (place))
            INSERT INTO watches (organization_id, target, code, condition, kind, currency, amount_minor, days)
            SELECT $1::uuid, 'article', iid, c, 's', CASE WHEN c <> 'returned' THEN currency END,
                   CASE WHEN c = 'below' THEN greatest(1, low * 8 / 10) END, CASE WHEN c <> 'below' THEN 90 END
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
