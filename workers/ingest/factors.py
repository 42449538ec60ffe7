"""Impact factors: rows of a source averaged by code, replaced as a whole."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from pathlib import Path
from statistics import stdev
from typing import Any

import numpy as np
import pyarrow.compute as pc

from shared.db.connect import Connection
from shared.db.queries import load_queries
from workers.ingest import clean, read_amounts
from workers.ingest.batches import Batch, Reject
from workers.ingest.clean import times
from workers.ingest.mapping import Mapping
from workers.ingest.row_faults import Faults
from workers.provenance.events import ProvenanceEvent

SQL = load_queries(__file__, "factors.sql")
_MEAN = Context(prec=30, rounding=ROUND_HALF_EVEN)
Figures = dict[tuple[str, str], list[Decimal]]


def replace(
    connection: Connection,
    mapping: Mapping,
    event: ProvenanceEvent,
    version: int,
    batches: Iterator[tuple[Path, Batch]],
    keep: Callable[[list[Reject]], None],
    counts: dict[str, int],
) -> bool:
    """Put a source's factors in the place of its old ones; return whether anything changed."""
    assert mapping.factors is not None
    spec, scope = mapping.factors, mapping.factors.scope
    stated = (spec.method, spec.basis, spec.reference_year)
    figures = gather(mapping, batches, keep, counts)
    means = {key: (mean(listed), len(listed), *stated, *log_spread(listed)) for key, listed in figures.items()}
    before = {row[:2]: row[2:9] for row in _current(connection, scope) if row[9] == event.source_id}
    counts["factors_read"] = len(means)
    counts["factors_new"] = len(means.keys() - before.keys())
    counts["factors_same"] = sum(before.get(key) == values for key, values in means.items())
    counts["factors_replaced"] = sum(key in before and before[key] != values for key, values in means.items())
    for (code, indicator), values in sorted(means.items()):
        connection.execute(SQL.claim, (event.no, scope, code, indicator, *values, event.source_id))
    codes = settle(connection, scope)
    updated = connection.execute(SQL.touch_items, (version, scope, codes, event.no, event.at))
    counts["items_touched"] = updated.rowcount
    return bool(codes)


def settle(connection: Connection, scope: str) -> list[str]:
    """Make the factors of a scope anew from the claims that there are; return the codes whose factors changed."""
    before = _current(connection, scope)
    connection.execute(SQL.clear, (scope,))
    connection.execute(SQL.settle, (scope,))
    return sorted({key[0] for key in before ^ _current(connection, scope)})


def _current(connection: Connection, scope: str) -> set[tuple[Any, ...]]:
    return set(connection.execute(SQL.current, (scope,)).fetchall())


def gather(
    mapping: Mapping,
    batches: Iterator[tuple[Path, Batch]],
    keep: Callable[[list[Reject]], None],
    counts: dict[str, int],
) -> Figures:
    """Return the figures of all batches by code and indicator; keep the rejects of rows without one, and count rows.

    A crosswalk may name several codes for one group of the source, separated by spaces.
    """
    assert mapping.factors is not None
    spec, figures = mapping.factors, defaultdict[tuple[str, str], list[Decimal]](list)
    unknown = "belongs to no category of the crosswalk" if spec.code.crosswalk is not None else "has no code"
    counts["rows"] = counts["rows_used"] = 0
    for path, batch in batches:
        bad = Faults(batch.rows)
        listed = clean.texts(spec.code, batch, path)
        bad.check(spec.code, clean.Read(listed, listed), unknown, unknown)
        read = [(name, field, read_amounts.numbers(field, batch, path)) for name, field in spec.indicators]
        for _, field, column in read:
            bad.check(field, column, read_amounts.NO_FIGURE)
        bad.where(
            np.logical_and.reduce([np.asarray(pc.is_null(column.values)) for _, _, column in read]), "has no figure"
        )
        codes = listed.to_pylist()
        columns = [(name, field, column.values.to_pylist()) for name, field, column in read]
        for row in np.flatnonzero(bad.codes == 0).tolist():
            for name, field, values in columns:
                for code in codes[row].split() if codes[row] and values[row] is not None else ():
                    figures[code, name].append(times(values[row], field.multiply))
        rejects = batch.rejects + bad.rejects(batch, path)
        keep(rejects)
        counts["rows"] += batch.rows_in_file
        counts["rows_used"] += batch.rows_in_file - sum(reject.scope == "row" for reject in rejects)
    return figures


def mean(figures: list[Decimal]) -> Decimal:
    """Return the mean of figures: their exact sum, divided with one rounding to 30 significant digits."""
    total = sum(map(Fraction, figures), Fraction()) / len(figures)
    return _MEAN.divide(Decimal(total.numerator), Decimal(total.denominator))


def log_spread(figures: list[Decimal]) -> tuple[int, float | None]:
    """Return how many figures have a logarithm, and the standard deviation of these; None of fewer than two.

    A figure of 0 has none: it counts in the mean, and says nothing of how far the others lie apart.
    """
    logs = sorted(math.log(figure) for figure in figures if figure)
    return len(logs), stdev(logs) if len(logs) > 1 else None
