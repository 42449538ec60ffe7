"""What a release holds, that it shares what did not change, and that nothing of it is ever half there."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from shared.bulk.schema import DATASETS, PREFIX, arrow_schema, key_of
from shared.db.connect import connect
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.support.database import execute
from tests.support.releases import cut, released_shop
from tests.support.servers import begins_with
from tests.support.shop import load_rows
from workers.bulk.releases import expire, order_due
from workers.jobs.failed_rows import FailedRows
from workers.jobs.job_handler import JobContext


def read(settings: Settings, dataset: str, version: int | None = None) -> pa.Table:
    rows = execute(
        settings,
        "SELECT sha256 FROM release_files WHERE dataset = $1 AND data_version = coalesce($2, (SELECT max(data_version) FROM releases)) "
        "ORDER BY place",
        dataset,
        version,
    )
    paths = [str(settings.results_dir / key_of(row[0])) for row in rows]
    return pyarrow.dataset.dataset(paths, schema=arrow_schema(DATASETS[dataset])).to_table()


@begins_with(released_shop)
def test_a_release_says_what_the_index_says(settings: Settings) -> None:
    seen = read(settings, "observations").to_pylist()
    items = {row["iid"]: row for row in read(settings, "items").to_pylist()}
    assert len(seen) == 5 and len(items) == 3
    assert [(row["iid"], row["day"]) for row in seen] == sorted((row["iid"], row["day"]) for row in seen)
    soy = [row for row in seen if items[row["iid"]]["name"] == "Soy milk 1L"]
    assert [
        (row["day"], row["channel"], row["price"], row["price_minor"], row["list_price"], row["list_minor"])
        for row in soy
    ] == [
        (date(2026, 7, 1), "NORTH", Decimal("10.9000"), 1090, Decimal("12.0000"), 1200),
        (date(2026, 7, 2), "NORTH", Decimal("11.5000"), 1150, Decimal("12.0000"), 1200),
        (date(2026, 7, 2), "SOUTH", Decimal("9.0000"), 900, None, None),
    ]
    assert {(row["kind"], row["source"], row["currency"], row["units"]) for row in seen} == {
        ("listing", "shop", "HKD", 1)
    }
    custard = next(row for row in items.values() if row["brand"] == "Maison")
    assert (custard["name"], custard["status"], custard["alt_names"]) == ("Crème brûlée", "active", [])
    assert custard["category"] == "desserts.custard" and '"weight_kg"' in custard["attributes"]
    brands = {row["slug"]: row for row in read(settings, "brands").to_pylist()}
    assert (brands["vita"]["item_count"], brands["vita"]["channels"]) == (2, ["NORTH", "SOUTH"])
    codes = {row["code"]: row for row in read(settings, "categories").to_pylist()}
    assert codes["drinks.soy-milk"]["parent"] == "drinks" and codes["drinks.soy-milk"]["level"] == 2
    assert codes["drinks.soy-milk"]["path"] == ["Drinks", "Soy milk"]


@begins_with(released_shop)
def test_files_are_typed_sorted_and_listed(settings: Settings) -> None:
    rows = execute(settings, "SELECT dataset, sha256, rows, bytes, min_key, max_key, statistics FROM release_files")
    assert {row[0] for row in rows} == {"items", "observations", "brands", "categories", "cards"}
    for dataset, sha256, count, size, least, most, statistics in rows:
        path = settings.results_dir / key_of(sha256)
        file = pq.ParquetFile(path)
        assert file.schema_arrow.equals(arrow_schema(DATASETS[dataset]))
        assert (file.metadata.num_rows, path.stat().st_size) == (count, size)
        assert file.metadata.row_group(0).column(0).compression == "ZSTD"
        assert least <= most and statistics["numRecords"] == count
        if dataset == "observations":
            assert least.startswith("2026-07/IID-")
            assert (statistics["minValues"]["day"], statistics["maxValues"]["day"]) == ("2026-07-01", "2026-07-02")
            assert (statistics["minValues"]["price_minor"], statistics["nullCount"]["list_minor"]) == (850, 3)


@begins_with(load_rows)
def test_a_file_is_shared_by_the_releases_in_which_it_is_the_same_and_goes_with_the_last_of_them(
    settings: Settings, tmp_path: Path
) -> None:
    """A load of another month leaves the files of the months before as they are, though it brings a new channel."""
    store, log = DirectoryStore(settings.results_dir), Log("tests")
    reported = cut(settings)
    assert (reported["data_version"], reported["cut"], reported["shared_bytes"]) == (1, True, 0)
    before = set((settings.results_dir / PREFIX).iterdir())
    assert cut(settings) == {"data_version": 1, "cut": False}, "the same data again"
    assert set((settings.results_dir / PREFIX).iterdir()) == before
    august = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-08-03,NORTH,10.90,12\n"
    load_rows(settings, tmp_path, f"{august}9,New,New,New,New,1.0,2026-08-03,ALPHA,1,\n", name="august.csv")
    reported = cut(settings)
    after = set((settings.results_dir / PREFIX).iterdir())
    assert before < after and reported["shared_bytes"] > 0
    assert sum(path.stat().st_size for path in after - before) == reported["written_bytes"]
    rows = execute(settings, "SELECT data_version, name, sha256 FROM release_files WHERE dataset = 'observations'")
    july = {row[2] for row in rows if row[1].startswith("2026-07")}
    assert len(july) == 1 and {row[0] for row in rows} == {1, 2}
    assert read(settings, "observations", 1).num_rows == 5
    with store.create(key_of("f" * 64)) as file:
        file.write(b"no manifest names this")
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        assert expire(connection, store, log, FailedRows("release-file", log)) == 0, (
            "it may belong to a release that is being cut"
        )
        assert expire(connection, store, log, FailedRows("release-file", log), orphan_seconds=-1) == 1
    execute(settings, "UPDATE releases SET expires_at = now() - interval '1 second'")
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        assert expire(connection, store, log, FailedRows("release-file", log), orphan_seconds=-1) > 0
        assert connection.execute("SELECT DISTINCT data_version FROM releases").fetchall() == [(2,)]
        named = {row[0] for row in connection.execute("SELECT sha256 FROM release_files")}
    assert {found.key for found in store.list_objects(PREFIX)} == {key_of(sha256) for sha256 in named}
    assert read(settings, "observations").num_rows == 7


@begins_with(released_shop)
def test_withdrawn_items_are_in_no_later_release(settings: Settings) -> None:
    gone = read(settings, "observations").column("iid")[0].as_py()
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("UPDATE items SET status = 'withdrawn' WHERE iid = $1", (gone,))
        connection.execute("INSERT INTO data_versions (version) VALUES (2)")
    cut(settings)
    for dataset in ("items", "observations"):
        assert gone not in read(settings, dataset).column("iid").to_pylist()
        assert gone in read(settings, dataset, 1).column("iid").to_pylist()


def test_a_sweep_waits_for_a_cut(settings: Settings) -> None:
    store, log = DirectoryStore(settings.results_dir), Log("tests")
    with store.create(key_of("f" * 64)) as file:
        file.write(b"a file whose release is being cut")
    with connect(settings.worker_database_url, application="tests", autocommit=True) as cutting:
        cutting.execute("SELECT pg_advisory_lock(7166003)")
        with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
            assert expire(connection, store, log, FailedRows("release-file", log), orphan_seconds=-1) == 0
    assert store.size(key_of("f" * 64))


def test_a_release_is_due_when_the_data_changed_and_the_last_one_is_old(settings: Settings, tmp_path: Path) -> None:
    def due(connection: Any) -> str | None:
        return order_due(settings, connection)

    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        assert due(connection) is None  # an empty index
        load_rows(settings, tmp_path)
        assert due(connection) is not None
        assert due(connection) is None  # ordered already
    cut(settings)
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute("UPDATE jobs SET created_at = created_at - interval '2 hours'")
        assert due(connection) is None  # cut already
        load_rows(
            settings, tmp_path, "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-08-03,NORTH,10.90,12\n", name="august.csv"
        )
        assert due(connection) is None  # not so soon
        connection.execute("UPDATE releases SET created_at = created_at - interval '25 hours'")
        assert due(connection) is not None


@begins_with(load_rows)
def test_a_worker_that_lost_its_job_publishes_nothing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    from workers.bulk import build_release as module

    real = module._publish

    def stolen(context: JobContext, *rest: Any) -> None:
        execute(settings, "UPDATE jobs SET attempt = attempt + 1 WHERE id = $1", context.job.id)
        real(context, *rest)

    monkeypatch.setattr(module, "_publish", stolen)
    with pytest.raises(AssertionError):
        cut(settings)
    with connect(settings.database_url, application="tests") as connection:
        assert connection.execute("SELECT count(*) FROM releases").fetchone() == (0,)
