"""Every format of every dataset, read by the tools that people use, holds what SQL says: no more, no less."""

import io
import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest

from shared.bulk.manifest import StoredExportManifest
from shared.bulk.request import FORMATS, QUERIED
from shared.settings.settings import Settings
from tests.service.reports import market
from tests.support.exports import made, parameters, read, rows_by_sql
from tests.support.releases import cut
from tests.support.servers import Servers
from workers.jobs.services import SplitRows

# One worker makes the data of these tests, instead of each of them.
pytestmark = pytest.mark.xdist_group("files")


Exported = Callable[[str, str, str], StoredExportManifest]


def small_market(settings: Settings, folder: Path) -> None:
    market.market(settings, folder, items=60, observations=300, offers=540)


@pytest.fixture(scope="module", params=["PostgreSQL", "a release"])
def data(request: pytest.FixtureRequest, servers: Servers) -> Iterator[Settings]:
    """The same data twice: exports read it from PostgreSQL, or from a release where that holds all that is needed."""
    with servers.fresh(contents=small_market) as settings:
        if request.param == "a release":
            cut(settings, split_rows=SplitRows(release_observations=100, release_table=40))
        yield settings


@pytest.fixture(scope="module")
def rows_of(data: Settings) -> Callable[[str], list[tuple[str, ...]]]:
    """What SQL says of a whole dataset, in one spelling: asked once for all formats and compressions."""
    return cache(lambda dataset: normal(rows_by_sql(data, parameters(dataset))))


@pytest.fixture(scope="module")
def exported(data: Settings) -> Exported:
    """The export of a whole dataset in a format and a compression: made once for all tests that read it."""
    return cache(lambda dataset, format, compression: made(data, parameters(dataset, format, compression)))


def normal(rows: Any) -> list[tuple[str, ...]]:
    """Bring rows of any reader to one spelling."""
    return sorted(tuple(_plain(value) for value in row) for row in rows)


def _plain(value: Any) -> str:
    if value is None or value != value:
        return "∅"
    if isinstance(value, list):
        return "\x1f".join(value) or "∅"
    if hasattr(value, "isoformat"):
        return value.isoformat()[:23].removesuffix("+00:00")
    if isinstance(value, float):
        return repr(value)
    text = str(value)
    return text.rstrip("0").rstrip(".") if hasattr(value, "as_tuple") and "." in text else text


# What a file says of its own compression, however its reader unpacks it.
CODECS = {"zstd": "ZSTD", "gzip": "GZIP", "none": "UNCOMPRESSED"}


def codec_of(data: bytes, format: str) -> str:
    """Return the codec by which a file of a typed format is packed."""
    if format == "parquet":
        return str(pyarrow.parquet.read_metadata(io.BytesIO(data)).row_group(0).column(0).compression)
    # A buffer that is packed by zstd begins with the number that RFC 8878 gives it.
    return CODECS["zstd" if b"\x28\xb5\x2f\xfd" in data else "none"]


def arrow_rows(manifest: StoredExportManifest, settings: Settings) -> list[tuple[Any, ...]]:
    tables = []
    for file in manifest.files:
        data = read(settings, file)
        reader = pa.ipc.open_stream(data) if manifest.format == "arrow" else None
        table = reader.read_all() if reader else pyarrow.parquet.read_table(io.BytesIO(data))
        assert table.num_rows == file.rows
        tables.append(table)
    return [tuple(row.values()) for table in tables for row in table.to_pylist()]


def each(*formats: str) -> pytest.MarkDecorator:
    """Run a test for each dataset in each of these formats, and for one dataset with each other compression."""
    cases = [(dataset, format, FORMATS[format][0]) for format in formats for dataset in QUERIED]
    cases += [("observations", format, compression) for format in formats for compression in FORMATS[format][1:]]
    return pytest.mark.parametrize(("dataset", "format", "compression"), cases)


@each("parquet", "arrow")
def test_typed_formats_hold_the_rows(
    data: Settings,
    exported: Exported,
    rows_of: Callable[[str], list[tuple[str, ...]]],
    dataset: str,
    format: str,
    compression: str,
) -> None:
    manifest = exported(dataset, format, compression)
    assert manifest.rows == len(rows_of(dataset))
    assert normal(arrow_rows(manifest, data)) == rows_of(dataset)
    assert {codec_of(read(data, file), format) for file in manifest.files if file.rows} <= {CODECS[compression]}


@each("ndjson")
def test_ndjson_is_one_object_a_line(
    data: Settings, exported: Exported, dataset: str, format: str, compression: str
) -> None:
    wanted = parameters(dataset, format, compression)
    manifest, expected = exported(dataset, format, compression), rows_by_sql(data, wanted)
    lines = []
    for file in manifest.files:
        codec = None if compression == "none" else compression
        with pa.input_stream(pa.BufferReader(read(data, file)), compression=codec) as text:
            lines += text.read().decode().split("\n")[:-1]
    rows = [json.loads(line) for line in lines]
    assert all(list(row) == wanted["columns"] for row in rows)
    kept = {"identifiers": json.dumps, "attributes": json.dumps, "sources": json.dumps}
    found = [[kept.get(name, lambda value: value)(value) for name, value in row.items()] for row in rows]
    texts = [
        [json.dumps(json.loads(v)) if n in kept else v for n, v in zip(wanted["columns"], row, strict=True)]
        for row in expected
    ]
    assert normal([_amounts(wanted["columns"], row) for row in found]) == normal(
        [_amounts(wanted["columns"], row) for row in texts]
    )


def _amounts(names: list[str], row: Any) -> list[Any]:
    moment = [str(v).replace(" ", "T")[:23] if n == "updated_at" else v for n, v in zip(names, row, strict=True)]
    return [
        str(v) if n in ("price", "list_price", "unit_price") and v is not None else v
        for n, v in zip(names, moment, strict=True)
    ]


@pytest.mark.parametrize("compression", FORMATS["csv"])
def test_csv_of_observations_is_what_psql_would_write(
    data: Settings, exported: Exported, compression: str, tmp_path: Path
) -> None:
    wanted = parameters("observations", "csv", compression)
    manifest, expected = exported("observations", "csv", compression), rows_by_sql(data, wanted)
    outlier = wanted["columns"].index("outlier")
    assert {None, "one_off"} <= {row[outlier] for row in expected}
    found = []
    for file in manifest.files:
        path = tmp_path / file.name
        path.write_bytes(read(data, file))
        source = pa.input_stream(path) if compression == "zstd" else path  # pandas itself needs one more package for it
        found += pandas.read_csv(source, dtype=str, keep_default_na=False, na_values=[""]).values.tolist()
    assert normal(found) == normal([[None if v is None else str(v) for v in row] for row in expected])


def test_duckdb_and_polars_read_the_files(data: Settings, exported: Exported, tmp_path: Path) -> None:
    wanted = parameters("observations")
    rows = rows_by_sql(data, wanted)
    expected = [(sum(row[wanted["columns"].index("units")] for row in rows), len(rows))]
    # A column may have no value in its first hundred rows, by which polars would tell its type.
    lines = partial(polars.read_ndjson, infer_schema_length=None)
    frames = {"parquet": polars.read_parquet, "csv": polars.read_csv, "ndjson": lines}
    functions = {"parquet": "read_parquet", "csv": "read_csv", "ndjson": "read_json"}
    for format in ("parquet", "csv", "ndjson", "arrow"):
        manifest = exported("observations", format, FORMATS[format][0])
        paths = [tmp_path / file.name for file in manifest.files]
        for path, file in zip(paths, manifest.files, strict=True):
            path.write_bytes(read(data, file))
        columns = [frames.get(format, polars.read_ipc_stream)(path)["units"] for path in paths]
        found = [(sum(int(column.sum()) for column in columns), sum(len(column) for column in columns))]
        assert found == expected, format
        if format in functions:
            listed = [str(path) for path in paths]
            found = duckdb.sql(f"SELECT sum(units)::bigint, count(*) FROM {functions[format]}({listed})").fetchall()
            assert found == expected, format


def test_filters_and_columns_narrow(data: Settings) -> None:
    for narrowed in (
        {"brand": ["vita"]},
        {"category": ["food"]},
        {"channel": ["NORTH"]},
        {"from": "2026-04-01"},
        {"from": "2026-04-10", "to": "2026-05-03", "brand": ["alco", "beal"], "channel": ["KIOSK"]},
    ):
        wanted = parameters(columns=["price", "iid", "day", "currency"], **narrowed)
        manifest, expected = made(data, wanted), rows_by_sql(data, wanted)
        assert 0 < len(expected) == manifest.rows
        assert [entry["name"] for entry in manifest.schema] == wanted["columns"]
        assert normal(arrow_rows(manifest, data)) == normal(expected)
        days = [row[2] for row in expected]
        ends = [(file.min_key, file.max_key) for file in manifest.files]
        assert (min(end[0] for end in ends), max(end[1] for end in ends)) == (str(min(days)), str(max(days)))


def test_money_without_its_currency_is_the_same_money(data: Settings) -> None:
    wanted = parameters("observations", "csv", "none", columns=["price"])
    [file] = made(data, wanted).files
    assert sorted(read(data, file).decode().split("\r\n")[1:-1]) == sorted(
        str(row[0]) for row in rows_by_sql(data, wanted)
    )


def test_a_filter_that_nothing_matches_gives_one_empty_file_with_its_schema(data: Settings) -> None:
    manifest = made(data, parameters("observations", "csv", "none", channel=["no such channel"]))
    [file] = manifest.files
    assert (manifest.rows, file.rows, file.min_key) == (0, 0, None)
    assert read(data, file).startswith(b"iid,day,")


@pytest.mark.parametrize(("dataset", "part_rows"), [("items", 40), ("observations", 150)])
def test_parts_together_are_the_whole_and_no_row_is_in_two(data: Settings, dataset: str, part_rows: int) -> None:
    wanted = parameters(dataset)
    split_rows = SplitRows(export_parts={dataset: part_rows})
    manifest, expected = made(data, wanted, split_rows=split_rows), rows_by_sql(data, wanted)
    assert len(manifest.files) > 3
    assert normal(arrow_rows(manifest, data)) == normal(expected)
    assert manifest.rows == len(expected)


def test_the_same_export_is_the_same_bytes(data: Settings, exported: Exported) -> None:
    for format in FORMATS:
        compression = FORMATS[format][0]
        first = exported("observations", format, compression)
        second = made(data, parameters("observations", format, compression))
        assert [file.sha256 for file in first.files] == [file.sha256 for file in second.files]
