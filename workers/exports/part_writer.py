"""One part: read in the export's snapshot, written under its slot, described as the manifest will list it."""

import asyncio
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import uvloop

from shared.config import Settings
from shared.db.queries import beside
from shared.exports.contract import ROWS, dataset_of
from shared.exports.manifest import File
from shared.exports.request import ROWS_SQL, Request, Scope, arguments, scope_of
from shared.objects.directory import ResultStore
from shared.releases.datasets import Dataset
from workers.exports.csv_source import Sheet
from workers.exports.observation_source import Items, batch_of
from workers.exports.part_file import Page, Told
from workers.exports.parts import Part
from workers.exports.snapshot_reader import Reading

SQL = beside(__file__, "copy.sql")


def write_part(
    settings: Settings, store: ResultStore, part: Part, request: Request, check: Callable[[], None], told: Told
) -> File:
    """Write a part's file and return what it is; nobody lists it yet. `check` is called often and may raise."""
    with asyncio.Runner(
        loop_factory=uvloop.new_event_loop
    ) as runner:  # a third less CPU for what arrives in 8 kB pieces
        return runner.run(_write(settings, store, part, request, check, told))


async def _write(
    settings: Settings, store: ResultStore, part: Part, request: Request, check: Callable[[], None], told: Told
) -> File:
    async with Reading(settings.worker_database_url, part.snapshot, check) as reading:
        scope = await read_scope(reading, request)
        with Page.begun(store, part, request, told) as page:
            if request.dataset == "observations" and part.content == ROWS:
                await _observations(reading, scope, part, page)
            else:
                await _sheet(reading, scope, part, dataset_of(request.dataset, part.content), page)
            check()
            return page.closed()


async def read_scope(reading: Reading, request: Request) -> Scope:
    """Return what the request means in the snapshot that is read."""
    [named] = await reading.rows(ROWS_SQL.named, request.brand, request.category, request.channel)
    months = None
    if request.since is not None:
        [changed] = await reading.rows(ROWS_SQL.months_since, request.since)
        months = list(changed["months"]) if changed["known"] else None
    return scope_of(request, named, months)


async def _sheet(reading: Reading, scope: Scope, part: Part, dataset: Dataset, page: Page) -> None:
    sheet = Sheet(dataset)
    if dataset.name == "gone":
        query, values = ROWS_SQL.gone, scope.of_items(part.id_from, part.id_to)
    else:
        query = getattr(ROWS_SQL, dataset.name)
        values = arguments(dataset.name, scope, part.id_from, part.id_to)
    await reading.copy(query, values, "csv", lambda piece: page.write(sheet.batch_of(piece)))


async def _observations(reading: Reading, scope: Scope, part: Part, page: Page) -> None:
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
