"""Staging: batches into temporary tables and new partitions, by COPY, inside the load's one transaction."""

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.csv
from psycopg import sql

from shared.db.connect import Connection
from shared.db.copy_binary import HEADER, TRAILER, TableLayout, text_array
from shared.db.queries import load_queries
from shared.text import fold
from workers.analytics.rollups.arrays import Array
from workers.ingest import calendar_days
from workers.ingest.figures import DataQuality, DecimalSpread
from workers.ingest.load.months import Chunk, Months
from workers.ingest.load.partitions import Partitions, set_defaults
from workers.ingest.load.spool import RowSpool
from workers.ingest.mapping import Mapping
from workers.ingest.transform import ItemRow, Transformed

SQL = load_queries(__file__, "stage.sql")
COLUMNS = (
    "id, iid, source_item_id, name, alt_names, brand_slug, brand_name, brand_folded, category_code, category_path, "
    "product_type, identifiers, attributes, content_hash"
)
# Arrow quotes every text, also an empty one, and nothing where there is none: what PostgreSQL's CSV takes for NULL.
_FORM = pa.csv.WriteOptions(include_header=False, quoting_style="needed")
_SPANS_AT_ONCE = 65_536
_SPAN = TableLayout((("id", "i8"), ("first", "i4"), ("last", "i4")))


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


class Stage:
    """Takes shaped batches. Months that are new are written as partitions-to-be; the others wait for the merge."""

    def __init__(
        self, connection: Connection, mapping: Mapping, months: Months, constants: dict[str, object], spool: RowSpool
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

    def spans(self, keys: Array, first: Array, last: Array) -> None:
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
        columns = "id, indicator, per_unit, basis, method, as_of, stage, low, high, deviation, pedigree, reference_year"
        with self._connection.cursor().copy(f"COPY stage_impacts ({columns}) FROM STDIN".encode()) as copy:
            for item in shaped.items:
                day = calendar_days.shown(item.day)
                for impact in totals:
                    figure = item.impacts.get(impact.indicator)
                    spread = item.spreads.get(impact.indicator, DecimalSpread())
                    quality = item.quality.get(impact.indicator, DataQuality())
                    described = (*spread, *quality)
                    row = (item.key, impact.indicator, figure, impact.basis, impact.method, day, None, *described)
                    copy.write_row(row)
            for key, impact, stage, per_unit in shaped.stage_figures:
                described = (*DecimalSpread(), *DataQuality())
                copy.write_row((key, impact.indicator, per_unit, impact.basis, impact.method, None, stage, *described))

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
                copy.write(table.view("u1").data)
            copy.write(TRAILER)
        if new is None:
            return
        self.spool.add(chunk.month, chunk.rows, begins=chunk.begins)
        if chunk.passed:
            self.partitions.index(new)

    def _channel(self, code: str) -> int:
        [(channel,)] = self._connection.execute(SQL.channel, (code,)).fetchall()
        return int(channel)
