"""Predicate hints against DuckDB: no file that holds a matching row is ever left out, whatever the hint looks like."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from edge.bulk.delta_sharing_predicates import PredicateHints
from edge.bulk.iceberg_metadata import IcebergMetadata
from edge.bulk.iceberg_tables import MANIFEST
from edge.bulk.release_repository import Release, ReleaseRepository
from shared.bulk.schema import DATASETS, KeptReleaseFile, arrow_schema, schema_of
from shared.objects.directory import DirectoryStore
from tests.support.engine import single_threaded
from workers.bulk.writers.release_file import ReleaseWriter
from workers.jobs.services import SplitRows

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


def released(store: DirectoryStore, listed: list[dict[str, Any]]) -> tuple[pa.Table, KeptReleaseFile]:
    """Write one file as a release does; return its rows, and what the edge knows of it."""
    table = pa.Table.from_pylist(listed, arrow_schema(OBSERVATIONS))
    part = ReleaseWriter(store, SplitRows()).write(OBSERVATIONS, table, "part.parquet", str)
    return table, KeptReleaseFile(*part[:-1], json.loads(json.dumps(part.statistics)))


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


def one_file(store: DirectoryStore) -> KeptReleaseFile:
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

    async def files(self, dataset: str, version: int) -> list[KeptReleaseFile]:
        self.read.append(version)
        return []


async def test_a_manifest_of_iceberg_in_use_is_made_once_however_many_others_are_read_between() -> None:
    repository = Released()
    metadata = IcebergMetadata(repository, kept_max=2)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    for version in (1, 2, 1, 3, 1):
        await metadata.file(Release("items", version, [], 0, 0, moment, moment, None), MANIFEST)
    assert repository.read == [1, 2, 3]
