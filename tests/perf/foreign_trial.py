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
        path = folder / "market.parquet"
        market.write(path, items=options.items, observations=options.observations, seed=1)
        path.with_suffix(".toml").write_text(market.MAPPING)
        one, several = (stack.enter_context(servers[0].fresh()) for _ in range(2))
        for settings in (one, several):
            load(settings, read(path.with_suffix(".toml")), [path])
        shards = [stack.enter_context(further.fresh()) for further in servers[1:]]
        table = Table("", "one machine", "three", "ratio", "same")
        with _owner(one) as here, _owner(several) as there:
            copied = _spread(there, shards)
            table.add_row("rows copied, a second", "–", f"{options.observations / copied:,.0f}", "–", "–")
            for name, ask in _questions(here):
                table.add_row(name, *_compared(lambda at, ask=ask: ask(at), here, there, options.rounds))
            plan = "\n".join(str(row[0]) for row in there.execute(f"EXPLAIN (VERBOSE) {_reports(here)['everything']}"))
            loads = _refusal(several, path, there)
        Console().print(table)
        print("the sums are made on the further servers:", "yes" if re.search("Remote SQL: .*GROUP BY", plan) else "no")
        print("they work at the same time:", "yes" if "Async Foreign Scan" in plan else "no")
        print("a load into months that are there:", loads)


@contextmanager
def _owner(settings: Settings) -> Iterator[Connection]:
    with connect(settings.database_url, application="trial", autocommit=True) as connection:
        connection.execute("SET enable_partitionwise_aggregate = on")
        yield connection


def _spread(connection: Connection, shards: list[Settings]) -> float:
    """Move the observations to the further servers; return the seconds that their copy took."""
    connection.execute("CREATE EXTENSION postgres_fdw")
    connection.execute("ALTER TABLE observations RENAME TO observations_here")
    connection.execute("CREATE TABLE observations (LIKE observations_here INCLUDING DEFAULTS) PARTITION BY HASH (item_id)")
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
    reports = {name: PLAIN.format(groups="", joins="", conditions=of) for name, of in conditions.items()}
    # Without the join and the percentiles, of which no server knows the whole.
    everything = "SELECT day, currency, count(*), sum(price_minor), min(price_minor), max(price_minor) FROM observations"
    return {**reports, "everything": f"{everything} GROUP BY 1, 2 ORDER BY 1, 2"}


def _questions(connection: Connection) -> list[tuple[str, Callable[[Connection], str]]]:
    def rows(query: str) -> Callable[[Connection], str]:
        return lambda at: repr(sorted(map(repr, at.execute(query).fetchall())))

    def export(at: Connection) -> str:
        digest = hashlib.sha256()
        with at.cursor().copy(f"COPY ({_EXPORT}) TO STDOUT (FORMAT csv)") as copy:
            for block in copy:
                digest.update(block)
        return digest.hexdigest()

    reports = _reports(connection)
    named = {"sums by day, without a join": reports.pop("everything")}
    return [(name, rows(query)) for name, query in {**reports, **named}.items()] + [("export, in order", export)]


def _compared(
    ask: Callable[[Connection], str], here: Connection, there: Connection, rounds: int
) -> tuple[str, str, str, str]:
    seconds: tuple[list[float], list[float]] = ([], [])
    answers = set()
    for _ in range(rounds):
        for connection, taken in zip((here, there), seconds, strict=True):
            started = time.monotonic()
            answers.add(ask(connection))
            taken.append(time.monotonic() - started)
    one, three = map(statistics.median, seconds)
    return f"{one * 1000:,.0f} ms", f"{three * 1000:,.0f} ms", f"{three / one:.1f} ×", "yes" if len(answers) == 1 else "NO"


def _refusal(settings: Settings, path: Path, connection: Connection) -> str:
    """Load a changed file with the product's own load; return what it says."""
    connection.execute("DELETE FROM file_loads") if False else None
    try:
        load(settings, read(path.with_suffix(".toml")), [path])
    except (ItemIndexError, psycopg.Error) as error:
        return str(error).splitlines()[0]
    return "works"


if __name__ == "__main__":
    main()
