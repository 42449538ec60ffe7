"""Rows of an export's part from PostgreSQL: by its range of items, narrowed as the request says, as record batches."""

from collections.abc import Iterator
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.csv

from shared.bulk.request import GONE, ROWS, ROWS_SQL, ReadScope, arguments, dataset_of, read_scope
from shared.calendar_periods import last_day
from shared.db.copy_binary import Array
from shared.db.queries import load_queries
from workers.bulk.codecs.csv_copy import CsvRows
from workers.bulk.codecs.key_positions import KeyPositions
from workers.bulk.codecs.observations import SharedDictionaries, columns_of, observations_batch
from workers.bulk.part import ExportPart
from workers.bulk.sources.item_contents import read_item_contents
from workers.bulk.sources.snapshot import Snapshot

SQL = load_queries(__file__, "export_rows.sql")


def snapshot_batches(snapshot: Snapshot, part: ExportPart) -> Iterator[pa.RecordBatch]:
    """Yield the part's rows as record batches of all the dataset's columns."""
    request = part.request
    scope = read_scope(snapshot.rows, request)
    if request.dataset == "observations" and part.content == ROWS:
        yield from _observations(snapshot, scope, part)
        return
    if part.content == GONE:
        query, values = ROWS_SQL.gone, scope.of_items(part.id_from, part.id_to)
    else:
        query = getattr(ROWS_SQL, request.dataset)
        values = arguments(request.dataset, scope, part.id_from, part.id_to)
    rows = CsvRows(dataset_of(request.dataset, part.content))
    for piece in snapshot.copy(query, *values, format="csv"):
        yield rows.batch(piece)


def _observations(snapshot: Snapshot, scope: ReadScope, part: ExportPart) -> Iterator[pa.RecordBatch]:
    of_items = scope.of_items(part.id_from, part.id_to)
    ids, owners, iids = _items(snapshot, of_items)
    if not len(ids):
        return
    narrowed = bool(scope.since or scope.brand_ids or scope.category_ids)
    contents = read_item_contents(snapshot, owners, *((0, 0) if narrowed else (part.id_from, part.id_to)))
    dictionaries = SharedDictionaries(dict(snapshot.rows(ROWS_SQL.channels)), dict(snapshot.rows(ROWS_SQL.sources)))
    positions = KeyPositions(ids)
    for first, last in _spans(snapshot, scope):
        days = [first, last, scope.channel_ids]
        if narrowed:
            pieces = snapshot.copy(SQL.observations_of_items, *of_items, *days, format="binary")
        else:
            pieces = snapshot.copy(SQL.observations, part.id_from, part.id_to, *days, format="binary")
        for piece in pieces:
            columns = columns_of(piece)
            position, known = positions.of(columns["item"])
            if not known.all():  # observations of items that are not exported
                columns = {name: column[known] for name, column in columns.items()}
                position = position[known]
            columns |= contents.columns(position)
            yield observations_batch(iids.take(pa.array(position)), columns, dictionaries)


def _spans(snapshot: Snapshot, scope: ReadScope) -> list[tuple[date, date]]:
    """Return the first and last day to copy of each month."""
    months = [month for (month,) in snapshot.rows(SQL.months, scope.first, scope.last, scope.months)]
    return [(max(scope.first, month), min(scope.last, last_day(month, "month"))) for month in months]


def _items(snapshot: Snapshot, of_items: list[object]) -> tuple[Array, Array, pa.Array]:
    """Return the keys of the part's items, ascending, those of the items whose records they are in, and their IIDs."""
    tables = []
    types = {"id": pa.int64(), "owner": pa.int64(), "iid": pa.string()}
    options = pyarrow.csv.ReadOptions(column_names=list(types), block_size=1 << 30, use_threads=False)
    convert = pyarrow.csv.ConvertOptions(column_types=types)
    for piece in snapshot.copy(SQL.iids, *of_items, format="csv"):
        tables.append(pyarrow.csv.read_csv(pa.BufferReader(piece), options, convert_options=convert))
    table = pa.concat_tables(tables or [pa.schema(types).empty_table()]).combine_chunks().sort_by("id")
    return np.asarray(table["id"]), np.asarray(table["owner"]), table["iid"].combine_chunks()
