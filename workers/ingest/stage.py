"""Staging: batches into temporary tables and new partitions, by COPY, inside the load's one transaction."""

import tempfile
from datetime import date
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.csv
from psycopg import sql

from shared.db.connect import Connection
from shared.db.copy_binary import HEADER, TRAILER, TableLayout, text_array
from shared.db.queries import load_queries
from shared.text import fold
from workers.ingest import calendar_days
from workers.ingest.figures import Spread
from workers.ingest.mapping import Mapping
from workers.ingest.month_buffer import Chunk, Months, in_order
from workers.ingest.observations import OBSERVATION
from workers.ingest.partitions import Partitions, set_defaults
from workers.ingest.transform import ItemRow, Transformed

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


# Staging: batches into temporary tables and new partitions, by COPY, inside the load's one transaction.


SQL = load_queries(__file__, "stage.sql")
LOAD = load_queries(__file__, "load.sql")
_WRITE_BYTES = 128 * 1024
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
        for statement in (SQL.items, SQL.spans, SQL.impacts, SQL.observations):
            connection.execute(statement)
        set_defaults(connection, "stage_observations", constants)
        self._months = months
        self.partitions = Partitions(connection, constants, events=self.events)
        self.spool = spool
        self.observations = 0
        self.runs = 0

    def take_items(self, shaped: Transformed, items: Any) -> None:
        """Stage the items of one batch, given as item_rows writes them."""
        if shaped.items:
            command = f"COPY stage_items ({COLUMNS}) FROM STDIN (FORMAT csv)"
            with self._connection.cursor().copy(command.encode()) as copy:
                self._send(copy, memoryview(items))
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

    @staticmethod
    def _send(copy: psycopg.Copy, written: memoryview) -> None:
        for start in range(0, len(written), _WRITE_BYTES):
            copy.write(written[start : start + _WRITE_BYTES])

    def _channel(self, code: str) -> int:
        row = self._connection.execute(LOAD.channel, (code,)).fetchone()
        assert row is not None
        return int(row[0])
