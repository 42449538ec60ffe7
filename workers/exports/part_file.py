"""A part's file on its way: under its slot's own name, counted and digested, whole or not there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from shared.exports.contract import ROWS, SHAPES, dataset_of
from shared.exports.manifest import File, file_name
from shared.exports.request import Request
from shared.objects.directory import ResultStore
from shared.releases.arrow import arrow_schema
from workers.exports.file_writers import Counted, Sink, sink_of
from workers.exports.parts import Part

Told = Callable[[int], None]


class Page:
    """Takes batches into the file of a part; knows the least and greatest key of what went in."""

    def __init__(self, file: Counted, place: str, name: str, part: Part, request: Request, told: Told) -> None:
        self._file = file
        self._place = place
        self._name = name
        self._content = part.content
        self._told = told
        dataset = dataset_of(request.dataset, part.content)
        self.key = SHAPES[request.dataset].key if part.content == ROWS else "iid"
        self.names = request.columns if part.content == ROWS else [column.name for column in dataset.columns]
        full = arrow_schema(dataset)
        self._schema = pa.schema([full.field(name) for name in self.names])
        self._form = (request.format, request.compression)
        self._sink: Sink | None = None
        self.rows = 0
        self._least: Any = None
        self._most: Any = None

    @classmethod
    @contextmanager
    def begun(cls, store: ResultStore, part: Part, request: Request, told: Told) -> Iterator[Self]:
        """Begin the part's file; on leaving without an error it is whole and durable, else it is not there."""
        name = file_name(request.dataset, part.content, part.number, request.format, request.compression)
        place = f"{part.job_id}/{part.slot}/{name}"
        with store.writing(place) as file:
            yield cls(Counted(file), place, name, part, request, told)

    def write(self, batch: Any) -> None:
        """Write a record batch, which may hold more columns than were chosen, and holds the key."""
        if not batch.num_rows:
            return
        self._opened().write(batch)
        ends = pc.min_max(batch.column(self.key)).as_py()
        self._least = ends["min"] if self._least is None else min(self._least, ends["min"])
        self._most = ends["max"] if self._most is None else max(self._most, ends["max"])
        self.rows += batch.num_rows
        self._told(self.rows)

    def copy(self, piece: bytes) -> None:
        """Write bytes of a file that is in this very form already."""
        self._file.write(piece)

    def copied(self, rows: int, least: Any, most: Any) -> File:
        """Say what the copied file is."""
        self.rows, self._least, self._most = rows, least, most
        self._told(rows)
        return self._described()

    def closed(self) -> File:
        """Write the end, and say what the file is; nobody lists it yet."""
        self._opened().close()
        return self._described()

    def _opened(self) -> Sink:
        if self._sink is None:
            self._sink = sink_of(self._file, self._schema, *self._form)
        return self._sink

    def _described(self) -> File:
        return File(
            name=self._name,
            key=self._place,
            content=self._content,
            rows=self.rows,
            bytes=self._file.bytes,
            sha256=self._file.sha256,
            min_key=_text(self._least),
            max_key=_text(self._most),
        )


def _text(key: Any) -> str | None:
    return None if key is None else str(key)
