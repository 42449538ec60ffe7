"""The faults of the rows of a batch: the first fault of each row, and faults that cost only a field. Pure."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from workers.ingest import clean
from workers.ingest.batches import RAW_CHARACTERS_MAX, VALUE_CHARACTERS_MAX, Batch, Reject
from workers.ingest.clean import Coded, Read
from workers.ingest.fields import Field


class _Fault(NamedTuple):
    reason: str
    field: Field | None


class Faults:
    """For each row the first thing that is wrong with it; `codes` is 0 where nothing is."""

    def __init__(self, rows: int) -> None:
        self.codes = np.zeros(rows, "i2")
        self._faults: list[_Fault] = []
        self._in_fields: list[tuple[_Fault, Any]] = []

    def where(self, mask: Any, reason: str, field: Field | None = None) -> None:
        """Reject the rows of a mask."""
        hit = mask if isinstance(mask, np.ndarray) else np.asarray(pc.fill_null(mask, False))
        if hit.any():
            self._faults.append(_Fault(reason, field))
            self.codes[hit & (self.codes == 0)] = len(self._faults)

    def where_value(self, column: Coded, mask: Any, reason: str, field: Field, *, absent: bool = False) -> None:
        """Reject by what is known of each distinct text; `absent` says whether to have none is a fault too."""
        if absent or pc.any(mask).as_py():
            self.where(column.rows(mask, absent), reason, field)

    def check(self, field: Field, read: Read, unread: str, absent: str = "is empty", *, among: Any = None) -> Any:
        """Note texts that cannot be read and, where a value is required, empty ones; return None where there are none.

        Looks at the rows of the mask `among` only. Returns a mask of the rows that have no value by a fault which costs
        no more than the field.
        """
        lost = None
        missing = read.values.null_count
        if missing > read.given.null_count:
            lost = self._note(field, pc.and_(pc.is_valid(read.given), pc.is_null(read.values)), unread, among)
        if field.required and read.given.null_count:
            more = self._note(field, pc.is_null(read.given), absent, among)
            lost = more if lost is None else lost if more is None else lost | more
        return lost

    def outside(self, field: Field, values: Any, mask: Any, reason: str, *, among: Any = None) -> Any:
        """Note values that can be read and are not allowed; None where there are none, else as `check`."""
        return self._note(field, mask, reason, among) if pc.any(mask).as_py() else None

    def rejects(self, batch: Batch, path: Path) -> list[Reject]:
        """Return a reject for each row that has a fault, and for each field of the others that has one."""
        rejects = [
            self._reject(batch, path, int(row), self._faults[self.codes[row] - 1]) for row in np.flatnonzero(self.codes)
        ]
        for fault, hit in self._in_fields:
            rows = np.flatnonzero(hit & (self.codes == 0))
            rejects += [self._reject(batch, path, int(row), fault, scope="field") for row in rows]
        return rejects

    def _note(self, field: Field, mask: Any, reason: str, among: Any) -> Any:
        hit = np.asarray(pc.fill_null(mask, False))
        if among is not None:
            hit = hit & among
        if not hit.any():
            return None
        if field.on_error == "field":
            self._in_fields.append((_Fault(reason, field), hit))
            return hit
        self.where(hit, reason, field)
        return None

    def _reject(self, batch: Batch, path: Path, row: int, fault: _Fault, scope: str = "row") -> Reject:
        column = value = None
        if fault.field is not None:
            column = column_of(fault.field)
            value = clean.raw(fault.field, batch, path, row)
        value = None if value is None else value[:VALUE_CHARACTERS_MAX]
        return Reject(path.name, int(batch.lines[row]), fault.reason, raw_row(batch, row), column, value, scope)


def column_of(field: Field) -> str:
    """Name the column or columns of a field, or their substitute."""
    if field.constant is not None:
        return "(constant)"
    if field.file_name is not None:
        return "(file name)"
    return field.column or ", ".join(field.columns or field.first_of)


def raw_row(batch: Batch, row: int) -> str:
    """Return a row's cells as JSON, cut to what a reject keeps."""
    cells = {name: column[row].as_py() for name, column in batch.columns.items()}
    return json.dumps(cells, ensure_ascii=False, default=str)[:RAW_CHARACTERS_MAX]
