"""`python -m tests.perf.foreign_trial`: observations on two further servers, beside the same index on one machine.

Three local servers of PostgreSQL: the first has everything but the observations, which are partitioned by hash of their
item over the other two (postgres_fdw). The load, three reports in plain SQL and an export run on both; their figures are
compared. Only ratios carry over to other machines: here all three share the cores.
"""

import argparse
import hashlib
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
from rich.console import Console
from rich.table import Table

from deploy.local import postgres
from shared.db.connect import Connection, connect
from shared.errors import ItemIndexError
from shared.settings.settings import Settings
from tests.perf import generate as market
from tests.perf.reports_bench import OF_BRANDS, OF_CATEGORY, PLAIN
from tests.support.servers import Servers
from workers.ingest.load import load
from workers.ingest.mapping import read

_SERVERS = 2
# By it a load recognizes what it has read before: INSERT … ON CONFLICT.
_UNIQUE = "CREATE UNIQUE INDEX ON observations (item_id, day, mark)"
_EXPORT = """SELECT i.iid, o.day, o.price_minor, o.units, o.currency FROM observations o JOIN items i ON i.id = o.item_id
             ORDER BY o.item_id, o.day, o.mark"""


def main() -> None:
    """Try it and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--observations", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="itemindex-trial-")))
        servers = [stack.enter_context(Servers.running(folder / str(n))) for n in range(1 + _SERVERS)]
        path, later = folder / "market.parquet", folder / "later.parquet"
        for seed, file in enumerate((path, later), 1):
            market.write(file, items=options.items, observations=options.observations // seed**9, seed=seed)
            file.with_suffix(".toml").write_text(market.MAPPING)
        one, several = (stack.enter_context(servers[0].fresh()) for _ in range(2))
        for settings in (one, several):
            load(settings, read(path.with_suffix(".toml")), [path])
        shards = [stack.enter_context(further.fresh()) for further in servers[1:]]
        table = Table("", "one machine", "three", "ratio", "same", "sums made there", "at the same time")
        with _owner(one) as here, _owner(several) as there:
            print(f"{options.observations / _spread(there, shards):,.0f} rows/s copied to the two servers")
            for name, query in _questions(here).items():
                table.add_row(name, *_compared(query, here, there, options.rounds))
            Console().print(table)
            print("a unique index over both:", _said(lambda: there.execute(_UNIQUE)))
        print("a load:", _said(lambda: load(several, read(later.with_suffix(".toml")), [later])))


@contextmanager
def _owner(settings: Settings) -> Iterator[Connection]:
    with connect(settings.database_url, application="trial", autocommit=True) as connection:
        connection.execute("SET enable_partitionwise_aggregate = on")
        yield connection


def _spread(connection: Connection, shards: list[Settings]) -> float:
    """Move the observations to the further servers; return the seconds that their copy took."""
    connection.execute("CREATE EXTENSION postgres_fdw")
    connection.execute("ALTER TABLE observations RENAME TO observations_here")
    connection.execute(
        "CREATE TABLE observations (LIKE observations_here INCLUDING DEFAULTS) PARTITION BY HASH (item_id)"
    )
    for number, shard in enumerate(shards):
        with connect(shard.database_url, application="trial", autocommit=True) as far:
            far.execute("CREATE TABLE shard (LIKE observations INCLUDING DEFAULTS)")
            far.execute("CREATE UNIQUE INDEX ON shard (item_id, day, mark)")
        address = urlsplit(shard.database_url)
        host = parse_qs(address.query)["host"][0]
        connection.execute(
            f"CREATE SERVER s{number} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{host}', port '5432', "
            f"dbname '{address.path[1:]}', async_capable 'true', fetch_size '10000', batch_size '1000', "
            "use_remote_estimate 'true')"
        )
        connection.execute(
            f"CREATE USER MAPPING FOR {postgres.OWNER} SERVER s{number} "
            f"OPTIONS (user '{address.username}', password '{address.password}')"
        )
        connection.execute(
            f"CREATE FOREIGN TABLE o{number} PARTITION OF observations FOR VALUES WITH (MODULUS {len(shards)}, "
            f"REMAINDER {number}) SERVER s{number} OPTIONS (table_name 'shard')"
        )
    started = time.monotonic()
    connection.execute("INSERT INTO observations SELECT * FROM observations_here")
    copied = time.monotonic() - started
    connection.execute("DROP TABLE observations_here")
    for shard in shards:
        with connect(shard.database_url, application="trial", autocommit=True) as far:
            far.execute("ANALYZE shard")
    connection.execute("ANALYZE observations")
    return copied


def _reports(connection: Connection) -> dict[str, str]:
    brands = [str(row[0]) for row in connection.execute("SELECT slug FROM brands ORDER BY item_count DESC, slug")]
    conditions = {
        "report of a small brand": OF_BRANDS.format(brands[len(brands) // 2]),
        "report of a category": OF_CATEGORY.format("food.tea"),
        "report of everything": "",
    }
    return {name: PLAIN.format(groups="", joins="", conditions=of) for name, of in conditions.items()}


def _questions(connection: Connection) -> dict[str, str]:
    sums = "count(*), sum(price_minor), min(price_minor), max(price_minor) FROM observations"
    return {
        **_reports(connection),
        "sums by day": f"SELECT day, currency, {sums} GROUP BY 1, 2 ORDER BY 1, 2",
        "sums by item": f"SELECT item_id, currency, {sums} GROUP BY 1, 2 ORDER BY 1, 2",
        "export, in order": _EXPORT,
    }


def _compared(query: str, here: Connection, there: Connection, rounds: int) -> Iterator[str]:
    """Ask both, in turn; return their times, whether the answers are the same bytes, and how three servers do it."""
    seconds: tuple[list[float], list[float]] = ([], [])
    answers = set()
    for _ in range(rounds):
        for connection, taken in zip((here, there), seconds, strict=True):
            started, digest = time.monotonic(), hashlib.sha256()
            with connection.cursor().copy(f"COPY ({query}) TO STDOUT (FORMAT csv)") as copy:  # type: ignore[arg-type]
                for block in copy:
                    digest.update(block)
            taken.append(time.monotonic() - started)
            answers.add(digest.digest())
    one, three = map(statistics.median, seconds)
    yield from (f"{one * 1000:,.0f} ms", f"{three * 1000:,.0f} ms", f"{three / one:.1f} ×")
    plan = "\n".join(str(row[0]) for row in there.execute(f"EXPLAIN (VERBOSE) {query}"))
    for found in (len(answers) == 1, re.search("Remote SQL: .*GROUP BY", plan), "Async Foreign Scan" in plan):
        yield "yes" if found else "no"


def _said(act: Callable[[], object]) -> str:
    """Do something that one server can; return what three say to it."""
    try:
        act()
    except (ItemIndexError, psycopg.Error) as error:
        return str(error).splitlines()[0]
    return "works"


if __name__ == "__main__":
    main()
