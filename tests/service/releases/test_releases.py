"""How releases are cut: what they hold, share and split, and snapshots that break off."""

import hashlib
import json
import threading
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import asyncpg
import duckdb
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from shared.bulk.schema import DATASETS, PREFIX, RELEASED, arrow_schema, key_of
from shared.db.connect import connect
from shared.index.iid import mint
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.service.articles.support import gtins, row, shop
from tests.support.database import execute
from tests.support.releases import cut, released_shop
from tests.support.servers import begins_with
from tests.support.shop import MAPPING, load_rows
from tests.support.workers import run
from workers.bulk.releases import expire, order, order_due
from workers.bulk.sources.snapshot import Snapshot, SnapshotLost
from workers.jobs.failed_rows import FailedRows
from workers.jobs.job_handler import JobContext
from workers.provenance import item_acts, standing

# What a release holds, that it shares what did not change, and that nothing of it is ever half there.


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
    with store.writing(key_of("f" * 64)) as file:
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
    assert {found.key for found in store.listed(PREFIX)} == {key_of(sha256) for sha256 in named}
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
    with store.writing(key_of("f" * 64)) as file:
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


# A snapshot that is broken off: by who reads it, or by the server.


ENDLESS = "SELECT generate_series(1, 100000000), repeat('x', 1000)"

LOST = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'itemindex-release'"


def test_a_client_that_stops_reading_leaves_nothing_behind(settings: Settings) -> None:
    before = threading.active_count()
    with Snapshot(settings.worker_database_url, application="release") as snapshot:
        assert len(next(snapshot.copy(ENDLESS, format="binary"))) > 0
    assert threading.active_count() == before


def test_a_server_that_disconnects_is_an_error_and_never_an_early_end(settings: Settings) -> None:
    with Snapshot(settings.worker_database_url, application="release") as snapshot:
        pieces = snapshot.copy(ENDLESS, format="binary")
        next(pieces)
        execute(settings, LOST)
        with pytest.raises(SnapshotLost):
            for _ in pieces:
                pass


@begins_with(load_rows)
def test_a_cut_that_loses_its_server_publishes_nothing_and_is_tried_again(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workers.bulk import build_release as module

    real = module.table_batches

    def lose(*arguments: Any) -> Any:
        if arguments[1].name == "categories":
            execute(settings, LOST)
        return real(*arguments)

    monkeypatch.setattr(module, "table_batches", lose)
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        job = order(connection, 1)
        assert run(settings, job) == "queued"
        assert connection.execute("SELECT count(*) FROM releases").fetchone() == (0,)
        monkeypatch.undo()
        assert run(settings, job) == "succeeded"
        assert connection.execute("SELECT count(*) FROM releases").fetchone() == (len(RELEASED),)
        named = {row[0] for row in connection.execute("SELECT sha256 FROM release_files")}
    assert {path.stem for path in (settings.results_dir / PREFIX).iterdir()} == named


def test_the_end_of_a_copy_wakes_its_reader(settings: Settings) -> None:
    """The poll is for a server that is silent; a reader that waited for it after each COPY would never end here."""
    with Snapshot(settings.worker_database_url, application="tests", poll_seconds=3_600) as snapshot:
        for _ in range(3):
            assert b"".join(snapshot.copy("SELECT 1", format="csv")) == b"1\n"
            assert list(snapshot.copy("SELECT 1 WHERE false", format="csv")) == []


def test_a_statement_that_is_wrong_is_an_error_of_its_own(settings: Settings) -> None:
    with Snapshot(settings.worker_database_url, application="tests") as snapshot:
        with pytest.raises(asyncpg.UndefinedTableError):
            list(snapshot.copy("SELECT 1 FROM no_such_table", format="csv"))


def test_an_argument_is_a_value_whatever_it_says(settings: Settings) -> None:
    """They are written into the query: no text may end its constant, or be taken for another argument's place."""
    query = "SELECT $1::text, $2::text[], $3::int, $4::date IS NULL"
    values = ("it's", "a\\b\\", "'; DROP TABLE items; --", "$1 $2", "E'\\''", "two\nlines", '{"a",NULL}', "豆奶", "")
    with Snapshot(settings.worker_database_url, application="tests") as snapshot:
        for value in values:
            assert snapshot.rows(query, value, [value, "x"], -7, None) == [(value, [value, "x"], -7, True)]


# Data for models: cards and pairs, with DuckDB as their judge.


SOY = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-{:02d},{},{},\n"


def committed_on(settings: Settings, day: str) -> None:
    execute(settings, "UPDATE data_versions SET committed_at = $1::date + time '22:00'", day)


def test_a_card_says_what_the_index_says(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, name="first.csv")
    load_rows(settings, tmp_path, "4,Nameless,,,,,2026-07-01,NORTH,7,\n", name="second.csv")
    cut(settings)
    cards = {one["name"]: one for one in read(settings, "cards").to_pylist()}
    assert {one["iid"] for one in cards.values()} == set(read(settings, "items").column("iid").to_pylist())
    soy = cards["Soy milk 1L"]
    assert soy["text"].splitlines() == [
        "Soy milk 1L",
        "Brand: Vita",
        "Category: Drinks > Soy milk",
        "weight_kg: 1.0",
        "Price in HKD: 9.00 on 2026-07-02, 9.00 to 11.50 in 3 observations",
    ]
    assert (soy["brand"], soy["category"], soy["category_path"]) == ("Vita", "drinks.soy-milk", ["Drinks", "Soy milk"])
    assert json.loads(soy["prices"]) == [
        {
            "currency": "HKD",
            "kind": "listing",
            "observations": 3,
            "low": "9.00",
            "high": "11.50",
            "last": "9.00",
            "last_day": "2026-07-02",
        }
    ]
    bare = cards["Nameless"]
    assert (bare["brand"], bare["category"], bare["category_path"]) == (None, None, [])
    assert bare["text"].startswith("Nameless\nPrice in HKD: 7.00")


def test_a_card_keeps_sales_and_listings_apart(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, SOY.format(1, "NORTH", "10") + SOY.format(2, "NORTH", "12"), name="offers.csv")
    sold = MAPPING + 'kind = "sale"\nidentity = "event"\n'
    load_rows(
        settings, tmp_path, SOY.format(3, "OUTLET", "4") + SOY.format(4, "OUTLET", "5"), text=sold, name="sold.csv"
    )
    cut(settings)
    [card] = read(settings, "cards").to_pylist()
    assert card["text"].splitlines()[-2:] == [
        "Price in HKD: 12.00 on 2026-07-02, 10.00 to 12.00 in 2 observations",
        "Sale price in HKD: 5.00 on 2026-07-04, 4.00 to 5.00 in 2 observations",
    ]
    assert [(one["kind"], one["low"], one["high"], one["last"]) for one in json.loads(card["prices"])] == [
        ("listing", "10.00", "12.00", "12.00"),
        ("sale", "4.00", "5.00", "5.00"),
    ]


def test_a_card_knows_nothing_of_later_days(settings: Settings, tmp_path: Path) -> None:
    """Observations of days after a release's own change no byte of its cards, also if they are loaded before it."""
    cards = "SELECT sha256 FROM release_files WHERE dataset = 'cards' AND data_version = $1"
    load_rows(settings, tmp_path, SOY.format(1, "NORTH", "10.90"), name="first.csv")
    committed_on(settings, "2026-07-01")
    cut(settings)
    load_rows(settings, tmp_path, SOY.format(2, "NORTH", "12") + SOY.format(3, "SOUTH", "9"), name="later.csv")
    committed_on(settings, "2026-07-01")
    cut(settings)
    load_rows(settings, tmp_path, SOY.format(4, "NORTH", "11"), name="last.csv")
    committed_on(settings, "2026-07-03")
    cut(settings)
    first, second, third = (execute(settings, cards, version) for version in (1, 2, 3))
    assert first == second != third
    found = duckdb.sql(f"SELECT prices FROM '{settings.results_dir / key_of(third[0][0])}'").fetchall()
    assert [json.loads(prices)[0]["last_day"] for (prices,) in found] == ["2026-07-03"]
    assert [json.loads(one["prices"])[0]["high"] for one in read(settings, "cards", 1).to_pylist()] == ["10.90"]


PAIRS = 30


def iids(number: int) -> tuple[str, str]:
    return mint("shop_a", f"a{number}").iid, mint("shop_b", f"b{number}").iid


def with_pairs(settings: Settings, folder: Path) -> None:
    """Thirty items that two shops have. A person takes the first apart, and says of neighbours that they differ."""
    rows = [(code, f"Item of kind {number} 1L") for number, code in enumerate(gtins(PAIRS))]
    shop(settings, folder, "shop_a", "".join(row(f"a{n}", code, name) for n, (code, name) in enumerate(rows)))
    other = "".join(row(f"b{n}", code, name) for n, (code, name) in enumerate(rows))
    shop(settings, folder, "shop_b", other, merges_allowed=True)
    different = [iids(0), *((iids(number)[0], iids(number + 1)[0]) for number in range(1, PAIRS - 1))]
    with connect(settings.database_url, application="tests") as connection:
        ids = dict(connection.execute("SELECT iid, id FROM items").fetchall())
        standing.lock(connection)
        decided = [(ids[one], ids[other], False) for one, other in different]
        item_acts.decide_all(connection, decided, {}, "Jane Doe", "a reason of Acme Ltd")
    cut(settings)


@begins_with(with_pairs)
def test_pairs_are_labelled_by_what_people_decided_and_by_links(settings: Settings) -> None:
    found = read(settings, "training_pairs")
    assert {
        (frozenset((one["left_iid"], one["right_iid"])), one["label"], one["known_by"]) for one in found.to_pylist()
    } == {
        (frozenset(iids(0)), "no_match", "review"),
        *((frozenset(iids(number)), "match", "identifier") for number in range(1, PAIRS)),
        *((frozenset((iids(n)[0], iids(n + 1)[0])), "no_match", "review") for n in range(1, PAIRS - 1)),
    }
    assert found.num_rows == 2 * PAIRS - 2
    with connect(settings.database_url, application="tests") as connection:
        counted = "SELECT (SELECT count(*) FROM events WHERE kind = 'separation'), (SELECT count(*) FROM links) - 1"
        assert connection.execute(counted).fetchone() == (PAIRS - 1, PAIRS - 1)
    assert "Jane" not in str(found.to_pylist()) and "Acme" not in str(found.to_pylist())


@begins_with(with_pairs)
def test_no_item_is_in_two_splits_and_its_split_follows_from_its_iid(settings: Settings) -> None:
    pairs, cards = read(settings, "training_pairs"), read(settings, "cards")  # DuckDB finds them by name
    assert pairs.num_rows and cards.num_rows
    said = duckdb.sql("""
        SELECT survivor, list(DISTINCT split) FROM (
            SELECT left_survivor_iid AS survivor, split FROM pairs UNION ALL SELECT right_survivor_iid, split FROM pairs
            UNION ALL SELECT iid, split FROM cards) WHERE split IS NOT NULL GROUP BY survivor""").fetchall()
    assert len(said) == cards.num_rows == PAIRS + 1
    for survivor, splits in said:
        first = hashlib.sha256(survivor.encode()).digest()[0]
        assert splits == ["train" if first < 204 else "validation" if first < 230 else "test"]
    crossing = """
        SELECT bool_and((p.split IS NULL) = (l.split <> r.split)), count(p.split), count(*) FROM pairs p
        JOIN cards l ON l.iid = p.left_survivor_iid JOIN cards r ON r.iid = p.right_survivor_iid"""
    [(right, within, every)] = duckdb.sql(crossing).fetchall()
    assert right and 0 < within < every == pairs.num_rows


@begins_with(with_pairs)
def test_a_merged_item_takes_the_split_of_its_survivor(settings: Settings) -> None:
    survivors = {one["iid"]: one["survivor_iid"] for one in read(settings, "items").to_pylist()}
    for one in read(settings, "training_pairs").to_pylist():
        for side in ("left", "right"):
            assert one[f"{side}_survivor_iid"] == (survivors[one[f"{side}_iid"]] or one[f"{side}_iid"])
    assert all(survivors[iid] is None for iid in read(settings, "cards").column("iid").to_pylist())
