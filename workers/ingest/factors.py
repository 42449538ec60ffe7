"""Impact factors: rows of a source averaged by code, replaced as a whole."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from shared.db.connect import Connection
from shared.db.queries import beside
from workers.ingest import clean
from workers.ingest.mapping import Mapping
from workers.ingest.readers import Batch, Reject
from workers.provenance.events import Event

SQL = beside(__file__, "factors.sql")
Figures = dict[tuple[str, str], list[Decimal]]


def replace(
    connection: Connection, mapping: Mapping, event: Event, version: int, batches: Iterator[tuple[Path, Batch]],
    keep: Callable[[list[Reject]], None], counts: dict[str, int],
) -> bool:  # fmt: skip
    """Put a source's factors in the place of its old ones; return whether anything changed."""
    assert mapping.factors is not None
    scope, method = mapping.factors.scope, mapping.factors.method
    figures: Figures = defaultdict(list)
    counts["factor_rows"] = 0
    for path, batch in batches:
        keep(batch.rejects + collect(mapping, path, batch, figures))
        counts["factor_rows"] += batch.rows
    counts["factors"] = len(figures)
    for (code, indicator), listed in sorted(figures.items()):
        per_kg = round(sum(listed) / len(listed), 9)
        values = (event.no, scope, code, indicator, per_kg, len(listed), method, event.source_id)
        connection.execute(SQL.claim.encode(), values)
    codes = settle(connection, scope)
    touched = connection.execute(SQL.touch_items.encode(), (version, scope, codes, event.no, event.at))
    counts["items_touched"] = touched.rowcount
    return bool(codes)


def settle(connection: Connection, scope: str) -> list[str]:
    """Make the factors of a scope anew from the claims that there are; return the codes whose factors changed."""
    before = _current(connection, scope)
    connection.execute(SQL.clear.encode(), (scope,))
    connection.execute(SQL.settle.encode(), (scope,))
    return sorted({key[0] for key in before ^ _current(connection, scope)})


def _current(connection: Connection, scope: str) -> set[tuple[Any, ...]]:
    return set(connection.execute(SQL.current.encode(), (scope,)).fetchall())


def collect(mapping: Mapping, path: Path, batch: Batch, figures: Figures) -> list[Reject]:
    """Add a batch's figures by code and indicator; return the rows that have none.

    A crosswalk may name several codes for one group of the source, separated by spaces.
    """
    assert mapping.factors is not None
    codes = clean.texts(mapping.factors.code, batch, path).to_pylist()
    columns = [(n, f, clean.numbers(f, batch, path).to_pylist()) for n, f in mapping.factors.indicators]
    rejects = []
    for row, listed in enumerate(codes):
        values = [(n, Decimal(v[row]) * Decimal(f.multiply or 1)) for n, f, v in columns if v[row] is not None]
        if listed is None or not values:
            reason = "belongs to no category of the crosswalk" if listed is None else "has no figure"
            raw = " | ".join(str(column[row].as_py()) for column in batch.columns.values())
            rejects.append(Reject(path.name, int(batch.lines[row]), reason, raw[:4000]))
            continue
        for code in listed.split():
            for indicator, value in values:
                figures[code, indicator].append(value)
    return rejects
