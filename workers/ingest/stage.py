"""Staging: batches into temporary tables and new partitions, by COPY, inside the load's one transaction."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.csv
from psycopg import sql

from shared.db.connect import Connection
from shared.db.copy_binary import EPOCH_DAYS, HEADER, TRAILER, TableLayout, text_array
from shared.db.queries import load_queries
from shared.text import fold
from workers.analytics.rollups.codec import order_of
from workers.ingest import calendar_days
from workers.ingest.batches import LoadBuffers
from workers.ingest.mapping import Mapping
from workers.ingest.observations import OBSERVATION, Spread
from workers.ingest.transform import ItemRow, Transformed

# Columns of `observations`, their kinds in a binary COPY, and the fields of a load's rows. A load has one source.
OBSERVATION_COLUMNS = (
    ("item_id", "i8", "item"),
    ("mark", "i8", "mark"),
    ("price_minor", "i8", "price"),
    ("list_minor", "i8", "list"),
    ("day", "i4", "day"),
    ("channel_id", "i4", "channel"),
    ("units", "i4", "units"),
    ("currency", "S3", "currency"),
    ("kind", "S1", "kind"),
)
# A batch that touches more months than these is not in the order of days: its rows of a month are kept for more.
_MONTHS_IN_ORDER_MAX = 3
_NUMBER_MAX = 0xFFFF
_WRITTEN_BYTES = 128 * 1024
_KEY_BITS = 48  # 32 of the item, 5 of the day, 11 of the mark


@dataclass
class Chunk:
    """Rows of one month; `channel` counts into `Months.channels` until numbers of the index are put in its place.

    `superseded` says how many rows a later one replaced; `begins` is true for the first chunk of a sorted run,
    `passed` for the last one of a month when the file has gone on to the next.
    """

    month: date
    rows: Any
    layout: "_Layout"
    superseded: int
    begins: bool
    passed: bool = False

    def written(self) -> Iterator[Any]:
        """Yield the rows as COPY takes them, in tables of 128 KiB at most; each is gone when the next is requested."""
        return self.layout.written(self.rows)


class Months:
    """Gathers the observations of a load by month. Its memory is bounded in bytes, whatever the order of the rows."""

    def __init__(self, constants: dict[str, object], *, events: bool, buffers: LoadBuffers) -> None:
        self.columns = [name for name, _, _ in OBSERVATION_COLUMNS if name not in constants]
        self._layouts = [_Layout(self.columns, without_list=absent) for absent in (False, True)]
        self._events = events
        self._buffers = buffers
        self._kept: dict[int, list[Any]] = {}
        self._codes: dict[str, int] = {}
        self.channels: list[str] = []

    def take(self, rows: Any, channels: list[str]) -> Iterator[Chunk]:
        """Take a batch in; yield what is ready of it and of those before. None: not one of its rows could be used."""
        if rows is None or not len(rows):
            return
        rows["channel"] = np.array([self._code(name) for name in channels], "i4")[rows["channel"]]
        months = _months(rows["day"])
        here = (np.flatnonzero(np.bincount(months - months.min())) + months.min()).tolist()
        for month in here:
            part = rows if len(here) == 1 else rows.take(np.flatnonzero(months == month))
            self._kept.setdefault(month, []).append(part)
        if len(here) <= _MONTHS_IN_ORDER_MAX:
            for month in [month for month in self._kept if month != months[-1]]:
                yield from self._flush(month, passed=True)
        while self.kept_bytes() > self._buffers.kept_bytes:
            yield from self._flush(max(self._kept, key=lambda month: sum(map(len, self._kept[month]))))

    def rest(self) -> Iterator[Chunk]:
        """Yield what is still kept."""
        for month in list(self._kept):
            yield from self._flush(month)

    def kept_bytes(self) -> int:
        return sum(part.nbytes for parts in self._kept.values() for part in parts)

    def _code(self, name: str) -> int:
        if name not in self._codes:
            self._codes[name] = len(self.channels)
            self.channels.append(name)
        return self._codes[name]

    def _flush(self, month: int, *, passed: bool = False) -> Iterator[Chunk]:
        first = date(1970 + month // 12, month % 12 + 1, 1)
        parts = self._kept.pop(month)
        rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
        ordered = in_order(rows, events=self._events)
        superseded, begins = len(rows) - len(ordered), True
        # A row without a list price is shorter than one with it; each kind is written as one table of fixed width.
        kinds, size = zip(self._layouts, _by_list_price(ordered), strict=True), self._buffers.chunk_rows
        pieces = [(layout, kind[n : n + size]) for layout, kind in kinds for n in range(0, len(kind), size)]
        for left, (layout, piece) in zip(range(len(pieces) - 1, -1, -1), pieces, strict=True):
            yield Chunk(first, piece, layout, superseded, begins, passed=passed and not left)
            superseded, begins = 0, False


def _by_list_price(rows: Any) -> tuple[Any, Any]:
    """Return the rows with a list price, and those without; a copy only where there are both."""
    absent = rows["list"] < 0
    if absent.all() or not absent.any():
        return (rows[:0], rows) if len(rows) and absent[0] else (rows, rows[:0])
    return rows.take(np.flatnonzero(~absent)), rows.take(np.flatnonzero(absent))


def in_order(rows: Any, *, events: bool) -> Any:
    """Sort observations of one month by item, day and mark; number equal events on, keep the last of equal states."""
    days = (rows["day"] - rows["day"].min()).astype("u8")
    # One integer of the upper bits of all three sorts three times as fast as three keys; where it ties, all bits count.
    keys = (rows["item"].astype("u8") >> np.uint64(31) << np.uint64(16)) | (days << np.uint64(11))
    keys |= rows["mark"].astype("u8") >> np.uint64(52)
    order = order_of(keys, _KEY_BITS)
    keys = keys.take(order)
    tied = np.flatnonzero(keys[1:] == keys[:-1])
    if not len(tied):
        return rows.take(order)
    return _settled(rows, order, keys, np.union1d(tied, tied + 1), events=events)


def _settled(rows: Any, order: Any, keys: Any, at: Any, *, events: bool) -> Any:
    """Order the rows whose keys tie exactly, and settle those that are equal."""
    positions = order.take(at)
    tied = rows.take(positions)
    positions = positions.take(np.lexsort((positions, tied["mark"], tied["day"], tied["item"], keys.take(at))))
    order[at] = positions
    tied, ordered = rows.take(positions), rows.take(order)
    same = np.zeros(len(tied), bool)
    same[1:] = keys.take(at)[1:] == keys.take(at)[:-1]
    for name in ("item", "day", "mark"):
        same[1:] &= tied[name][1:] == tied[name][:-1]
    if events:
        count = np.arange(len(tied))
        count -= np.maximum.accumulate(np.where(same, 0, count))
        ordered["mark"][at] += np.minimum(count, _NUMBER_MAX)
        return ordered
    stays = np.ones(len(ordered), bool)
    stays[at[:-1]] = ~same[1:]
    return ordered.take(np.flatnonzero(stays))


class _Layout:
    """Observations as tables of binary COPY."""

    def __init__(self, columns: list[str], *, without_list: bool) -> None:
        chosen = [(name, kind) for name, kind, _ in OBSERVATION_COLUMNS if name in columns]
        layout = TableLayout(chosen, nulls=("list_minor",) if without_list else ())
        # One table for all rows, so small that it stays in the processor's cache: new memory costs four times as much
        # as filling it.
        self._table = layout.blank(_WRITTEN_BYTES // layout.dtype.itemsize)
        self._pairs = [(name, own) for name, _, own in OBSERVATION_COLUMNS if name in layout.names]

    def written(self, rows: Any) -> Iterator[Any]:
        """Yield the rows in this layout, table by table: the same table, filled anew."""
        for start in range(0, len(rows), len(self._table)):
            piece = rows[start : start + len(self._table)]
            table = self._table[: len(piece)]
            for name, own in self._pairs:
                table[name] = piece[own]
            yield table


def _months(days: Any) -> Any:
    return (days.astype("M8[D]") + EPOCH_DAYS).astype("M8[M]").astype("i8")


SQL = load_queries(__file__, "stage.sql")


class Partitions:
    """Months that had no rows before this load. All of it is in the load's transaction, and is rolled back with it.

    `rows` are those written, `superseded` those that a later row of the same load replaced.
    """

    def __init__(self, connection: Connection, constants: dict[str, object], *, events: bool) -> None:
        self._connection = connection
        self._constants = constants
        self._events = events
        self._there = {str(row[0]) for row in connection.execute(SQL.months)}
        self._indexed: set[str] = set()
        self._in_order = True
        self.new: dict[str, tuple[date, date]] = {}
        self.rows = 0
        self.superseded = 0

    def table_for(self, chunk: Chunk) -> str | None:
        """Return the new table that a chunk belongs into; None where its month has rows of former loads."""
        table = f"observations_{chunk.month:%Y_%m}"
        if table in self._there:
            return None
        if table not in self.new:
            self._create(table, chunk.month)
        elif table in self._indexed:
            self._reopen(table)
        self.rows += len(chunk.rows) + chunk.superseded
        self.superseded += chunk.superseded
        return table

    def index(self, table: str) -> None:
        """Index a month that the file has passed: the server would wait for the next batch meanwhile."""
        if self._in_order:
            self._index(table)

    def attach(self) -> None:
        """Index what is not indexed yet, and make all new months parts of `observations`."""
        for table, span in self.new.items():
            if table not in self._indexed:
                self._index(table)
            set_defaults(self._connection, table, dict.fromkeys(self._constants) | {"units": 1, "load_no": 0})
            attach = sql.SQL(
                "ALTER TABLE observations ATTACH PARTITION {0} FOR VALUES FROM ({1}) TO ({2}); "
                "ALTER TABLE {0} DROP CONSTRAINT days"
            )
            self._connection.execute(attach.format(sql.Identifier(table), *_days(span)))

    def _create(self, table: str, month: date) -> None:
        # COPY checks the days while the server has time; it need not read the month again to attach it.
        create = sql.SQL(
            "CREATE TABLE {} (LIKE observations INCLUDING DEFAULTS INCLUDING CONSTRAINTS, "
            "CONSTRAINT days CHECK (day >= {} AND day < {}))"
        )
        self.new[table] = (month, (month + timedelta(days=32)).replace(day=1))
        self._connection.execute(create.format(sql.Identifier(table), *_days(self.new[table])))
        set_defaults(self._connection, table, self._constants)

    def _reopen(self, table: str) -> None:
        # Rows of a month that seemed complete: the file is in no order, so no month is taken for complete any more.
        self._in_order = False
        self._indexed.remove(table)
        self._connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(_index_of(table))))

    def _index(self, table: str) -> None:
        """Build the unique index at once, in bulk: many times cheaper than keeping it up row by row.

        If it finds equal rows, equal events get further numbers, or of a state stated twice the last row is kept; then
        it is built again.
        """
        try:
            with self._connection.transaction():
                self._build(table)
        except psycopg.errors.UniqueViolation:
            mend = SQL.number_equal if self._events else SQL.drop_superseded
            mended = self._connection.execute(mend.replace("{table}", table))
            self.superseded += 0 if self._events else mended.rowcount
            self._build(table)
        self._indexed.add(table)
        # A tenth of the usual sample is enough to see that few rows have one item, and takes a tenth of the time.
        analyze = sql.SQL(
            "SET LOCAL default_statistics_target = 10; ANALYZE {} (item_id, day); "
            "SET LOCAL default_statistics_target TO DEFAULT"
        )
        self._connection.execute(analyze.format(sql.Identifier(table)))

    def _build(self, table: str) -> None:
        if self._in_order:  # of sorted rows helpers are no sooner done, and the loader needs their core
            self._connection.execute("SET LOCAL max_parallel_maintenance_workers = 0")
        build = sql.SQL("SET LOCAL maintenance_work_mem = '256MB'; CREATE UNIQUE INDEX {} ON {} (item_id, day, mark)")
        self._connection.execute(build.format(sql.Identifier(_index_of(table)), sql.Identifier(table)))


def set_defaults(connection: Connection, table: str, constants: dict[str, object]) -> None:
    """Let a table fill in what is the same in all rows of a load: a quarter of what COPY would have to read."""
    changes = [
        sql.SQL("ALTER {} DROP DEFAULT").format(sql.Identifier(name))
        if value is None
        else sql.SQL("ALTER {} SET DEFAULT {}").format(sql.Identifier(name), sql.Literal(value))
        for name, value in constants.items()
    ]
    connection.execute(sql.SQL("ALTER TABLE {} {}").format(sql.Identifier(table), sql.SQL(", ").join(changes)))


def _days(span: tuple[date, date]) -> list[sql.Composable]:
    return [sql.SQL("DATE {}").format(sql.Literal(day.isoformat())) for day in span]


def _index_of(table: str) -> str:
    return f"{table}_identity"


# The rows that a load has written into new months, kept beside the server: their rollups need not read it back.


class Spool:
    """Rows by month in an unnamed temporary file: memory holds one month at most, and a killed load leaves nothing."""

    def __init__(self, *, events: bool) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        self._events = events
        self._pieces: dict[date, list[tuple[int, int]]] = {}
        self._runs: dict[date, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, month: date, rows: Any, *, begins: bool) -> None:
        """Keep rows of observations; `begins` says that they begin a sorted run, without equal states in it."""
        self._pieces.setdefault(month, []).append((self._file.tell(), len(rows)))
        self._runs[month] = self._runs.get(month, 0) + begins
        self._file.write(rows.data)

    def read(self, month: date) -> Any:
        """Return a month's rows as the table has them when it is indexed: of states stated in several runs the last."""
        pieces = self._pieces[month]
        rows, begin = np.empty(sum(count for _, count in pieces), OBSERVATION), 0
        for offset, count in pieces:
            self._file.seek(offset)
            self._file.readinto(rows[begin : begin + count].data)
            begin += count
        # A price without a list price has -1; the table says so by NULL, and the rollups by 0.
        np.maximum(rows["list"], 0, out=rows["list"])
        return rows if self._events or self._runs[month] == 1 else in_order(rows, events=False)


# Items as COPY takes them: a CSV made column by column, before the connection is held up for it. Pure.


COLUMNS = (
    "id, iid, source_item_id, name, alt_names, brand_slug, brand_name, brand_folded, category_code, category_path, "
    "product_type, identifiers, attributes, content_hash"
)
# Arrow quotes every text, also an empty one, and nothing where there is none: what PostgreSQL's CSV takes for NULL.
_FORM = pa.csv.WriteOptions(include_header=False, quoting_style="needed")


def as_csv(items: list[ItemRow]) -> Any:
    """Return a buffer with one line an item."""
    if not items:
        return b""
    of = dict(zip(ItemRow._fields, zip(*items, strict=True), strict=True))
    folded = {name: fold(name) for name in set(of["brand_name"]) if name is not None}
    table = pa.table(
        [
            pa.array(of["key"], pa.int64()),
            *(pa.array(of[name], pa.string()) for name in ("iid", "source_item_id", "name")),
            pa.array(map(text_array, of["alt_names"]), pa.string()),
            *(pa.array(of[name], pa.string()) for name in ("brand_slug", "brand_name")),
            pa.array(map(folded.get, of["brand_name"]), pa.string()),
            pa.array(of["category_code"], pa.string()),
            pa.array([text_array(path) if path else None for path in of["category_path"]], pa.string()),
            pa.array(of["product_type"], pa.string()),
            *(pa.array(map(msgspec.json.encode, of[name]), pa.binary()) for name in ("identifiers", "attributes")),
            pa.array(of["content_hash"], pa.int64()),
        ],
        COLUMNS.split(", "),
    )
    written = pa.BufferOutputStream()
    pa.csv.write_csv(table, written, _FORM)
    return written.getvalue()


LOAD = load_queries(__file__, "load.sql")
_SPANS_AT_ONCE = 65_536
_SPAN = TableLayout((("id", "i8"), ("first", "i4"), ("last", "i4")))


class Stage:
    """Takes shaped batches. Months that are new are written as partitions-to-be; the others wait for the merge."""

    def __init__(
        self, connection: Connection, mapping: Mapping, months: Months, constants: dict[str, object], spool: Spool
    ) -> None:
        self._connection = connection
        self._mapping = mapping
        self.events = mapping.counts_events
        self.figures = bool(mapping.impacts)
        self.joins = mapping.item is not None and bool(mapping.item.join_by)
        self._channels: list[int] = []
        connection.execute("; ".join((SQL.items, SQL.spans, SQL.impacts, SQL.observations)).encode())
        set_defaults(connection, "stage_observations", constants)
        self._months = months
        self.partitions = Partitions(connection, constants, events=self.events)
        self.spool = spool
        self.observations = 0
        self.runs = 0

    def take_items(self, shaped: Transformed, items: Any) -> None:
        """Stage the items of one batch, given as `as_csv` writes them."""
        if shaped.items:
            command = f"COPY stage_items ({COLUMNS}) FROM STDIN (FORMAT csv)"
            with self._connection.cursor().copy(command.encode()) as copy:
                copy.write(memoryview(items))
        self._impacts(shaped)

    def spans(self, keys: Any, first: Any, last: Any) -> None:
        """Stage the span of days of every item of the load."""
        with self._connection.cursor().copy("COPY stage_spans FROM STDIN (FORMAT binary)") as copy:
            copy.write(HEADER)
            for start in range(0, len(keys), _SPANS_AT_ONCE):
                part = slice(start, start + _SPANS_AT_ONCE)
                table = _SPAN.blank(len(keys[part]))
                table["id"], table["first"], table["last"] = keys[part], first[part], last[part]
                copy.write(table.tobytes())
            copy.write(TRAILER)

    def _impacts(self, shaped: Transformed) -> None:
        if not self.figures:
            return
        totals = [impact for impact in self._mapping.impacts if impact.stage is None]
        columns = "id, indicator, per_unit, basis, method, as_of, stage, low, high, deviation"
        with self._connection.cursor().copy(f"COPY stage_impacts ({columns}) FROM STDIN".encode()) as copy:
            for item in shaped.items:
                day = calendar_days.shown(item.day)
                for impact in totals:
                    figure = item.impacts.get(impact.indicator)
                    spread = item.spreads.get(impact.indicator, Spread())
                    row = (item.key, impact.indicator, figure, impact.basis, impact.method, day, None, *spread)
                    copy.write_row(row)
            for key, impact, stage, per_unit in shaped.stage_figures:
                copy.write_row((key, impact.indicator, per_unit, impact.basis, impact.method, None, stage, *Spread()))

    def take_observations(self, chunk: Chunk) -> None:
        """Stage a chunk of observations: into its month's table where that is new, else where the merge looks."""
        self.observations += len(chunk.rows) + chunk.superseded
        new = self.partitions.table_for(chunk)
        self.runs += chunk.begins and new is None
        self._channels += [self._channel(code) for code in self._months.channels[len(self._channels) :]]
        chunk.rows["channel"] = np.array(self._channels, "i4").take(chunk.rows["channel"])
        columns = sql.SQL(", ").join(map(sql.Identifier, self._months.columns))
        command = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(
            sql.Identifier(new or "stage_observations"), columns
        )
        with self._connection.cursor().copy(command) as copy:
            copy.write(HEADER)
            for table in chunk.written():
                copy.write(memoryview(table.view("u1")))
            copy.write(TRAILER)
        if new is None:
            return
        self.spool.add(chunk.month, chunk.rows, begins=chunk.begins)
        if chunk.passed:
            self.partitions.index(new)

    def _channel(self, code: str) -> int:
        [(channel,)] = self._connection.execute(LOAD.channel, (code,)).fetchall()
        return int(channel)
