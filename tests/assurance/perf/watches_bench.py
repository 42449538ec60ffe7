"""`python -m tests.assurance.perf.watches_bench`: what 100,000 watches add to a load: CPU time of the loader and PostgreSQL, interleaved."""

import argparse
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil
import pyarrow
import pyarrow.parquet
from rich.console import Console

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.assurance.perf.generate import MAPPING, write
from tests.support.accounts import organization
from tests.support.servers import Servers
from workers.ingest.load.load import load
from workers.ingest.mapping import read

_LOADED_DAYS = 30


class Spent(NamedTuple):
    """CPU seconds of one load, by the process that loads and by PostgreSQL."""

    loader: float
    postgresql: float

    @property
    def total(self) -> float:
        """Both together."""
        return self.loader + self.postgresql


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


def market_files(folder: Path, items: int, observations: int) -> tuple[Path, Path]:
    """Write one market as two files of as many observations: half a year that the index has, and the month of the load."""
    whole, before, loaded = folder / "whole.parquet", folder / "before.parquet", folder / "loaded.parquet"
    write(whole, items=items, observations=2 * observations, seed=1)
    table = pyarrow.parquet.read_table(whole)
    first, last = table["day"][observations].as_py(), table["day"][-1].as_py()
    half = table.slice(observations)
    month = [first + (day - first) * _LOADED_DAYS // ((last - first).days + 1) for day in half["day"].to_pylist()]
    half = half.set_column(half.schema.get_field_index("day"), "day", pyarrow.array(month, pyarrow.date32()))
    for path, part in ((before, table.slice(0, observations)), (loaded, half)):
        pyarrow.parquet.write_table(part, path, compression="zstd")
        path.with_suffix(".toml").write_text(MAPPING)
    return before, loaded


def load_file(settings: Settings, path: Path) -> None:
    """Load one of those files."""
    load(settings, read(path.with_suffix(".toml")), [path])


def settle(settings: Settings) -> None:
    """Do now what PostgreSQL would do in the background of the load that is measured next: it costs a second or two."""
    with connect(settings.database_url, application="bench", autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("CHECKPOINT")


@contextmanager
def measured(servers: Servers) -> Iterator[list[Spent]]:
    """Measure a block; what was spent is in the list when it has ended."""
    spent: list[Spent] = []
    before = _clocks(servers)
    yield spent
    after = _clocks(servers)
    spent.append(Spent(after.loader - before.loader, after.postgresql - before.postgresql))


def compared(rounds: int, measure: Callable[[bool], Spent]) -> str:
    """Measure both ways in each round, the plain one (False) first in every other; return the medians in words."""
    pairs = []
    for number in range(rounds):
        order = (False, True) if number % 2 == 0 else (True, False)
        spent = {way: measure(way) for way in order}
        pairs.append((spent[False], spent[True]))
    added = [100 * (more.total / plain.total - 1) for plain, more in pairs]
    without, with_it = (statistics.median(spent.total for spent in side) for side in zip(*pairs, strict=True))
    server, its_server = (statistics.median(spent.postgresql for spent in side) for side in zip(*pairs, strict=True))
    return (
        f"CPU seconds, medians of {rounds} rounds: {without:.2f} without ({server:.2f} of them PostgreSQL's), "
        f"{with_it:.2f} with ({its_server:.2f}): {100 * (with_it / without - 1):+.1f} %\n"
        f"of single rounds {statistics.median(added):+.1f} % ({min(added):+.1f} to {max(added):+.1f} %)"
    )


def _clocks(servers: Servers) -> Spent:
    """Return the CPU seconds until now; those of PostgreSQL's ended processes count for its main process."""
    process = servers.children["postgres"].process
    assert process is not None
    main = psutil.Process(process.pid)
    times = []
    for one in (main, *main.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # it ends just now
            times.append(one.cpu_times())
    own = psutil.Process().cpu_times()
    ended = main.cpu_times()
    return Spent(
        own.user + own.system,
        sum(one.user + one.system for one in times) + ended.children_user + ended.children_system,
    )


if __name__ == "__main__":
    main()
