"""Bulk data: parts and positions of an export, the formats, and the hints of Delta Sharing."""

import csv
import hashlib
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from edge.bulk.delta_sharing_predicates import PredicateHints
from edge.bulk.iceberg import MANIFEST, IcebergMetadata
from edge.bulk.release_repository import Release, ReleaseRepository
from shared.analytics import results as formats
from shared.analytics.manifest import MEDIA_TYPES
from shared.analytics.results import Rows
from shared.bulk.request import GONE, ID_END, ROWS, Request
from shared.bulk.schema import DATASETS, ReleaseFile, arrow_schema, schema_of
from shared.money import minor_digits
from shared.objects.directory import DirectoryStore
from tests.support.engine import single_threaded
from tests.support.exports import parameters
from workers.bulk.codecs.observations import KeyPositions
from workers.bulk.codecs.text import csv_rows, ndjson_rows
from workers.bulk.exports import ranges_of
from workers.bulk.writers.release_file import ReleaseWriter
from workers.jobs.context import SplitRows

# Positions of keys are those that a binary search finds, however the keys are spread.


RANDOM = np.random.default_rng(7)

SPREADS = {
    "one": np.array([5]),
    "even": np.unique(RANDOM.integers(0, 2**63 - 1, 5000)),
    "dense": np.arange(1000, 3000),
    "uneven": np.unique(np.r_[RANDOM.integers(0, 500, 300), RANDOM.integers(0, 2**63 - 1, 30), 0, 2**63 - 1]),
}


def test_positions_are_those_of_a_binary_search() -> None:
    for spread in SPREADS:
        keys = SPREADS[spread]
        others = np.r_[RANDOM.integers(0, 2**63 - 1, 1000), 0, 2**63 - 1, keys[:-1] + 1]
        wanted = RANDOM.permutation(np.r_[keys, keys, others])
        position, found = KeyPositions(keys).of(wanted)
        assert (found == np.isin(wanted, keys)).all(), spread
        assert (position[found] == np.searchsorted(keys, wanted[found])).all(), spread


def test_no_key_is_found_for_none() -> None:
    position, found = KeyPositions(SPREADS["even"]).of(np.empty(0, "i8"))
    assert not len(position)
    assert not len(found)


# Parts of an export from PostgreSQL: equal ranges of keys that leave none out, as many for one worker as for the
# other.


def request(since: int | None = None) -> Request:
    return Request.read(parameters("observations") | {"since": since})


def test_ranges_cover_every_key_once_and_two_workers_write_equally_many() -> None:
    for rows in (0, 100_000, 100_001, 1_500_001, 3_000_001, 10_000_000, 10**11):
        ranges = ranges_of(request(), rows, 20_000, SplitRows())
        assert (ranges[0][1], ranges[-1][2]) == (0, ID_END), rows
        assert all(before[2] == after[1] for before, after in pairwise(ranges)), rows
        assert len(ranges) == 1 if rows <= 100_000 else len(ranges) % 2 == 0, rows
        assert rows / len(ranges) <= 1_500_000 or len(ranges) == 5_000, rows


def test_changes_have_one_more_part_for_what_is_gone() -> None:
    ranges = ranges_of(request(since=1), 10, 10, SplitRows())
    assert ranges == [(ROWS, 0, ID_END), (GONE, 0, ID_END)]


# Rows as text are what other readers of JSON and CSV read as the same rows, however few values a column has.


_TEXTS = st.sampled_from(["a", "", "x,y", 'q"q', "two\nlines", "\u2028", "ü", "null", "{}"])

_CURRENCIES = ("HKD", "JPY", "KWD", "CLF")

_ROWS = st.integers(1, 40)


@st.composite
def _batches(draw: st.DrawFn) -> Any:
    rows = draw(_ROWS)

    def column(values: st.SearchStrategy[Any], kind: pa.DataType) -> Any:
        absent = draw(st.sampled_from([0, 1, 2]))  # nowhere, here and there, everywhere
        strategy = {0: values, 1: st.none() | values, 2: st.none()}[absent]
        return pa.array(draw(st.lists(strategy, min_size=rows, max_size=rows)), kind)

    width = draw(st.sampled_from([1, 50, 10**9]))
    days = st.integers(0, width % 10_000).map(lambda n: date(1990, 1, 1) + timedelta(days=n))
    currencies = draw(st.lists(st.sampled_from(_CURRENCIES[: draw(st.integers(1, 4))]), min_size=rows, max_size=rows))
    prices = [
        None if draw(st.booleans()) and width == 50 else Decimal(draw(st.integers(0, width))).scaleb(-minor_digits(one))
        for one in currencies
    ]
    off = draw(st.sampled_from([0, 0, 1]))  # the price in minor units, or another number
    minor = [
        None if price is None else int(price.scaleb(minor_digits(one))) + off
        for price, one in zip(prices, currencies, strict=True)
    ]
    columns = {
        "iid": pa.array([f"IID-{n % 7}" for n in range(rows)]),
        "day": column(days, pa.date32()),
        "channel": column(_TEXTS, pa.string()).dictionary_encode(),
        "currency": pa.array(currencies).dictionary_encode(),
        "price": pa.array(prices, pa.decimal128(20, 4)),
        "price_minor": pa.array(minor, pa.int64()),
        "count": column(st.integers(0, width), pa.int64()),
        "name": column(_TEXTS, pa.string()),
    }
    names = draw(st.permutations(list(columns)))
    return pa.RecordBatch.from_arrays([columns[name] for name in names], names)


def _expected(row: dict[str, Any]) -> dict[str, Any]:
    day, price = row["day"], row["price"]
    digits = minor_digits(row["currency"])
    return {
        **row,
        "day": day.isoformat() if day is not None else None,
        "price": f"{price:.{digits}f}" if price is not None else None,
    }


@settings(max_examples=40)
@given(batch=_batches())
def test_ndjson_and_csv_are_read_as_the_same_rows(batch: Any) -> None:
    lines = bytes(ndjson_rows(batch, batch.schema.names)).decode().split("\n")
    assert lines.pop() == ""
    read = [json.loads(line) for line in lines]
    expected = [_expected(row) for row in batch.to_pylist()]
    assert read == expected
    assert [list(row) for row in read] == [batch.schema.names] * batch.num_rows
    text = bytes(csv_rows(batch, batch.schema.names)).decode()
    cells = [["" if value is None else str(value) for value in row.values()] for row in expected]
    assert list(csv.reader(io.StringIO(text, newline=""))) == cells


def test_no_row_is_no_text() -> None:
    for write in (csv_rows, ndjson_rows):
        batch = pa.RecordBatch.from_arrays([pa.array([], pa.string()), pa.array([], pa.date32())], ["name", "day"])
        assert bytes(write(batch, ["name", "day"])) == b"", write


# Rows are written as the bytes of those that come back from Arrow.


SCHEMA = pa.schema(
    [
        ("period", pa.date32()),
        ("currency", pa.string()),
        ("observations", pa.int64()),
        ("mean", pa.decimal128(38, 6)),
        ("median", pa.decimal128(38, 6)),
        ("channels", pa.list_(pa.struct([("channel", pa.string()), ("share", pa.float64())]))),
    ]
)

EXACT = Context(prec=60)

AMOUNTS = (st.integers(0, 10**30) | st.integers(0, 10**15).map(lambda minor: minor * 10**4)).map(
    lambda millionths: Decimal(millionths).scaleb(-6, EXACT)
)

ROWS_COLUMNS = st.lists(
    st.tuples(
        st.dates(date(1900, 1, 1)),
        st.sampled_from(["JPY", "HKD", "KWD", "CLF"]),
        st.integers(0, 2**62),
        st.none() | AMOUNTS,
        AMOUNTS,
        st.lists(
            st.builds(lambda channel, share: {"channel": channel, "share": share}, st.text(), st.floats(0, 1)),
            max_size=3,
        ),
    ),
    max_size=5,
)


def _rows(rows: list[tuple[Any, ...]]) -> Rows:
    return Rows.of([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def _written(rows: Rows, format: str) -> tuple[dict[str, Any], bytes]:
    sink = io.BytesIO()
    meta = formats.write(rows, lambda digest: {"digest": digest}, format, sink)
    return meta, sink.getvalue()


@pytest.mark.parametrize("format", MEDIA_TYPES)
def test_the_bytes_are_those_of_arrows_table(monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    monkeypatch.setattr(formats, "_ROWS_AT_ONCE", 2)  # more rows come in pieces, and as few as these in one

    @settings(max_examples=30)
    @given(rows=ROWS_COLUMNS)
    def check(rows: list[tuple[Any, ...]]) -> None:
        given = _rows(rows)
        back = Rows.of(given.table().to_pylist(), SCHEMA)
        assert _written(given, format) == _written(back, format)
        assert formats.digest(given) == formats.digest(back)

    check()


@given(rows=ROWS_COLUMNS)
def test_the_table_has_the_rows_with_decimals_of_any_size(rows: list[tuple[Any, ...]]) -> None:
    table = _rows(rows).table()
    table.validate(full=True)
    assert _rows(rows).num_rows == table.num_rows == len(rows)
    for row, (period, currency, observations, mean, median, channels) in zip(table.to_pylist(), rows, strict=True):
        assert row == {
            "period": period,
            "currency": currency,
            "observations": observations,
            "mean": mean,
            "median": median,
            "channels": channels,
        }


# The four formats tell the same rows.


META = {"rows": 3, "from": date(2026, 7, 1), "method": "exact"}


def with_meta(digest: str) -> dict[str, Any]:
    return META


SCHEMA_FORMATS = pa.schema(
    [
        ("brand", pa.string()),
        ("period", pa.date32()),
        ("currency", pa.string()),
        ("median", pa.decimal128(38, 6)),
        ("share", pa.float64()),
        ("by_channel", pa.list_(pa.struct([("channel", pa.string()), ("low", pa.decimal128(38, 6))]))),
    ]
)

ANSWER = Rows.of(
    [
        {
            "brand": "vita",
            "period": date(2026, 7, 1),
            "currency": "HKD",
            "median": Decimal("10.9"),
            "share": 0.5,
            "by_channel": [{"channel": "NORTH", "low": Decimal("9")}],
        },
        {
            "brand": '=1+"2"',
            "period": date(2026, 8, 1),
            "currency": "JPY",
            "median": Decimal("100.25"),
            "share": None,
            "by_channel": [],
        },
        {"brand": None, "period": None, "currency": "KWD", "median": None, "share": 1.0, "by_channel": None},
    ],
    SCHEMA_FORMATS,
)


def written(format: str) -> bytes:
    sink = io.BytesIO()
    formats.write(ANSWER, with_meta, format, sink)
    assert not sink.closed
    return sink.getvalue()


def test_json_has_money_as_text_with_its_currencys_digits_and_days_as_iso() -> None:
    document = json.loads(written("json"))
    assert document["meta"] == {"rows": 3, "from": "2026-07-01", "method": "exact"}
    first, second, third = document["data"]
    assert first == {
        "brand": "vita",
        "period": "2026-07-01",
        "currency": "HKD",
        "median": "10.90",
        "share": 0.5,
        "by_channel": [{"channel": "NORTH", "low": "9.00"}],
    }
    assert second["median"] == "100.25"
    assert third == {"brand": None, "period": None, "currency": "KWD", "median": None, "share": 1.0, "by_channel": None}


def test_ndjson_has_the_rows_of_the_json_one_a_line() -> None:
    lines = written("ndjson").splitlines()
    assert [json.loads(line) for line in lines] == json.loads(written("json"))["data"]


def test_csv_is_quoted_by_the_standard_and_no_cell_is_a_formula() -> None:
    raw = written("csv").decode()
    assert raw.count("\r\n") == 4
    head, first, second, third = csv.reader(io.StringIO(raw, newline=""))
    assert head == SCHEMA_FORMATS.names
    assert first == ["vita", "2026-07-01", "HKD", "10.90", "0.5", '[{"channel":"NORTH","low":"9.00"}]']
    assert second[0] == '\'=1+"2"'
    assert third == ["", "", "KWD", "", "1.0", ""]


def test_parquet_keeps_types_and_the_meta() -> None:
    table = pyarrow.parquet.read_table(io.BytesIO(written("parquet")))
    assert table.schema.equals(SCHEMA_FORMATS)
    assert json.loads(table.schema.metadata[formats.META_KEY])["rows"] == 3
    assert table.to_pylist() == ANSWER.table().to_pylist()


def test_the_same_rows_give_the_same_bytes() -> None:
    for format in MEDIA_TYPES:
        assert written(format) == written(format), format
    rows = ANSWER.table().to_pylist()
    assert formats.digest(ANSWER) != formats.digest(Rows.of(rows[1:], SCHEMA_FORMATS))


@pytest.mark.parametrize("format", MEDIA_TYPES)
@pytest.mark.parametrize("at_once", [1, 2, 4096])
def test_the_meta_is_made_of_the_digest_of_the_rows_as_ndjson(
    monkeypatch: pytest.MonkeyPatch, format: str, at_once: int
) -> None:
    expected = hashlib.sha256(written("ndjson")).hexdigest()
    whole = written(format)
    monkeypatch.setattr(formats, "_ROWS_AT_ONCE", at_once)
    sink = io.BytesIO()
    assert formats.write(ANSWER, lambda digest: {**META, "digest": digest}, format, sink) == {
        **META,
        "digest": expected,
    }
    assert formats.digest(ANSWER) == expected
    if format != "parquet":
        assert written(format) == whole


def test_no_rows_are_an_answer_too() -> None:
    for format in MEDIA_TYPES:
        sink = io.BytesIO()
        formats.write(Rows.of([], SCHEMA_FORMATS), with_meta, format, sink)
        raw = sink.getvalue()
        expected = {"json": b'{"data":[],"meta":', "csv": b"brand,period", "ndjson": b"", "parquet": b"PAR1"}[format]
        assert raw.startswith(expected), format
        assert format != "ndjson" or raw == b"", format


def test_negative_amounts_stay_numbers_and_texts_that_begin_like_formulas_do_not() -> None:
    rows = Rows(pa.schema([("a", pa.string())]), [["-1.5", "-1+1", "@x", "\tx", "＝1+1", "＋1", "－1", "＠x", "plain"]])
    sink = io.BytesIO()
    formats.write(rows, with_meta, "csv", sink)
    assert [row[0] for row in csv.reader(io.StringIO(sink.getvalue().decode(), newline=""))][1:] == [
        "-1.5",
        "'-1+1",
        "'@x",
        "'\tx",
        "'＝1+1",
        "'＋1",
        "'－1",
        "'＠x",
        "plain",
    ]


def test_the_schema_orders_the_columns_and_what_a_row_lacks_is_none() -> None:
    rows = [dict(reversed(row.items())) for row in ANSWER.table().to_pylist()]
    rows[2].pop("brand")
    assert formats.digest(Rows.of(rows, SCHEMA_FORMATS)) == formats.digest(ANSWER)


def test_the_first_nested_rows_of_a_process_import_nothing() -> None:
    """An import of a second blocks an edge's event loop, and its watchdog ends the process, again and again."""
    script = """
import io
import sys
import edge.server
from edge.analytics.sustainability import SCHEMA
from shared.analytics import results as formats
before = set(sys.modules)
rows = formats.Rows.of([{"indicator": "co2e_kg"}], SCHEMA)
formats.write(rows, lambda digest: {}, "json", io.BytesIO())
print(sorted(set(sys.modules) - before))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"


# Predicate hints against DuckDB: no file that holds a matching row is ever left out, whatever the hint looks like.


OBSERVATIONS = DATASETS["observations"]

TYPES = {str(column["name"]): str(column["type"]) for column in schema_of(OBSERVATIONS)}

FIRST = date(2026, 6, 28)

NAMES = st.sampled_from(["A", "B", "a", "Ω", "Vita's", "north", "10", "2026-07-01", "\U0001f600", "ﬀ", ""])

ODD = ["2026-7-15", "10000-01-01", "0001-01-01", "2026-07-01 ", "2026-07-01 12:00:00", "20260701", "x", "", "7", "7.5"]

SQL_TYPES = {"date": "DATE", "string": "VARCHAR", "int": "INTEGER", "long": "BIGINT", "double": "DOUBLE"}

SIGNS = {"equal": "=", "lessThan": "<", "lessThanOrEqual": "<=", "greaterThan": ">", "greaterThanOrEqual": ">="}


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    """One observation of a few days, shops and prices, so that hints meet the ends of files."""
    minor = draw(st.integers(0, 30))
    listed = draw(st.none() | st.integers(0, 30))
    return {
        "iid": draw(NAMES),
        "day": FIRST + timedelta(days=draw(st.integers(0, 20))),
        "channel": draw(NAMES),
        "kind": "sale",
        "source": "s",
        "currency": draw(st.sampled_from(["HKD", "EUR"])),
        "price": Decimal(minor) / 100,
        "price_minor": minor,
        "list_minor": listed,
        "list_price": None if listed is None else Decimal(listed) / 100,
        "units": draw(st.integers(1, 5)),
    }


FILES = st.lists(st.lists(rows(), min_size=1, max_size=5), min_size=1, max_size=4)

# Most of the cases are about days and numbers; the other columns come now and then.
COLUMNS = st.sampled_from(["day"] * 15 + ["price_minor"] * 8 + ["channel"] * 5 + [*TYPES, "`day`", "DAY", "nothing"])

DAYS = st.builds(
    lambda days, form: form.format(FIRST + timedelta(days=days)),
    st.integers(0, 20),
    st.sampled_from(["{0:%Y-%m-%d}", "{0.year}-{0.month}-{0.day}", "0{0:%Y-%m-%d}", " {0:%Y-%m-%d}"]),
)

TEXTS = st.one_of(DAYS, NAMES, st.sampled_from(ODD), st.text("ab'\\\n", max_size=3))

NUMBERS = st.one_of(
    st.integers(-2, 32).map(str),
    st.decimals(-2, 32, places=1).map(lambda number: f"{number:f}"),
    st.sampled_from(["9" * 25, "9" * 5000, "-" + "9" * 5000, "0" * 30 + "7", "1e3", "7.", "0x7"]),
)

LITERALS = st.one_of(TEXTS.map(lambda text: "'" + text.replace("'", "''") + "'"), NUMBERS)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> DirectoryStore:
    return DirectoryStore(tmp_path_factory.mktemp("released"))


@pytest.fixture(scope="module")
def judge() -> Iterator[duckdb.DuckDBPyConnection]:
    with single_threaded() as connection:
        yield connection


def released(store: DirectoryStore, listed: list[dict[str, Any]]) -> tuple[pa.Table, ReleaseFile]:
    """Write one file as a release does; return its rows, and what the edge knows of it."""
    table = pa.Table.from_pylist(listed, arrow_schema(OBSERVATIONS))
    part = ReleaseWriter(store, SplitRows()).write(OBSERVATIONS, table, "part.parquet", str)
    return table, ReleaseFile(*part[:-1], json.loads(json.dumps(part.statistics)))


def holds_a_match(judge: duckdb.DuckDBPyConnection, table: pa.Table, condition: str) -> bool | None:
    """Ask DuckDB; None where the condition is none."""
    judge.register("rows", table)
    try:
        [found] = judge.execute(f"SELECT count(*) FROM rows WHERE {condition}").fetchall()
    except duckdb.Error:
        return None
    return bool(found[0])


@settings(max_examples=40)
@given(files=FILES, column=COLUMNS, sign=st.sampled_from(list(SIGNS.values())), literal=LITERALS)
def test_no_hint_in_sql_leaves_out_a_file_with_a_matching_row(
    store: DirectoryStore,
    judge: duckdb.DuckDBPyConnection,
    files: list[list[dict[str, Any]]],
    column: str,
    sign: str,
    literal: str,
) -> None:
    hint = f"{column} {sign} {literal}"
    hints = PredicateHints.read([hint], None, TYPES)
    for listed in files:
        table, file = released(store, listed)
        assert hints.may_match(file) or not holds_a_match(judge, table, hint.replace("`", '"')), hint


@settings(max_examples=30)
@given(
    files=FILES,
    column=COLUMNS,
    op=st.sampled_from(list(SIGNS)),
    declared_type=st.sampled_from(list(SQL_TYPES)),
    value=st.one_of(TEXTS, NUMBERS),
    joined=st.sampled_from(["and", "or", "not"]),
    typed=st.booleans(),
)
def test_no_hint_in_json_leaves_out_a_file_with_a_matching_row(
    store: DirectoryStore,
    judge: duckdb.DuckDBPyConnection,
    files: list[list[dict[str, Any]]],
    column: str,
    op: str,
    declared_type: str,
    value: str,
    joined: str,
    typed: bool,
) -> None:
    assume("`" not in column)
    as_number = typed and value.lstrip("-").isdigit() and len(value) < 4_000
    literal = {"op": "literal", "value": int(value) if as_number else value, "valueType": declared_type}
    one = {"op": op, "children": [{"op": "column", "name": column, "valueType": declared_type}, literal]}
    other = {
        "op": "equal",
        "children": [{"op": "column", "name": "units"}, {**literal, "value": "3", "valueType": "int"}],
    }
    tree = {"op": "not", "children": [one]} if joined == "not" else {"op": joined, "children": [one, other]}
    hints = PredicateHints.read([], json.dumps(tree), TYPES)
    quoted = "'" + value.replace("'", "''") + "'"
    condition = f"{column} {SIGNS[op]} CAST({quoted} AS {SQL_TYPES[declared_type]})"
    condition = f"NOT ({condition})" if joined == "not" else f"{condition} {joined} units = 3"
    for listed in files:
        table, file = released(store, listed)
        assert hints.may_match(file) or not holds_a_match(judge, table, condition), condition


def one_file(store: DirectoryStore) -> ReleaseFile:
    """A file of July 2026 with prices from 10 to 20."""
    row = {"iid": "A", "channel": "N", "kind": "sale", "source": "s", "currency": "HKD", "units": 1}
    days = [(date(2026, 7, 1), 10), (date(2026, 7, 31), 20)]
    return released(store, [{**row, "day": day, "price": Decimal(n), "price_minor": n} for day, n in days])[1]


@pytest.mark.parametrize(
    ("hint", "kept"),
    [
        ("day < '10000-01-01'", True),
        ("day = '2026-7-15'", True),
        ("day = '2026-07-15'", True),
        ("day = '2026-08-01'", False),
        ("day > '2026-07-31'", False),
        ("day <= '2026-06-30'", False),
        ("price_minor > 20", False),
        ("price_minor > 19.5", True),
        ("price_minor = 9.99", False),
        (f"price_minor > {'9' * 5000}", True),
        ("price_minor = '5'", True),
        ("currency = 'EUR'", False),
        ("currency = 'E''R'", True),
        ("price = 5", True),
        ("day = 5", True),
    ],
)
def test_a_hint_leaves_out_what_it_proves_and_nothing_else(store: DirectoryStore, hint: str, kept: bool) -> None:
    assert PredicateHints.read([hint], None, TYPES).may_match(one_file(store)) is kept


@pytest.mark.parametrize(
    "tree",
    [
        "5",
        "[]",
        '{"op": "and", "children": 5}',
        '{"op": "or", "children": {"a": 1}}',
        '{"op": [], "children": [1]}',
        '{"op": "equal", "children": [{"op": "column", "name": []}, {"op": "literal", "value": 1, "valueType": {}}]}',
        '{"op": "equal", "children": [{"op": "column", "name": "units"}, {"op": "literal", "value": 1e999}]}',
        '{"op": "and", "children": [' * 50 + "]}" * 50,
        "[" * 5000,
        "\ud800",
        "null",
        "",
        '{"op": "lessThan", "children": [{"op": "column", "name": "units"}, {"op": "literal", "valueType": "long", "value": -'
        + "9" * 5000
        + "}]}",
    ],
)
def test_a_tree_of_another_form_leaves_out_nothing(store: DirectoryStore, tree: str) -> None:
    assert PredicateHints.read([], tree, TYPES).may_match(one_file(store))


class Released(ReleaseRepository):
    """Releases without files, and the versions whose files were read."""

    def __init__(self) -> None:
        self.read: list[int] = []

    async def files(self, dataset: str, version: int) -> list[ReleaseFile]:
        self.read.append(version)
        return []


async def test_a_manifest_of_iceberg_in_use_is_made_once_however_many_others_are_read_between() -> None:
    repository = Released()
    metadata = IcebergMetadata(repository, kept_max=2)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    for version in (1, 2, 1, 3, 1):
        await metadata.file(Release("items", version, [], 0, 0, moment, moment, None), MANIFEST)
    assert repository.read == [1, 2, 3]
