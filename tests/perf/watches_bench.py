"""`python -m tests.perf.watches_bench`: what 100,000 watches add to a load: CPU time of the loader and PostgreSQL, interleaved."""

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import pyarrow
import pyarrow.parquet
from rich.console import Console

from shared.config import Settings
from shared.db.connect import connect
from tests.support.accounts import organization
from tests.support.servers import Servers
from workers.generate.market import MAPPING, write
from workers.ingest.load import load
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
    with tempfile.TemporaryDirectory(prefix="itemindex-bench-") as name, Servers.running(Path(name)) as servers:
        before, loaded = _files(Path(name), options.items, options.observations)

        def contents(settings: Settings, folder: Path) -> None:
            _load(settings, before)

        rounds, fired = [], 0
        for _ in range(options.rounds):
            pair = []
            for number in (0, options.watches):
                with servers.fresh(contents=contents) as settings:
                    _watch(settings, number)
                    with _measured(servers) as spent:
                        _load(settings, loaded)
                    pair += spent
                    fired = _fired(settings)
            rounds.append(pair)
    _show(rounds, fired, options)


def _files(folder: Path, items: int, observations: int) -> tuple[Path, Path]:
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


def _load(settings: Settings, path: Path) -> None:
    load(settings, read(path.with_suffix(".toml")), [path])


@contextmanager
def _measured(servers: Servers) -> Iterator[list[Spent]]:
    """Measure a block; what was spent is in the list when it has ended."""
    spent: list[Spent] = []
    before = _clocks(servers)
    yield spent
    after = _clocks(servers)
    spent.append(Spent(after.loader - before.loader, after.postgresql - before.postgresql))


def _clocks(servers: Servers) -> Spent:
    """Return the CPU seconds until now; those of PostgreSQL's ended processes count for its main process."""
    process = servers.children["postgres"].process
    assert process is not None
    main = psutil.Process(process.pid)
    times = [one.cpu_times() for one in (main, *main.children(recursive=True))]
    own = psutil.Process().cpu_times()
    ended = main.cpu_times()
    return Spent(
        own.user + own.system,
        sum(one.user + one.system for one in times) + ended.children_user + ended.children_system,
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


def _show(rounds: list[list[Spent]], fired: int, options: argparse.Namespace) -> None:
    added = [100 * (watched.total / plain.total - 1) for plain, watched in rounds]
    plain, watched = (statistics.median(spent.total for spent in side) for side in zip(*rounds, strict=True))
    server, more = (statistics.median(spent.postgresql for spent in side) for side in zip(*rounds, strict=True))
    lowest, highest = min(added), max(added)
    Console().print(
        f"{options.observations:,} observations of {options.items:,} items after as many; {options.watches:,} watches, "
        f"{fired:,} fired\nCPU seconds, medians of {options.rounds} rounds: {plain:.2f} without watches "
        f"({server:.2f} of them PostgreSQL's), {watched:.2f} with ({more:.2f})\n"
        f"+{statistics.median(added):.1f} % ({lowest:+.1f} to {highest:+.1f} %)"
    )


if __name__ == "__main__":
    main()
