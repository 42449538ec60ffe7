"""The rows that a load has written into new months, kept beside the server: their rollups need not read it back."""

import tempfile
from datetime import date
from types import TracebackType
from typing import Self

import numpy as np

from workers.analytics.rollups.arrays import Array
from workers.ingest.load.months import in_order
from workers.ingest.observations import OBSERVATION


class RowSpool:
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

    def add(self, month: date, rows: Array, *, begins: bool) -> None:
        """Keep rows of observations; `begins` says that they begin a sorted run, without equal states in it."""
        self._pieces.setdefault(month, []).append((self._file.tell(), len(rows)))
        self._runs[month] = self._runs.get(month, 0) + begins
        self._file.write(rows.data)

    def read(self, month: date) -> Array:
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
