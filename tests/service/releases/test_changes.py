"""What changed between two releases, and why: yesterday and the changes are today, as DuckDB reads the files."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shared.bulk.schema import CHANGES, DATASETS, Dataset, KeptReleaseFile, arrow_schema, changes_of, key_of, version_of
from shared.db.connect import Connection, connect
from shared.index.iid import mint
from shared.objects.directory import DirectoryStore
from shared.objects.open import open_object_store
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.engine import single_threaded
from tests.support.releases import cut, files_of, without_column
from tests.support.servers import Contents
from tests.support.shop import load_rows
from tests.support.workers import run
from workers.bulk.changes import ReleaseComparison, steps
from workers.bulk.releases import expire
from workers.bulk.writers.release_file import ReleaseWriter
from workers.jobs.failed_rows import FailedRows
from workers.jobs.services import SplitRows
from workers.provenance import item_acts, standing
from workers.provenance.undo import undo

# One worker makes the releases of these tests, instead of each of them.
pytestmark = pytest.mark.xdist_group("changes")

SOY, CUSTARD, DRINK, RICE, TEA, OIL = (mint("shop", sku).iid for sku in "123456")
VERSIONS = 11
# The whole way, which crosses a release of older code; past a merge and its split; and to where a load was taken back.
PAIRS = ((1, VERSIONS), (2, 6), (7, 9))
# The order of rows in a release, and so in its files. A sale comes behind a listing, and no value before any.
ORDERS = {
    "observations": "strftime(day, '%Y-%m'), iid, day, channel, price_minor, list_minor NULLS FIRST, kind, currency, "
    "source, units, outlier NULLS FIRST",
    "impacts": "iid, indicator",
    "merged": '"from"',
}
SIGNS = "CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END"


# Of a custard, plausible; of what it is merged into, many times the price of the other observations.
DEAR = "2,Crème brûlée,Maison,Desserts,Custard,0.2,2026-07-02,NORTH,125,\n"


def rice(prices: dict[int, str]) -> str:
    return "".join(f"4,Rice,Gold,Food,Rice,2.0,2026-07-{day:02d},NORTH,{price},\n" for day, price in prices.items())


def act(settings: Settings, kind: Any, *arguments: Any) -> None:
    with connect(settings.database_url, application="tests") as connection:
        standing.lock(connection)
        kind(connection, *arguments, "tests", None)


def last_load(connection: Connection) -> str:
    row = connection.execute("SELECT no::text FROM events WHERE kind = 'load' ORDER BY no DESC LIMIT 1").fetchone()
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
        lambda: load("1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-02,NORTH,11.60,12\n5,Tea,Vita,Drinks,Tea,1,2026-07-02,EAST,3,\n" + DEAR, "2"),
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


@pytest.fixture
def contents() -> Contents:
    return released


@pytest.fixture
def judge() -> Iterator[duckdb.DuckDBPyConnection]:
    with single_threaded() as connection:
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
        judge.from_arrow(plain(arrow_schema(dataset).empty_table())).query(
            "none", f"CREATE OR REPLACE TABLE {name} AS FROM none"
        )


def plain(table: pa.Table) -> pa.Table:
    return pa.table(
        {
            name: column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
            for name, column in zip(table.schema.names, table.columns, strict=True)
        }
    )


def rewritten(table: pa.Table, dataset: Dataset, files: list[KeptReleaseFile], folder: Path) -> list[str]:
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


def changes(settings: Settings, before: int, after: int, folder: Path) -> dict[str, pa.Table]:
    """Return the changes of all datasets from one release to another, as an export has them."""
    store, found = open_object_store(settings), {}
    with TemporaryDirectory(dir=folder) as own, ReleaseComparison(Path(own)) as comparison:
        for name, dataset in DATASETS.items():
            feed = changes_of(name)
            files = [file.sha256 for file in files_of(settings, feed, after) if version_of(file.name) > before]
            comparison.take(dataset, steps(store, dataset, files))
            found[name] = pa.Table.from_batches(comparison.changes(dataset, after), arrow_schema(CHANGES[feed]))
    return found


def step(settings: Settings, version: int) -> dict[str, list[dict[str, Any]]]:
    """Return what a release says has changed since the one before, by dataset."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name in DATASETS:
        files = [file for file in files_of(settings, changes_of(name), version) if version_of(file.name) == version]
        tables = [pq.read_table(settings.results_dir / key_of(file.sha256)) for file in files]
        found[name] = [row for table in tables for row in table.to_pylist()]
    return found


def test_yesterday_and_the_changes_are_today_byte_for_byte(
    settings: Settings, judge: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """Between kept releases, for each dataset, by DuckDB over the files."""
    for before, after in PAIRS:
        for name, table in changes(settings, before, after, tmp_path).items():
            dataset, files = DATASETS[name], files_of(settings, name, after)
            read(judge, "yesterday", settings, dataset, files_of(settings, name, before))
            read(judge, "today", settings, dataset, files)
            judge.register("changes", plain(table))
            columns = ", ".join(f'"{column.name}"' for column in dataset.columns)
            made = judge.sql(
                f"SELECT {columns} FROM ("
                f"SELECT {columns}, 1 AS n FROM yesterday UNION ALL SELECT {columns}, {SIGNS} FROM changes) "
                f"GROUP BY {columns} HAVING sum(n) > 0 ORDER BY {ORDERS.get(name, dataset.order[0])}"
            )
            digests = rewritten(made.to_arrow_table(), dataset, files, tmp_path)
            assert digests == [file.sha256 for file in files], (before, after, name)
            differing = "(SELECT count(*) FROM (FROM {0} EXCEPT ALL FROM {1}))"
            both = f"SELECT {differing.format('yesterday', 'today')} + {differing.format('today', 'yesterday')}"
            # Not one row more than what differs: 1.2 times as many would be allowed.
            assert judge.sql(both).fetchall() == [(table.num_rows,)], (before, after, name)


REASONS = {  # of each release: what happened to which items, and why
    2: {(SOY, "update", "source"), (CUSTARD, "update", "source"), (TEA, "insert", "source")},
    3: {(SOY, "update", "merge"), (CUSTARD, "update", "merge")},
    4: {(SOY, "update", "source"), (CUSTARD, "update", "source"), (RICE, "insert", "source")},
    5: {(SOY, "update", "split"), (CUSTARD, "update", "split")},
    6: {(RICE, "update", "source")},
    7: {(DRINK, "delete", "withdrawal")},
    8: {(TEA, "update", "source")},
    9: {(TEA, "update", "source")},
    10: {(DRINK, "insert", "source")},
    11: {(OIL, "insert", "source")},
}
OBSERVED = {  # the same of their observations; a merge and a split move them
    2: {"update source", "insert source"},
    3: {"delete merge", "insert merge", "update merge"},
    4: {"insert source"},
    5: {"delete split", "insert split", "update split"},
    6: {"update outlier-flag", "insert source"},
    7: {"delete withdrawal"},
    8: {"insert source"},
    9: {"delete withdrawal"},
    10: {"insert source"},
    11: {"insert source"},
}


def test_each_change_has_its_reason(settings: Settings) -> None:
    for after in range(2, VERSIONS + 1):
        rows = step(settings, after)
        why = {
            name: [(row["_change_type"].partition("_")[0], row["_change_reason"]) for row in listed]
            for name, listed in rows.items()
        }
        assert {(row["iid"], *one) for row, one in zip(rows["items"], why["items"], strict=True)} == REASONS[after]
        assert {" ".join(one) for one in why["observations"]} == OBSERVED[after], after
        assert {row["_data_version"] for listed in rows.values() for row in listed} == {after}
        if after in (3, 5):
            assert {reason for listed in why.values() for _, reason in listed} == {"merge" if after == 3 else "split"}
        if after == 7:
            assert {reason for listed in why.values() for _, reason in listed} == {"withdrawal"}


def test_where_one_item_is_split_and_merged_each_observation_has_the_reason_of_its_own_move(
    settings: Settings, tmp_path: Path
) -> None:
    act(settings, item_acts.merge, SOY, CUSTARD)
    cut(settings)
    act(settings, item_acts.restore, SOY)
    act(settings, item_acts.merge, TEA, CUSTARD)
    cut(settings)
    rows = changes(settings, VERSIONS + 1, VERSIONS + 3, tmp_path)["observations"].to_pylist()
    why = {(row["iid"], row["_change_type"].partition("_")[0], row["_change_reason"]) for row in rows}
    assert why >= {(SOY, "insert", "split"), (CUSTARD, "delete", "split")}
    assert why >= {(TEA, "delete", "merge"), (CUSTARD, "insert", "merge")}


async def test_changes_are_a_dataset_that_says_how_far_it_leads_back(edge: Edge, settings: Settings, key: str) -> None:
    manifest = (await edge.get("/index/datasets/items_changes/releases/latest", key=key)).json
    assert (manifest["since"], manifest["data_version"]) == (1, VERSIONS)
    # One step after the other, and the same files for as long as they are kept.
    steps_of = [version_of(file["name"]) for file in manifest["files"]]
    assert steps_of == sorted(steps_of) and set(steps_of) == set(range(2, VERSIONS + 1))
    earlier = (await edge.get("/index/datasets/items_changes/releases/9", key=key)).json
    digests = [file["sha256"] for file in manifest["files"]]
    assert [file["sha256"] for file in earlier["files"]] == digests[: len(earlier["files"])]
    assert "since" not in (await edge.get("/index/datasets/items/releases/latest", key=key)).json
    execute(settings, "UPDATE releases SET expires_at = now() - interval '1 second' WHERE data_version < 4")
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        expire(connection, open_object_store(settings), Log("tests"), FailedRows("release-file", Log("tests")))
    load_rows(settings, settings.results_dir, "7,Salt,Gold,Food,Salt,1,2026-06-30,EAST,3,\n", name="12.csv")
    cut(settings)
    # What nobody can begin with any more is not kept on.
    kept = (await edge.get("/index/datasets/items_changes/releases/latest", key=key)).json
    assert kept["since"] == 4 and {version_of(file["name"]) for file in kept["files"]} == set(range(5, VERSIONS + 2))


async def test_an_export_of_changes_is_one_step_between_two_releases(
    edge: Edge, settings: Settings, key: str, tmp_path: Path
) -> None:
    """What came and went in between is not in it: a merge that was undone, and the load that was."""
    body = {"dataset": "observations_changes", "format": "ndjson", "since": 2, "until": 5}
    ordered = await edge.ask("POST", "/index/exports", key=key, body=json.dumps(body).encode())
    assert ordered.status == 202, ordered.body
    assert await asyncio.to_thread(run, settings, str(job_of(settings))) == "succeeded"
    manifest = (await edge.get(f"/index/exports/{ordered.json['id']}", key=key)).json["manifest"]
    assert (manifest["data_version"], manifest["since"]) == (5, 2)
    answer = await edge.get("/" + manifest["files"][0]["url"].split("/v1/")[1], key=key)
    rows = [json.loads(line) for line in answer.body.splitlines()]
    assert {(row["iid"], row["_change_type"], row["_data_version"]) for row in rows} == {
        (SOY, "insert", 5),
        (RICE, "insert", 5),
    }
    expected = changes(settings, 2, 5, tmp_path)["observations"]
    assert [row["price_minor"] for row in rows] == expected["price_minor"].to_pylist()


def job_of(settings: Settings) -> str:
    [row] = execute(settings, "SELECT id::text FROM jobs WHERE kind = 'export' AND state = 'queued'")
    return str(row[0])


async def test_an_export_of_changes_names_two_kept_releases(edge: Edge, key: str) -> None:
    for asked, parameter in (
        ({}, "since"),
        ({"since": VERSIONS}, "since"),
        ({"since": 5, "until": 5}, "since"),
        ({"since": 1, "until": 99}, "until"),
        ({"since": 1, "filter": {"brand": "vita"}}, "filter.brand"),
        ({"dataset": "observations", "until": 3}, "until"),
    ):
        body = json.dumps({"dataset": "items_changes", **asked}).encode()
        answer = await edge.ask("POST", "/index/exports", key=key, body=body)
        assert (answer.status, answer.json["errors"][0]["parameter"]) == (400, parameter), answer.body


async def test_what_an_export_of_changes_would_be(edge: Edge, key: str) -> None:
    body = json.dumps({"dataset": "items_changes", "since": 1}).encode()
    answer = await edge.ask("POST", "/index/exports?preview=true", key=key, body=body)
    assert (answer.json["rows_relation"], answer.json["preview"]) == ("about", [])
    manifest = (await edge.get("/index/datasets/items_changes/releases/latest", key=key)).json
    assert answer.json["rows"] == manifest["rows"] > 0


def test_a_release_is_published_without_changes_where_a_file_before_it_is_lost(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in files_of(settings, "items", VERSIONS):
        (settings.results_dir / key_of(file.sha256)).unlink()
    load_rows(settings, tmp_path, "7,Salt,Gold,Food,Salt,1,2026-06-30,EAST,3,\n", name="12.csv")
    cut(settings)
    assert files_of(settings, "items", VERSIONS + 1)
    assert files_of(settings, "items_changes", VERSIONS + 1) == []
    assert "release-not-compared" in capsys.readouterr().err
