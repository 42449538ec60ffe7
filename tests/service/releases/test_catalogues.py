"""Catalogues of the kept releases: each names what the manifests name, at every version that is kept."""

import datetime
import hashlib
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
import fastavro
import msgspec
import pytest
from botocore.credentials import Credentials

from edge.bulk import iceberg_tables
from shared.bulk.schema import RELEASED, catalogue_key
from shared.clock import utc_now
from shared.db.connect import connect
from shared.objects.open import open_object_store
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.service.releases.test_bucket import ask
from tests.support.client import Edge
from tests.support.releases import cut, released_shop
from tests.support.servers import Contents, begins_with
from tests.support.shop import load_rows
from workers.bulk import catalogue
from workers.bulk.releases import expire, refresh_catalogue
from workers.jobs.failed_rows import FailedRows

DUCKLAKE = "/catalog/ducklake/latest.ducklake"


@pytest.fixture
def contents() -> Contents:
    return released_shop


def four_releases(settings: Settings, folder: Path) -> None:
    """Cut three releases after the first: a new month, the same files with one more, and a price that changes a file."""
    released_shop(settings, folder)
    rows = ("8,Tea,Lipt,Drinks,Tea,1.0,2026-08-03,NORTH,1,", "9,Rice,Gold,Food,Rice,2.0,2026-09-03,NORTH,1,")
    for number, row in enumerate((*rows, "9,Rice,Gold,Food,Rice,3.0,2026-09-04,NORTH,1,")):
        load_rows(settings, folder, f"{row}\n", name=f"more-{number}.csv")
        cut(settings)


async def opened(edge: Edge, key: str, folder: Path) -> duckdb.DuckDBPyConnection:
    answer = await edge.get(DUCKLAKE, key=key)
    assert (answer.status, answer.head["Content-Type"]) == (200, "application/vnd.duckdb"), answer.body
    (folder / "it.ducklake").write_bytes(answer.body)
    return duckdb.connect(str(folder / "it.ducklake"), read_only=True)


async def manifest(edge: Edge, key: str, dataset: str, version: int) -> Any:
    return (await edge.get(f"/index/datasets/{dataset}/releases/{version}", key=key)).json


# The queries that DuckLake's specification gives to readers.
FILES = """SELECT f.path, f.file_size_bytes, f.record_count, t.path, t.table_name FROM ducklake_data_file f
JOIN ducklake_table t USING (table_id) WHERE t.table_name = $1 AND $2 >= f.begin_snapshot
AND ($2 < f.end_snapshot OR f.end_snapshot IS NULL) ORDER BY f.path"""
COLUMNS = """SELECT column_name, column_type FROM ducklake_column c JOIN ducklake_table t USING (table_id)
WHERE t.table_name = $1 AND parent_column IS NULL AND $2 >= c.begin_snapshot
AND ($2 < c.end_snapshot OR c.end_snapshot IS NULL) ORDER BY column_order"""


@begins_with(four_releases)
async def test_each_kept_version_is_a_snapshot_with_the_files_of_its_manifest(
    edge: Edge, settings: Settings, key: str, tmp_path: Path
) -> None:
    with await opened(edge, key, tmp_path) as found:
        assert [row[0] for row in found.execute("SELECT snapshot_id FROM ducklake_snapshot ORDER BY 1").fetchall()] == [
            1, 2, 3, 4,
        ]  # fmt: skip
        (base,) = found.execute("SELECT value FROM ducklake_metadata WHERE key = 'data_path'").fetchone() or ("",)
        for dataset in RELEASED:
            for version in (1, 2, 3, 4):
                named = await manifest(edge, key, dataset, version)
                files = found.execute(FILES, [dataset, version]).fetchall()
                assert (sum(row[2] for row in files), sum(row[1] for row in files)) == (named["rows"], named["bytes"])
                columns = [row[0] for row in found.execute(COLUMNS, [dataset, version]).fetchall()]
                assert columns == [column["name"] for column in named["schema"]]
                digests = []
                for path, *_, folder, _ in files:
                    head = await edge.ask("HEAD", (base + folder + path).removeprefix(settings.base_url), key=key)
                    digests.append(head.head["ETag"])
                assert sorted(digests) == sorted(f'"sha256-{file["sha256"]}"' for file in named["files"])


@begins_with(four_releases)
async def test_the_catalogue_follows_what_is_kept(edge: Edge, settings: Settings, key: str, tmp_path: Path) -> None:
    store = open_object_store(settings)
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        assert not catalogue.refresh(connection, store, settings.base_url)  # nothing has changed
        connection.execute("UPDATE releases SET expires_at = now() - interval '1 day' WHERE data_version < 3")
        old = [row[0] for row in connection.execute("SELECT sha256 FROM release_catalogues ORDER BY id")]
        connection.execute("UPDATE release_catalogues SET created_at = now() - interval '2 hours'")
        expire(connection, store, Log("tests"), FailedRows("release-file", Log("tests")))
        refresh_catalogue(connection, store, settings.base_url)
        kept = [row[0] for row in connection.execute("SELECT sha256 FROM release_catalogues ORDER BY id")]
    assert kept[:-1] == old[-1:]  # clients that have opened the last one can still read it
    assert [store.size(catalogue_key(sha256)) is not None for sha256 in old] == [False] * 3 + [True]
    with await opened(edge, key, tmp_path) as found:
        assert found.execute("SELECT list(snapshot_id) FROM ducklake_snapshot").fetchall() == [([3, 4],)]
        (paths,) = found.execute("SELECT list(path) FROM ducklake_data_file").fetchone() or ([],)
    assert paths and all(path.split("/")[0] in "34" for path in paths)


@begins_with(load_rows)
async def test_without_a_release_there_is_no_catalogue(edge: Edge, key: str) -> None:
    assert (await edge.get(DUCKLAKE, key=key)).status == 404
    assert (await edge.get(DUCKLAKE)).status == 403


def test_a_column_that_changes_its_type_is_another_column(tmp_path: Path) -> None:
    """Releases of another layout stay readable as they were."""

    def column(name: str, kind: str) -> dict[str, Any]:
        return {"name": name, "type": kind, "nullable": True, "description": ""}

    moment = utc_now()
    layouts = [[column("a", "string"), column("b", "integer")], [column("a", "string"), column("b", "long")]]
    layouts.append([*layouts[1], column("c", "array<string>")])
    releases = [
        catalogue.KeptRelease("items", version, layout, 1, 9, moment) for version, layout in enumerate(layouts, 1)
    ]
    files = [
        catalogue.KeptFile("items", version, "0.parquet", f"{version}" * 64, 1, 9, {"nullCount": {"b": 0}})
        for version in (1, 2, 3)
    ]
    catalogue.write_ducklake(tmp_path / "it", releases, files, "https://example.org/")
    with duckdb.connect(str(tmp_path / "it"), read_only=True) as found:
        assert [found.execute(COLUMNS, ["items", version]).fetchall() for version in (1, 2, 3)] == [
            [("a", "varchar"), ("b", "int32")],
            [("a", "varchar"), ("b", "int64")],
            [("a", "varchar"), ("b", "int64"), ("c", "list")],
        ]
        mapped = """SELECT f.begin_snapshot, list(n.target_field_id ORDER BY n.column_id) FROM ducklake_data_file f
                    JOIN ducklake_name_mapping n USING (mapping_id) GROUP BY ALL ORDER BY 1"""
        assert found.execute(mapped).fetchall() == [(1, [1, 2]), (2, [1, 3]), (3, [1, 3, 4, 5])]
        versions = "SELECT schema_version FROM ducklake_snapshot ORDER BY snapshot_id"
        assert found.execute(versions).fetchall() == [(1,), (2,), (3,)]


# Iceberg: the catalogue that pyiceberg reads, here by the reader of Avro alone.
TABLES = "/iceberg/namespaces/releases/tables"


@begins_with(four_releases)
async def test_each_kept_version_is_an_iceberg_snapshot_whose_manifest_names_the_files(edge: Edge, key: str) -> None:
    assert (await edge.get("/config?warehouse=any", key=key)).json["overrides"] == {"prefix": "iceberg"}
    listed = (await edge.get(TABLES, key=key)).json["identifiers"]
    assert [one["name"] for one in listed] == list(RELEASED)
    for dataset in RELEASED:
        loaded = (await edge.get(f"{TABLES}/{dataset}", key=key)).json
        metadata, config = loaded["metadata"], loaded["storage-credentials"][0]["config"]
        credentials = Credentials(
            config["s3.access-key-id"], config["s3.secret-access-key"], config["s3.session-token"]
        )

        async def read(address: str, credentials: Credentials = credentials) -> bytes:
            answer = await ask(edge, credentials, address.removeprefix("s3:/"))
            assert answer.status == 200, answer.body
            return answer.body

        assert msgspec.json.decode(await read(loaded["metadata-location"])) == metadata
        assert [one["snapshot-id"] for one in metadata["snapshots"]] == [1, 2, 3, 4]
        for snapshot in metadata["snapshots"]:
            named = await manifest(edge, key, dataset, snapshot["snapshot-id"])
            found = []
            for entry in fastavro.reader(BytesIO(await read(snapshot["manifest-list"]))):
                content = await read(entry["manifest_path"])
                assert (entry["manifest_length"], entry["added_rows_count"]) == (len(content), named["rows"])
                found += [one["data_file"] for one in fastavro.reader(BytesIO(content))]
            assert [(one["record_count"], one["file_size_in_bytes"]) for one in found] == [
                (file["rows"], file["bytes"]) for file in named["files"]
            ]
            # pyiceberg's table of entries fails where one of these maps is missing.
            assert all(one["column_sizes"] == [] for one in found)
            for one, file in zip(found, named["files"], strict=True):
                assert hashlib.sha256(await read(one["file_path"])).hexdigest() == file["sha256"]
            schema = metadata["schemas"][snapshot["schema-id"]]["fields"]
            assert [field["name"] for field in schema] == [column["name"] for column in named["schema"]]
        if dataset == "observations":
            ids = {field["name"]: field["id"] for field in schema}
            lower = {one["key"]: one["value"] for one in found[0]["lower_bounds"]}
            first = datetime.date.fromisoformat(found[0]["file_path"].rpartition("/")[2][:7] + "-01")
            day = datetime.date(1970, 1, 1) + datetime.timedelta(int.from_bytes(lower[ids["day"]], "little"))
            assert (day.year, day.month) == (first.year, first.month)


def test_no_two_columns_have_one_id() -> None:
    for dataset in RELEASED.values():
        names = [name for column in dataset.columns for name in (column.name, f"{column.name}.element")]
        assert len({iceberg_tables.field_id(name) for name in names}) == len(names)


async def test_iceberg_refuses_in_its_own_words(edge: Edge, key: str) -> None:
    for path, by, expected in (
        (f"{TABLES}/none", key, (404, "NoSuchTableException")),
        ("/iceberg/namespaces/none", key, (404, "NoSuchNamespaceException")),
        (TABLES, None, (403, "ForbiddenException")),
        (f"{TABLES}?other=1", key, (400, "BadRequestException")),
    ):
        answer = await edge.get(path, key=by)
        assert (answer.status, answer.json["error"]["type"]) == expected, answer.body
        assert answer.json["error"]["code"] == answer.status


async def test_whether_a_table_or_namespace_exists_is_answered_without_a_body(edge: Edge, key: str) -> None:
    for path, status in (
        (f"{TABLES}/items", 204),
        ("/iceberg/namespaces/releases", 204),
        (f"{TABLES}/none", 404),
        ("/iceberg/namespaces/none", 404),
    ):
        answer = await edge.ask("HEAD", path, key=key)
        assert (answer.status, answer.body) == (status, b""), path


async def test_a_table_names_where_its_next_credentials_come_from(edge: Edge, settings: Settings, key: str) -> None:
    loaded = (await edge.get(f"{TABLES}/items", key=key)).json
    address = loaded["config"]["client.refresh-credentials-endpoint"]
    assert address.startswith(f"{settings.base_url}/")
    [following] = (await edge.get(address.removeprefix(settings.base_url), key=key)).json["storage-credentials"]
    assert following["prefix"] == loaded["storage-credentials"][0]["prefix"]
    assert following["config"]["s3.access-key-id"] != loaded["config"]["s3.access-key-id"]
    assert following["config"]["client.refresh-credentials-endpoint"] == address


async def test_what_iceberg_has_and_this_catalogue_has_not_is_refused_in_its_words(edge: Edge, key: str) -> None:
    for method, path, expected in (
        ("POST", "/iceberg/namespaces", (405, "UnsupportedOperationException")),
        ("DELETE", f"{TABLES}/items", (405, "UnsupportedOperationException")),
        ("GET", "/iceberg/namespaces/releases/views", (404, "NotFoundException")),
        ("POST", "/iceberg/transactions/commit", (404, "NotFoundException")),
        ("POST", "/config", (405, "UnsupportedOperationException")),
    ):
        answer = await edge.ask(method, path, key=key, check=False)
        assert (answer.status, answer.json["error"]["type"]) == expected, (path, answer.body)
        assert answer.json["detail"] == answer.json["error"]["message"]


async def test_a_catalogue_without_tokens_refuses_to_issue_one_in_oauths_words(edge: Edge) -> None:
    head, form = {"Content-Type": "application/x-www-form-urlencoded"}, b"grant_type=client_credentials&client_id=a"
    answer = await edge.ask("POST", "/oauth/tokens", head=head, body=form, anonymous=False, check=False)
    assert (answer.status, answer.json["error"]) == (400, "invalid_request")
    assert "`token`" in answer.json["error_description"]
