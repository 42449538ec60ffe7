"""What only all rows of a file say: which columns have a text twice, which fill up, which currencies prices state.

A sample cannot: the first thousand products of an export may be those without variants, or of one country.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shared.errors import LoadRefused
from shared.toml_text import as_toml
from workers.ingest.batches import Batch
from workers.ingest.clean import MARKED_UP
from workers.ingest.column_names import PART, name_score, role_names
from workers.ingest.files.forms import Opened, refused_by_name
from workers.ingest.files.read_file import read_opened
from workers.ingest.further_cells import FurtherCells
from workers.ingest.mapping import parse
from workers.ingest.sampling.sample import SAMPLE_BYTES, SAMPLE_ROWS, Sample

_BATCH_ROWS = 65_536
_IDS_MAX = 6
_EMPTY_MAX = 60
_IDS = ("id", "gtin", "mpn", "isbn")
_TEXTS = ("name", "brand", "category")
_TEXTS_MAX = 12
_PRICES = ("price", "sale_price", "list_price")
_PRICES_MAX = 8
_WITH_NOTHING = ("brand", "category", "channel", "size", "colour", "gtin", "mpn")


def with_all_rows(sampled: Sample, found: Opened) -> Sample:
    """Return a sample that also knows what the rows behind it say, as long as the file can be read to its end."""
    if len(sampled.rows) < SAMPLE_ROWS // 2 and found.path.stat().st_size < SAMPLE_BYTES // 4:
        return sampled
    ids, empty = _ids(sampled), _empty(sampled)
    prices = [column for column in sampled.columns if _has_name_of(column, _PRICES, PART)][:2]
    texts = [column for column in sampled.columns if _has_name_of(column, _TEXTS, 1)][:_TEXTS_MAX]
    amounts = [one for one in sampled.columns if _has_name_of(one, (*_PRICES, "currency"), PART - 50)][:_PRICES_MAX]
    others = [column for column in sampled.columns if _has_name_of(column, _WITH_NOTHING, PART)][:_TEXTS_MAX]
    columns = list(dict.fromkeys([*ids, *empty, *prices, *texts, *amounts, *others]))
    if not columns:
        return sampled
    form = [f"{key} = {as_toml(one)}" for key, one in sampled.form.items()]
    lines = ['source = "a"', 'title = "a"', 'license = "a"', *form]
    field = as_toml({"columns": columns, "sparse": True})
    count = _ColumnCount(ids)
    further = FurtherCells(sampled, amounts, others)
    try:
        mapping = parse("\n".join([*lines, "[item]", f"id = {field}", f"name = {field}"]) + "\n", found.path)
        with refused_by_name(found.path):
            for batch in read_opened(found, mapping, batch_rows=_BATCH_ROWS):
                count.add(batch, prices, empty)
                count.add_texts(batch, texts)
                further.add(batch)
    except LoadRefused as error:
        question = f"rows: the file cannot be read to its end, so that only its beginning was looked at: {error}"
        return replace(sampled, doubts=(*sampled.doubts, question))
    return replace(
        sampled,
        repeated=count.repeated_columns(),
        filled_below=frozenset(count.filled),
        marked_up=frozenset(count.marked_up),
        further=further.cells(),
    )


def _has_name_of(column: str, roles: tuple[str, ...], least: float) -> bool:
    return any(name_score(column, role_names()[role]) >= least for role in roles)


def _ids(sampled: Sample) -> list[str]:
    """Return the columns that may be ids, with the best name first."""
    found = {}
    for column in sampled.columns:
        cells = sampled.values(column)
        if cells and len(set(cells)) == len(cells):
            found[column] = max(name_score(column, role_names()[role]) for role in _IDS)
    return sorted((column for column in found if found[column]), key=lambda column: -found[column])[:_IDS_MAX]


def _empty(sampled: Sample) -> list[str]:
    filled = {column for row in sampled.rows for column in row}
    return [column for column in sampled.columns if column not in filled][:_EMPTY_MAX]


class _ColumnCount:
    """Which columns have a text twice or a gap, and which of those that were empty are not."""

    def __init__(self, ids: list[str]) -> None:
        self.filled: set[str] = set()
        self.marked_up: set[str] = set()
        self._hashes: dict[str, list[Any]] = {column: [] for column in ids}
        self._repeated: set[str] = set()

    def add(self, batch: Batch, prices: list[str], empty: list[str]) -> None:
        """Count the rows of a batch; a gap counts in a row that has a price."""
        priced = np.zeros(batch.rows, bool)
        for column in prices:
            priced |= ~_is_empty(batch, column)
        for column in [column for column in empty if column not in self.filled]:
            if not _is_empty(batch, column).all():
                self.filled.add(column)
        for column in [column for column in self._hashes if column not in self._repeated]:
            absent = _is_empty(batch, column)
            texts = np.asarray(batch.columns[column].cast(pa.string()).to_pylist(), object)[~absent]
            hashes = np.fromiter(map(hash, texts), np.int64, len(texts))
            if (absent & priced).any() or len(np.unique(hashes)) < len(hashes):
                self._repeated.add(column)
                self._hashes[column] = []
            else:
                self._hashes[column].append(hashes)

    def add_texts(self, batch: Batch, texts: list[str]) -> None:
        """Note which columns of texts have HTML."""
        for column in [column for column in texts if column not in self.marked_up]:
            cells = batch.columns[column].cast(pa.string())
            if pc.any(pc.match_substring_regex(cells, MARKED_UP), min_count=0).as_py():
                self.marked_up.add(column)

    def repeated_columns(self) -> frozenset[str]:
        """Return the columns that do not tell all rows apart."""
        for column, hashes in self._hashes.items():
            whole = np.concatenate(hashes) if hashes else np.zeros(0, np.int64)
            if len(np.unique(whole)) < len(whole):
                self._repeated.add(column)
        return frozenset(self._repeated)


def _is_empty(batch: Batch, column: str) -> Any:
    texts = pc.utf8_trim_whitespace(pc.fill_null(batch.columns[column].cast(pa.string()), ""))
    return np.asarray(pc.equal(texts, ""))
