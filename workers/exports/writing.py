"""One part: read in the export's snapshot, written under its slot, described as the manifest will list it."""

import asyncio
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shared.config import Settings
from shared.db.queries import beside
from shared.exports.contract import ROWS, SHAPES, dataset_of
from shared.exports.manifest import File, file_name
from shared.exports.request import ROWS_SQL, Request, Scope, arguments, scope_of
from shared.releases.arrow import arrow_schema
from shared.releases.datasets import Dataset
from shared.results.store import ResultStore
from workers.exports.observed import Items, batch_of
from workers.exports.parts import Part
from workers.exports.reading import Reading
from workers.exports.sheet import Sheet
from workers.exports.sinks import Counted, Sink, sink_of

SQL = beside(__file__, "copy.sql")
Told = Callable[[int], None]


class _Page:
    """Counts what goes through it into a sink, and knows the least and greatest key."""

    def __init__(self, sink: Sink, key: str, told: Told) -> None:
        self._sink = sink
        self._key = key
        self._told = told
        self.rows = 0
        self.least: Any = None
        self.most: Any = None

    def write(self, batch: Any) -> None:
        if not batch.num_rows:
            return
        self._sink.write(batch)
        ends = pc.min_max(batch.column(self._key)).as_py()
        self.least = ends["min"] if self.least is None else min(self.least, ends["min"])
        self.most = ends["max"] if self.most is None else max(self.most, ends["max"])
        self.rows += batch.num_rows
        self._told(self.rows)


def write_part(
    settings: Settings, store: ResultStore, part: Part, request: Request, check: Callable[[], None], told: Told
) -> File:
    """Write a part's file and return what it is; nobody lists it yet. `check` is called often and may raise."""
    return asyncio.run(_write(settings, store, part, request, check, told))


async def _write(
    settings: Settings, store: ResultStore, part: Part, request: Request, check: Callable[[], None], told: Told
) -> File:
    dataset = dataset_of(request.dataset, part.content)
    names = request.columns if part.content == ROWS else [column.name for column in dataset.columns]
    full = arrow_schema(dataset)
    schema = pa.schema([full.field(name) for name in names])
    name = file_name(request.dataset, part.content, part.number, request.format, request.compression)
    place = f"{part.job_id}/{part.slot}/{name}"
    key = SHAPES[request.dataset].key if part.content == ROWS else "iid"
    async with Reading(settings.worker_database_url, part.snapshot, check) as reading:
        scope = await read_scope(reading, request)
        with store.writing(place) as file:
            counted = Counted(file)
            sink = sink_of(counted, schema, request.format, request.compression)
            page = _Page(sink, key, told)
            if dataset.name == "observations":
                await _observations(reading, scope, part, page)
            else:
                await _sheet(reading, scope, part, dataset, page)
            check()
            sink.close()
    return File(
        name=name, key=place, content=part.content, rows=page.rows, bytes=counted.bytes, sha256=counted.sha256,
        min_key=_text(page.least), max_key=_text(page.most),
    )  # fmt: skip


async def read_scope(reading: Reading, request: Request) -> Scope:
    """Return what the request means in the snapshot that is read."""
    [named] = await reading.rows(ROWS_SQL.named, request.brand, request.category, request.channel)
    months = None
    if request.since is not None:
        [changed] = await reading.rows(ROWS_SQL.months_since, request.since)
        months = list(changed["months"]) if changed["known"] else None
    return scope_of(request, named, months)


async def _sheet(reading: Reading, scope: Scope, part: Part, dataset: Dataset, page: _Page) -> None:
    sheet = Sheet(dataset)
    if dataset.name == "gone":
        query, values = ROWS_SQL.gone, scope.of_items(part.id_from, part.id_to)
    else:
        query = getattr(ROWS_SQL, dataset.name)
        values = arguments(dataset.name, scope, part.id_from, part.id_to)
    await reading.copy(query, values, "csv", lambda piece: page.write(sheet.batch_of(piece)))


async def _observations(reading: Reading, scope: Scope, part: Part, page: _Page) -> None:
    of_items = scope.of_items(part.id_from, part.id_to)
    items = await _items(reading, of_items)
    if not len(items.ids):
        return
    narrowed = bool(scope.since or scope.brand_ids or scope.category_ids)

    def take(piece: bytes) -> None:
        page.write(batch_of(piece, items))

    for first, last in await _spans(reading, scope):
        if narrowed:
            values = [*of_items, first, last, scope.channel_ids, []]
            await reading.copy(SQL.observations_of_items, values, "binary", take)
        else:
            values = [part.id_from, part.id_to, first, last, scope.channel_ids, []]
            await reading.copy(SQL.observations, values, "binary", take)


async def _spans(reading: Reading, scope: Scope) -> list[tuple[Any, Any]]:
    """Return the days to copy, month by month."""
    rows = await reading.rows(SQL.months, scope.first, scope.last, scope.months)
    return [(max(scope.first, row["month"]), min(scope.last, _last_day(row["month"]))) for row in rows]


def _last_day(month: date) -> date:
    return (month + timedelta(days=31)).replace(day=1) - timedelta(days=1)


async def _items(reading: Reading, of_items: list[Any]) -> Items:
    ids: list[Any] = [pa.array([], pa.int64())]
    iids: list[Any] = [pa.array([], pa.string())]
    options = pyarrow.csv.ReadOptions(column_names=["id", "iid"], block_size=1 << 30, use_threads=False)
    convert = pyarrow.csv.ConvertOptions(column_types={"id": pa.int64(), "iid": pa.string()})

    def take(piece: bytes) -> None:
        table = pyarrow.csv.read_csv(pa.BufferReader(piece), options, convert_options=convert)
        ids.extend(table["id"].chunks)
        iids.extend(table["iid"].chunks)

    await reading.copy(SQL.iids, of_items, "csv", take)
    channels = {row["id"]: row["code"] for row in await reading.rows(SQL.channels)}
    sources = {row["id"]: row["name"] for row in await reading.rows(SQL.sources)}
    return Items(np.asarray(pa.concat_arrays(ids)), pa.concat_arrays(iids), channels, sources)


def _text(key: Any) -> str | None:
    return None if key is None else str(key)
