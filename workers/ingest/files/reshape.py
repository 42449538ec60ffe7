"""Batches in another shape: headings as a column, cells filled down, rows without a value left out."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from workers.ingest.batches import Batch
from workers.ingest.mapping import SECTION_COLUMN, FillDown, Sections


def reshape(
    batches: Iterator[Batch], fill_down: FillDown | None, needed: str, sections: Sections | None = None
) -> Iterator[Batch]:
    """Take headings out, fill cells down, leave out the rows without a value in a column; each where it is given."""
    batches = batches if sections is None else with_sections(batches, sections)
    batches = batches if fill_down is None else filled_down(batches, fill_down)
    return rows_with(batches, needed) if needed else batches


def with_sections(batches: Iterator[Batch], rule: Sections) -> Iterator[Batch]:
    """Give each row the heading above it as a column, and leave the headings out."""
    heading, sheet = None, None
    for batch in batches:
        if batch.sheet != sheet:  # no row has a heading of another sheet
            heading, sheet = None, batch.sheet
        texts = _trim(batch.columns[rule.column])
        others = zip(*(_trim(batch.columns[name]) for name in rule.without), strict=True)
        kept, headings = [], []
        for text, cells in zip(texts, others, strict=True):
            is_heading = bool(text) and not any(cells)
            heading = text if is_heading else heading
            kept.append(not is_heading)
            headings.append(heading)
        chosen = pa.array(kept, pa.bool_())
        columns = batch.columns | {SECTION_COLUMN: pa.array(headings, pa.string())}
        lines = [line for line, is_kept in zip(batch.lines, kept, strict=True) if is_kept]
        yield Batch(
            {name: values.filter(chosen) for name, values in columns.items()}, lines, batch.rejects, batch.sheet
        )


def _trim(values: pa.Array) -> list[str]:
    texts: list[str] = pc.utf8_trim_whitespace(pc.fill_null(values.cast(pa.string()), "")).to_pylist()
    return texts


def filled_down(batches: Iterator[Batch], rule: FillDown) -> Iterator[Batch]:
    """Give empty cells the value of the row above that has one, as long as `within` is the same, or filled itself."""
    above: dict[str, tuple[Any, Any]] = {}
    last, sheet = None, None
    for batch in batches:
        if batch.sheet != sheet:  # no row has a value of another sheet
            above, last, sheet = dict.fromkeys(rule.columns, (None, None)), None, batch.sheet
        groups = batch.columns[rule.within].to_pylist()
        if rule.within in rule.columns:
            groups = [last := group or last for group in groups]
        for name in rule.columns:
            group, value = above[name]
            filled = []
            for own_group, own in zip(groups, batch.columns[name].to_pylist(), strict=True):
                if own not in (None, "") or own_group != group:
                    group, value = own_group, own
                filled.append(value)
            above[name] = (group, value)
            batch.columns[name] = pa.array(filled, batch.columns[name].type)
        yield batch


def rows_with(batches: Iterator[Batch], column: str) -> Iterator[Batch]:
    """Leave out the rows that have no value in a column."""
    for batch in batches:
        texts = pc.utf8_trim_whitespace(pc.fill_null(batch.columns[column].cast(pa.string()), ""))
        kept = pc.not_equal(texts, "")
        lines = [line for line, is_kept in zip(batch.lines, kept.to_pylist(), strict=True) if is_kept]
        columns = {name: values.filter(kept) for name, values in batch.columns.items()}
        yield Batch(columns, lines, batch.rejects, batch.sheet)
