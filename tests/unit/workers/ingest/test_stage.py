"""Observations are ordered by month, equal events numbered, states superseded, in memory that is bounded."""

from typing import Any

import numpy as np

from workers.ingest.batches import DEFAULT_BUFFERS, LoadBuffers
from workers.ingest.load.months import Chunk, Months, in_order
from workers.ingest.observations import OBSERVATION

CONSTANTS: dict[str, object] = {"source_id": 1, "kind": "s"}


def _written(chunk: Chunk) -> Any:
    """Return all that COPY is given of a chunk: each table is gone when the next is requested."""
    return np.concatenate([table.copy() for table in chunk.written()])


def _rows(count: int, *, seed: int = 1, days: int = 31, items: int = 5) -> Any:
    """Few items, days and marks, so that equal ones are frequent; the price tells in which place a row came."""
    random = np.random.default_rng(seed)
    rows = np.zeros(count, OBSERVATION)
    # Two keys and two marks that differ only in bits which the quick order does not see.
    rows["item"] = np.array([7, 8, 1 << 40, 1 << 62, (1 << 62) + 1])[random.integers(0, items, count)]
    rows["mark"] = np.array([0, 1 << 16, 1 << 62])[random.integers(0, 3, count)]
    rows["day"] = random.integers(0, days, count)
    rows["price"], rows["list"], rows["units"], rows["currency"] = np.arange(count), -1, 1, b"USD"
    return rows


def _identity(rows: Any) -> list[tuple[int, int, int]]:
    return list(zip(rows["item"].tolist(), rows["day"].tolist(), rows["mark"].tolist(), strict=True))


def test_equal_events_are_numbered_in_their_order() -> None:
    rows = _rows(3_000)
    expected, seen = [], dict[tuple[int, int, int], int]()
    for key, price in zip(_identity(rows), rows["price"].tolist(), strict=True):
        seen[key] = seen.get(key, -1) + 1
        expected.append((*key[:2], key[2] + seen[key], price))
    ordered = in_order(rows, events=True)
    got = [(*key, price) for key, price in zip(_identity(ordered), ordered["price"].tolist(), strict=True)]
    assert sorted(got) == sorted(expected)
    assert len(set(_identity(ordered))) == len(rows)


def test_of_equal_states_the_last_stays() -> None:
    rows = _rows(3_000)
    last = dict(zip(_identity(rows), rows["price"].tolist(), strict=True))
    ordered = in_order(rows, events=False)
    assert dict(zip(_identity(ordered), ordered["price"].tolist(), strict=True)) == last
    assert len(ordered) == len(last)


def test_rows_without_equals_come_in_the_order_of_the_index() -> None:
    rows = _rows(2_000)
    rows["item"] = np.random.default_rng(2).integers(0, 2**63 - 1, len(rows))
    ordered = in_order(rows, events=True)
    assert _identity(ordered) == sorted(_identity(rows))


def test_a_month_is_passed_when_the_file_has_gone_on() -> None:
    rows = _rows(600, days=70)
    rows.sort(order="day")
    gathered = Months(CONSTANTS, events=False, buffers=DEFAULT_BUFFERS)
    chunks = list(gathered.take(rows, ["NORTH"]))
    assert [(str(chunk.month), chunk.passed) for chunk in chunks] == [("2000-01-01", True), ("2000-02-01", True)]
    assert [(str(chunk.month), chunk.passed) for chunk in gathered.rest()] == [("2000-03-01", False)]


def test_rows_in_no_order_are_all_written_and_few_are_kept() -> None:
    for days in (31, 365):
        buffers = LoadBuffers(kept_bytes=64 * 1024, chunk_rows=100)
        gathered, chunks = Months(CONSTANTS, events=True, buffers=buffers), list[Chunk]()
        for n in range(10):
            chunks += gathered.take(_rows(1_000, seed=n, days=days), ["NORTH", "SOUTH"])
            assert gathered.kept_bytes() <= 64 * 1024, days
        chunks += gathered.rest()
        assert sum(len(chunk.rows) for chunk in chunks) == 10_000, days
        assert max(len(chunk.rows) for chunk in chunks) <= 100, days
        prices = np.concatenate([_written(chunk)["price_minor"] for chunk in chunks])
        assert np.bincount(prices.astype("i8")).tolist() == [10] * 1_000, days


def test_a_row_is_as_long_as_it_has_values() -> None:
    rows = _rows(4)
    rows["list"] = [-1, 5, -1, 6]
    with_list, without = (
        Months(CONSTANTS | {"units": 1, "currency": "USD"}, events=True, buffers=DEFAULT_BUFFERS),
        Months(CONSTANTS, events=True, buffers=DEFAULT_BUFFERS),
    )
    for gathered, fields in ((with_list, 6), (without, 8)):
        [*_], chunks = list(gathered.take(rows.copy(), ["NORTH"])), list(gathered.rest())
        tables = [_written(chunk) for chunk in chunks]
        assert [table.dtype.names.count("list_minor") for table in tables] == [1, 0]
        assert {int(table["fields"][0]) for table in tables} == {fields} == {len(gathered.columns)}
        assert [table["list_minor_bytes"].tolist() for table in tables] == [[8, 8], [-1, -1]]


def test_many_rows_are_written_table_by_table_as_they_are() -> None:
    rows = _rows(10_000)
    gathered = Months(CONSTANTS, events=True, buffers=DEFAULT_BUFFERS)
    [*_], [chunk] = list(gathered.take(rows, ["NORTH"])), list(gathered.rest())
    assert all(table.nbytes <= 128 * 1024 for table in chunk.written())
    written = _written(chunk)
    assert len(list(chunk.written())) > 1
    for name, own in (("item_id", "item"), ("mark", "mark"), ("price_minor", "price"), ("day", "day")):
        assert written[name].astype("i8").tolist() == chunk.rows[own].tolist()
