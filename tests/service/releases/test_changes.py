"""What changed between two releases, and why: yesterday and the changes are today, as DuckDB reads the files."""

import random
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from shared.bulk.schema import CHANGES, DATASETS, LIST, Dataset, ReleaseFile, arrow_schema, changes_of, key_of
from shared.db.connect import Connection, connect
from shared.index.iid import mint
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from tests.support.exports import made, parameters
from tests.support.releases import cut, files_of, without_column
from tests.support.servers import Servers
from tests.support.shop import load_rows
from workers.bulk.writers.release_file import ReleaseWriter
from workers.jobs.context import SplitRows
from workers.provenance import item_acts, reindex
from workers.provenance.undo import undo

# One worker makes the releases of these tests, instead of each of them.
pytestmark = pytest.mark.xdist_group("changes")

SOY, CUSTARD, DRINK, RICE = (mint("shop", sku).iid for sku in "1234")
PAIRS = 50
# The order of rows in a release, and so in its files. A sale comes behind a listing, and no value before any.
ORDERS = {
    "observations": "strftime(day, '%Y-%m'), iid, day, channel, price_minor, list_minor NULLS FIRST, kind, currency, "
    "source, units, outlier NULLS FIRST",
    "impacts": "iid, indicator",
}
SIGNS = "CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END"


def rice(prices: dict[int, str]) -> str:
    return "".join(f"4,Rice,Gold,Food,Rice,2.0,2026-07-{day:02d},NORTH,{price},\n" for day, price in prices.items())


def act(settings: Settings, kind: Any, *arguments: Any) -> None:
    with connect(settings.database_url, application="tests") as connection:
        reindex.lock(connection)
        kind(connection, *arguments, "tests", None)


def last_load(connection: Connection) -> str:
    row = connection.execute("SELECT id::text FROM events WHERE kind = 'load' ORDER BY no DESC LIMIT 1").fetchone()
    assert row is not None
    return str(row[0])


def released(settings: Settings, folder: Path) -> None:
    """Cut eleven releases, one after each thing that can happen to an index; the first is one of older code."""

    def load(rows: str, name: str) -> None:
        load_rows(settings, folder, rows, name=f"{name}.csv")

    def take_back(connection: Connection, *by: Any) -> None:
        undo(connection, last_load(connection), *by)

    few = SplitRows(release_observations=4, release_table=2)
    load_rows(settings, folder)
    cut(settings, split_rows=few)
    without_column(settings, "brands", 1, "first_seen_on")
    for happens in (
        lambda: load("1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-02,NORTH,11.60,12\n5,Tea,Vita,Drinks,Tea,1,2026-07-02,EAST,3,\n", "2"),
        lambda: act(settings, item_acts.merge, SOY, CUSTARD),
        lambda: load("1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-05,AIRPORT,12.10,\n" + rice({1: "10.00", 2: "100.00"}), "4"),
        lambda: act(settings, item_acts.restore, SOY),
        lambda: load(rice(dict.fromkeys((3, 4, 5, 6, 7, 8), "10.10")), "6"),
        lambda: act(settings, item_acts.withdraw, DRINK),
        lambda: load("5,Tea,Vita,Drinks,Tea,1,2026-08-02,EAST,3,\n", "8"),
        lambda: act(settings, take_back),
        lambda: act(settings, item_acts.restore, DRINK),
        lambda: load("6,Oil,Gold,Food,Oil,1,2026-06-30,EAST,3,\n", "11"),
    ):  # fmt: skip
        happens()
        cut(settings, split_rows=few)


@pytest.fixture(scope="module")
def index(servers: Servers) -> Iterator[Settings]:
    with servers.fresh(contents=released) as settings:
        yield settings


@pytest.fixture
def judge() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def read(judge: duckdb.DuckDBPyConnection, name: str, settings: Settings, dataset: Dataset, files: Any) -> None:
    """Make a table of files, whatever columns they have."""
    columns = [column for column in dataset.columns if column.name]
    if files:
        paths = [str(settings.results_dir / key_of(file.sha256)) for file in files]
        judge.execute(f"CREATE OR REPLACE TABLE {name} AS FROM read_parquet($1, union_by_name => true)", [paths])
        there = {row[0] for row in judge.execute(f"DESCRIBE {name}").fetchall()}
        listed = ", ".join(f'"{c.name}"' if c.name in there else f'NULL::date AS "{c.name}"' for c in columns)
        judge.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT {listed} FROM {name}")
    else:
        judge.from_arrow(plain(arrow_schema(dataset).empty_table())).query("none", f"CREATE OR REPLACE TABLE {name} AS FROM none")


def plain(table: pa.Table) -> pa.Table:
    return pa.table(
        {
            name: column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
            for name, column in zip(table.schema.names, table.columns, strict=True)
        }
    )


def rewritten(table: pa.Table, dataset: Dataset, files: list[ReleaseFile], folder: Path) -> list[str]:
    """Write rows in their order as a release does, as many into each file; return the digests."""
    schema, writer, digests, start = arrow_schema(dataset), ReleaseWriter(DirectoryStore(folder), SplitRows()), [], 0
    for file in files:
        rows = table.slice(start, file.rows).combine_chunks()
        start += file.rows
        columns = []
        for field in schema:
            column = rows.column(field.name).combine_chunks()
            if pa.types.is_dictionary(field.type) and dataset.name == "observations":
                texts = sorted({text for text in column.to_pylist() if text is not None})
                column = pa.DictionaryArray.from_arrays(
                    pa.array([None if text is None else texts.index(text) for text in column.to_pylist()], pa.int32()),
                    pa.array(texts, pa.string()),
                )
            elif pa.types.is_dictionary(field.type):
                column = column.dictionary_encode()
            columns.append(column.cast(field.type))
        digests.append(writer.write(dataset, pa.Table.from_arrays(columns, schema=schema), file.name, str).sha256)
    return digests


def test_yesterday_and_the_changes_are_today_byte_for_byte(
    index: Settings, judge: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """Between 50 random pairs of kept releases, for each dataset, by DuckDB over the files."""
    pairs = random.Random(34).sample(list(combinations(range(1, 12), 2)), PAIRS)
    for before, after in pairs:
        for name, dataset in DATASETS.items():
            manifest = made(index, parameters(changes_of(name), compression="zstd", since=before, until=after))
            files = files_of(index, name, after)
            read(judge, "yesterday", index, dataset, files_of(index, name, before))
            read(judge, "today", index, dataset, files)
            read_export(judge, index, changes_of(name), manifest.files)
            columns = ", ".join(f'"{column.name}"' for column in dataset.columns)
            judge.execute(
                f"CREATE OR REPLACE TABLE made AS SELECT {columns} FROM ("
                f"SELECT {columns}, 1 AS n FROM yesterday UNION ALL SELECT {columns}, {SIGNS} FROM changes) "
                f"GROUP BY {columns} HAVING sum(n) > 0"
            )
            order = ORDERS.get(name, f'"{dataset.order[0]}"')
            table = judge.execute(f"SELECT {columns} FROM made ORDER BY {order}").to_arrow_table()
            assert rewritten(table, dataset, files, tmp_path) == [file.sha256 for file in files], (before, after, name)
            differing = "SELECT count(*) FROM (FROM {0} EXCEPT ALL FROM {1})"
            [(gone,)] = judge.execute(differing.format("yesterday", "today")).fetchall()
            [(came,)] = judge.execute(differing.format("today", "yesterday")).fetchall()
            assert manifest.rows == gone + came, (before, after, name)  # no row more than what differs


def read_export(judge: duckdb.DuckDBPyConnection, settings: Settings, name: str, files: Any) -> None:
    paths = [str(settings.results_dir / file.key) for file in files]
    judge.execute("CREATE OR REPLACE TABLE changes AS FROM read_parquet($1)", [paths])
