"""What is wrong with rows and their fields, and the rejects that come of it."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workers.ingest.batches import Batch, Reject, of_sheet, reject
from workers.ingest.clean import Coded, Read
from workers.ingest.fields import Field

Mask = npt.NDArray[np.bool_] | None
"""Which rows of a batch; None where there are none, or all."""


def raw(field: Field, batch: Batch, path: Path, row: int) -> str | None:
    """Return what a row's file has for a field, before any cleaning."""
    if field.constant is not None:
        return field.constant
    if field.file_name is not None:
        return path.name
    names = field.columns or field.first_of or (field.column or "",)
    cells = [batch.columns[name][row].as_py() for name in names]
    texts = [str(cell) for cell in cells if cell is not None]
    if field.first_of:
        return next((text for text in texts if text.strip() not in field.null), None)
    return (field.join or " ").join(texts) if texts else None


class Faults:
    """For each row the first thing that is wrong with it; `codes` is 0 where nothing is."""

    def __init__(self, rows: int) -> None:
        self.codes = np.zeros(rows, "i2")
        self._faults: list[tuple[str, Field | None]] = []
        self._in_fields: list[tuple[str, Field, npt.NDArray[np.bool_]]] = []

    def where(self, mask: pa.Array | npt.NDArray[np.bool_], reason: str, field: Field | None = None) -> None:
        """Reject the rows of a mask."""
        hit = mask if isinstance(mask, np.ndarray) else np.asarray(pc.fill_null(mask, False))
        if hit.any():
            self._faults.append((reason, field))
            self.codes[hit & (self.codes == 0)] = len(self._faults)

    def where_value(self, column: Coded, mask: pa.Array, reason: str, field: Field, *, absent: bool = False) -> None:
        """Reject by what is known of each distinct text; `absent` says whether to have none is a fault too."""
        if absent or pc.any(mask).as_py():
            self.where(column.rows(mask, absent), reason, field)

    def check(self, field: Field, read: Read, unread: str, absent: str = "is empty", *, among: Mask = None) -> Mask:
        """Note texts that cannot be read and, where a value is required, empty ones; return None where there are none.

        Looks at the rows of the mask `among` only. Returns a mask of the rows that have no value by a fault which costs
        no more than the field.
        """
        lost = None
        missing = read.values.null_count
        if missing > read.given.null_count:
            lost = self.note(field, pc.and_(pc.is_valid(read.given), pc.is_null(read.values)), unread, among)
        if field.required and read.given.null_count:
            more = self.note(field, pc.is_null(read.given), absent, among)
            lost = more if lost is None else lost if more is None else lost | more
        return lost

    def rejects(self, batch: Batch, path: Path) -> list[Reject]:
        """Return a reject for each row that has a fault, and for each field of the others that has one."""
        rows = np.flatnonzero(self.codes).tolist()
        rejects = [reject_of(batch, path, row, *self._faults[self.codes[row] - 1]) for row in rows]
        for reason, field, hit in self._in_fields:
            rows = np.flatnonzero(hit & (self.codes == 0)).tolist()
            rejects += [reject_of(batch, path, row, reason, field, "field") for row in rows]
        return rejects

    def note(self, field: Field, mask: pa.Array, reason: str, among: Mask = None) -> Mask:
        """Note the values of a mask, which are not allowed; None where there are none, else as `check`."""
        hit = np.asarray(pc.fill_null(mask, False))
        if among is not None:
            hit = hit & among
        if not hit.any():
            return None
        if field.on_error == "field":
            self._in_fields.append((reason, field, hit))
            return hit
        self.where(hit, reason, field)
        return None


def reject_of(batch: Batch, path: Path, row: int, reason: str, field: Field | None, scope: str = "row") -> Reject:
    """Return the reject of a row, or of its field."""
    cells = {name: column[row].as_py() for name, column in batch.columns.items()}
    column, value = (_column_of(field), raw(field, batch, path, row)) if field else (None, None)
    return reject(of_sheet(path.name, batch.sheet), int(batch.lines[row]), reason, cells, column, value, scope)


def _column_of(field: Field) -> str:
    """Name the column or columns of a field, or their substitute."""
    if field.constant is not None:
        return "(constant)"
    if field.file_name is not None:
        return "(file name)"
    return field.column or ", ".join(field.columns or field.first_of)
