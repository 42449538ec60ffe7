"""What is wrong with the rows of a batch: for each row the first fault found. Pure."""

import json
from typing import Any

import numpy as np
import pyarrow.compute as pc

from workers.ingest.clean import Coded
from workers.ingest.readers import RAW_CHARACTERS_MAX, Batch, Reject


class Faults:
    """For each row the first thing that is wrong with it."""

    def __init__(self, rows: int) -> None:
        self.codes = np.zeros(rows, "i2")
        self._reasons: list[str] = []

    def where(self, mask: Any, reason: str) -> None:
        self._reasons.append(reason)
        hit = mask if isinstance(mask, np.ndarray) else np.asarray(pc.fill_null(mask, False))
        if hit.any():
            self.codes[hit & (self.codes == 0)] = len(self._reasons)

    def where_value(self, column: Coded, mask: Any, reason: str, *, absent: bool = False) -> None:
        """The same of each distinct text; `absent` says whether to have none is a fault too."""
        if absent or pc.any(mask).as_py():
            self.where(column.rows(mask, absent), reason)
        else:
            self._reasons.append(reason)

    def where_null(self, column: Any, reason: str) -> None:
        self.where(pc.is_null(column), reason)

    def rejects(self, batch: Batch, name: str) -> list[Reject]:
        rows = np.flatnonzero(self.codes)
        return [Reject(name, int(batch.lines[r]), self._reasons[self.codes[r] - 1], _raw(batch, int(r))) for r in rows]


def _raw(batch: Batch, row: int) -> str:
    cells = {name: column[row].as_py() for name, column in batch.columns.items()}
    return json.dumps(cells, ensure_ascii=False, default=str).replace("\\u0000", "\ufffd")[:RAW_CHARACTERS_MAX]
