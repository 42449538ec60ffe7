"""The observations, month by month: columns of fixed width, sorted as arrays, written while the next month is read."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.db.queries import Queries
from shared.money import minor_digits
from shared.outliers import CAUSES, NONE
from shared.releases.arrow import arrow_schema
from shared.releases.datasets import DATASETS
from workers.releases.parts import PART_ROWS, Array, FilePart, PartWriter, ends_of_parts
from workers.releases.snapshot import Snapshot

ROWS_AT_ONCE = 2_097_152
"""What is held at once, twice: one slice is read while the one before is written."""
_DATASET = DATASETS["observations"]
_SCHEMA = arrow_schema(_DATASET)
_HEAD_BYTES = 19  # the signature of PostgreSQL's binary COPY, its flags and the length of what may follow them
_PIECE_BYTES = 1 << 20
_EPOCH = np.datetime64("2000-01-01") - np.datetime64("1970-01-01")
_COLUMNS = {
    "item": ">i8",
    "price": ">i8",
    "list": ">i8",
    "day": ">i4",
    "channel": ">i4",
    "units": ">i4",
    "source": ">i2",
    "kind": "u1",
    "currency": "S3",
    "outlier": "u1",
}
_ROW = np.dtype(
    [
        ("fields", ">i2"),
        *(pair for n, (name, kind) in enumerate(_COLUMNS.items()) for pair in ((f"length{n}", ">i4"), (name, kind))),
    ]
)
_SCALE = 4
_BEYOND = "~"  # after every IID
Told = Callable[[str, int, int | None], None]


class Names(NamedTuple):
    """What numbers stand for. `ids` ascending, `ranks` their places among the IIDs in order.

    A merged item has its owner's IID and rank; `owners` are the ids of the items whose IIDs they are.
    """

    ids: Array
    owners: Array
    ranks: Array
    iids: pa.Array
    channels: dict[int, str]
    sources: dict[int, str]


def read_names(snapshot: Snapshot, sql: Queries) -> Names:
    """Read the names of items, channels and sources: some forty bytes an item, the only memory that grows."""
    rows = snapshot.rows(sql.identities)
    ids = np.array([row[0] for row in rows], "i8")
    order = np.argsort(ids)
    iids = pa.array([row[1] for row in rows], pa.string())
    owners = np.array([row[2] for row in rows], "i8")
    first = np.r_[True, owners[1:] != owners[:-1]] if len(owners) else np.empty(0, bool)
    ranks = np.maximum.accumulate(np.where(first, np.arange(len(owners)), 0)) if len(owners) else order
    channels, sources = (dict(snapshot.rows(query)) for query in (sql.channels, sql.sources))
    return Names(ids[order], owners[order], ranks[order].astype("i8"), iids, channels, sources)


def cut_observations(snapshot: Snapshot, sql: Queries, writer: PartWriter, told: Told) -> list[FilePart]:
    """Cut all months; return their files in order."""
    names = read_names(snapshot, sql)
    months = snapshot.rows(sql.months)
    total, done = sum(count for _, count in months), 0
    parts: list[FilePart] = []
    with ThreadPoolExecutor(1) as pool:
        under_way: Future[list[FilePart]] | None = None
        for month, count in months:
            number = -1  # the month's first slice
            for columns in _slices(snapshot, sql, names, month, count):
                before = under_way.result() if under_way is not None else []
                parts += before
                number = 0 if number < 0 else number + len(before)
                under_way = pool.submit(_write, names, columns, month, number, writer)
                done += len(columns["item"])
                told(_DATASET.name, done, total)
        if under_way is not None:
            parts += under_way.result()
    return parts


def _slices(snapshot: Snapshot, sql: Queries, names: Names, month: date, count: int) -> Iterator[dict[str, Array]]:
    after = (month + timedelta(days=32)).replace(day=1)
    if count <= ROWS_AT_ONCE:
        yield _columns(snapshot.copied(sql.observations, month, after))
        return
    # Where a slice begins depends on the IIDs alone, like where a part begins: else every release would differ.
    wanted = 2 ** int(np.ceil(np.log2(count / ROWS_AT_ONCE)) + 1)
    mask = (1 << max(0, round(np.log2(len(names.ids) / wanted)))) - 1
    firsts = sorted(names.iids[int(rank)].as_py() for rank in names.ranks[(names.ids & mask) == 0])
    for low, high in zip(["", *firsts], [*firsts, _BEYOND], strict=True):
        yield _columns(snapshot.copied(sql.observations_of_range, month, after, low, high))


def _columns(pieces: Iterator[bytes]) -> dict[str, Array]:
    """Turn binary rows into columns, a megabyte at a time."""
    found: dict[str, list[Array]] = {name: [] for name in _COLUMNS}
    rest, head = bytearray(), _HEAD_BYTES
    for piece in pieces:
        rest += piece
        if len(rest) >= _PIECE_BYTES:
            head, rest = _take(found, rest, head)
    _take(found, rest, head)
    return {name: np.concatenate(part) if part else np.empty(0, "i8") for name, part in found.items()}


def _take(found: dict[str, list[Array]], raw: bytearray, head: int) -> tuple[int, bytearray]:
    count = (len(raw) - head) // _ROW.itemsize
    rows = np.frombuffer(bytes(raw[head : head + count * _ROW.itemsize]), _ROW)
    for name in _COLUMNS:
        column = rows[name]
        if name == "currency":  # three letters as one number: compared and sorted many times faster
            column = np.frombuffer(column.tobytes(), "u1").reshape(-1, 3).astype("i4") @ np.array([65536, 256, 1], "i4")
        found[name].append(column.astype(column.dtype.newbyteorder("=")))
    return 0, raw[head + count * _ROW.itemsize :]


def _write(names: Names, columns: dict[str, Array], month: date, number: int, writer: PartWriter) -> list[FilePart]:
    place = np.minimum(np.searchsorted(names.ids, columns["item"]), max(len(names.ids) - 1, 0))
    known = names.ids[place] == columns["item"] if len(names.ids) else np.zeros(0, bool)
    rank = names.ranks[place] if len(names.ids) else np.empty(0, "i8")
    if len(names.ids):
        columns = columns | {"item": np.where(known, names.owners[place], columns["item"])}
    if not known.all():  # observations of items that were withdrawn
        columns = {name: column[known] for name, column in columns.items()}
        rank = rank[known]
    order = _order(rank, columns)
    rank, item = rank[order], columns["item"][order]
    starts = np.flatnonzero(np.r_[True, item[1:] != item[:-1]]) if len(item) else np.empty(0, "i8")
    ends = ends_of_parts(item[starts].astype("u8"), starts, len(item), PART_ROWS)
    written: list[FilePart] = []
    for start, end in zip([0, *ends], ends, strict=False):
        table = _table(names, rank[start:end], {name: column[order[start:end]] for name, column in columns.items()})
        iids = table.column("iid")
        name = f"{month:%Y-%m}-{number + len(written):04d}.parquet"
        written.append(
            writer.write(_DATASET, table, name, lambda row, iids=iids: f"{month:%Y-%m}/{iids[row].as_py()}")  # type: ignore[misc]
        )
    return written


def _order(rank: Array, columns: dict[str, Array]) -> Array:
    """Return the one order of rows that does not depend on the order in which they came."""
    day = (columns["day"] - columns["day"].min(initial=2**31 - 1)).astype("u8")  # five bits are enough for a month
    key = (rank.astype("u8") << np.uint64(26)) | (day << np.uint64(21)) | columns["channel"].astype("u8")
    order = np.argsort(key)
    ordered = key[order]
    twin = np.zeros(len(order), bool)
    twin[1:] = ordered[1:] == ordered[:-1]
    twin[:-1] |= twin[1:]
    tied = np.flatnonzero(twin)
    if len(tied):
        rows = order[tied]
        keys = [columns[name][rows] for name in ("units", "source", "currency", "kind", "list", "price")]
        order[tied] = rows[np.lexsort([*keys, ordered[tied]])]
    return order


def _table(names: Names, rank: Array, columns: dict[str, Array]) -> pa.Table:
    currencies = {code: code.to_bytes(3, "big").decode() for code in np.unique(columns["currency"]).tolist()}
    kinds = {ord("l"): "listing", ord("s"): "sale"}
    factors = np.ones(len(rank), "u8")
    for code, currency in currencies.items():
        factors[columns["currency"] == code] = 10 ** (_SCALE - minor_digits(currency))
    listed = columns["list"] >= 0
    arrays: dict[str, Any] = {
        "iid": names.iids.take(pa.array(rank)),
        "day": pa.array(columns["day"] + _EPOCH.astype(int), pa.int32()).cast(pa.date32()),
        "channel": _dictionary(columns["channel"], names.channels),
        "kind": _dictionary(columns["kind"], kinds),
        "source": _dictionary(columns["source"], names.sources),
        "currency": _dictionary(columns["currency"], currencies),
        "price": _decimals(columns["price"], factors, None),
        "price_minor": pa.array(columns["price"]),
        "list_price": _decimals(columns["list"], factors, listed),
        "list_minor": pa.array(columns["list"], mask=~listed),
        "units": pa.array(columns["units"]),
        "outlier": _causes(columns["outlier"]),
    }
    return pa.Table.from_arrays([arrays[name] for name in _SCHEMA.names], schema=_SCHEMA)


def _dictionary(numbers: Array, texts: dict[int, str]) -> pa.Array:
    """Encode by the texts that this part has, in their order: one that comes elsewhere must not change this file."""
    least = int(numbers.min())
    present = sorted((np.flatnonzero(np.bincount(numbers - least)) + least).tolist(), key=lambda number: texts[number])
    places = np.zeros(max(present) - least + 1, "i4")
    places[np.array(present) - least] = np.arange(len(present))
    values = pa.array([texts[number] for number in present], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(places[numbers - least]), values)


def _causes(letters: Array) -> pa.Array:
    """Encode the causes of outliers by those that this part has; null where an observation is none."""
    marked = letters != ord(NONE)
    present = {chr(letter): CAUSES[chr(letter)] for letter in np.unique(letters[marked]).tolist()}
    names = sorted(present.values())
    places = np.zeros(256, "i4")
    for letter, name in present.items():
        places[ord(letter)] = names.index(name)
    return pa.DictionaryArray.from_arrays(pa.array(places[letters], mask=~marked), pa.array(names, pa.string()))


def _decimals(minor: Array, factors: Array, valid: Array | None) -> pa.Array:
    """Make decimals of four digits from minor units: 128 bits each, of which amounts need the lower 64."""
    words = np.zeros((len(minor), 2), "u8")
    words[:, 0] = (
        np.where(valid, minor, 0).astype("u8") * factors if valid is not None else minor.astype("u8") * factors
    )
    bitmap = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(pa.decimal128(20, _SCALE), len(minor), [bitmap, pa.py_buffer(words)])
