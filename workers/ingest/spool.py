"""The rows that a load has written into new months, kept beside the server: their rollups need not read it back."""

import tempfile
from datetime import date
from types import TracebackType
from typing import Any, Self

import numpy as np

from workers.ingest.month_buffer import COLUMNS, in_order

_ROW = np.dtype([(own, kind) for _, kind, own in COLUMNS])


class Spool:
    """Rows by month in an unnamed temporary file: memory holds one month at most, and a killed load leaves nothing."""

    def __init__(self, constants: dict[str, object], *, events: bool) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        # A price without a list price has none; the table says so by NULL, and the rollups by 0.
        self._constants = {"list": 0, **{own: constants[name] or 0 for name, _, own in COLUMNS if name in constants}}
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
        """Keep rows as COPY takes them; `begins` says that they begin a sorted run, without equal states in it."""
        kept = np.empty(len(rows), _ROW)
        for name, _, own in COLUMNS:
            kept[own] = rows[name] if name in rows.dtype.names else self._constants[own]
        self._pieces.setdefault(month, []).append((self._file.tell(), len(rows)))
        self._runs[month] = self._runs.get(month, 0) + begins
        self._file.write(kept.data)

    def read(self, month: date) -> Any:
        """Return a month's rows as the table has them when it is indexed: of states stated in several runs the last."""
        parts = []
        for offset, count in self._pieces[month]:
            self._file.seek(offset)
            parts.append(np.fromfile(self._file, _ROW, count))
        rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return rows if self._events or self._runs[month] == 1 else in_order(rows, events=False)
