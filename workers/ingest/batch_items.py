"""The items and the observations of one batch: which row speaks for an item, which rows have an observation. Pure."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workers.analytics.rollups.arrays import Array
from workers.ingest.clean import Coded
from workers.ingest.item_tracker import LATEST, NO_DAY
from workers.ingest.observations import ObservationRows

Combined = tuple[Array | None, Array | None, list[str]]
"""Observations, their places among the good rows (None: the same), and the channels; None: no row has one."""


@dataclass
class BatchItems:
    """The items of a batch: for each good row the place of its item, the items' ids, the newest row of each.

    `newest` is the day of that row, NO_DAY where it has none; `first` and `last` span the days of all rows.
    """

    codes: Array
    ids: list[str]
    chosen: Array
    newest: Array
    first: Array
    last: Array

    def extend_spans(self, days: Array, codes: Array) -> None:
        """Extend the items' spans by days, of which some may be NO_DAY."""
        if len(days) and days.min() == NO_DAY:
            there = np.flatnonzero(days != NO_DAY)
            days, codes = days.take(there), codes.take(there)
        if np.all(days[1:] >= days[:-1]):  # in the order of days the last assignment is the latest day
            first, last = self.first.copy(), self.last.copy()
            first[codes[::-1]], last[codes] = days[::-1], days
            self.first, self.last = np.minimum(first, self.first), np.maximum(last, self.last)
        else:
            np.minimum.at(self.first, codes, days)
            np.maximum.at(self.last, codes, days)


def distinct(ids: Coded, good: Array, rows: int, days: Array | None) -> BatchItems:
    """Return the items of the good rows; `days` are those rows' days, or None where no row has one."""
    encoded = pc.dictionary_encode(ids.values)  # texts that were different may be the same when cleaned
    merged = np.asarray(pc.fill_null(encoded.indices, 0))
    codes = merged.take(np.asarray(pc.fill_null(ids.codes, 0)))
    if len(good) < rows:
        codes = codes.take(good)
    chosen, newest = np.full(len(encoded.dictionary), -1), np.full(len(encoded.dictionary), NO_DAY, "i4")
    order: slice | Array = slice(None)
    if days is not None and not np.all(days[1:] >= days[:-1]):
        order = np.argsort(days, kind="stable")
    chosen[codes[order]] = good[order]  # of equal places the last assignment stays: the newest row, of these the last
    if days is not None:
        newest[codes[order]] = days[order]
    used = np.flatnonzero(chosen >= 0)
    used = used[np.argsort(chosen[used])]
    positions = np.zeros(len(chosen), "i8")
    positions[used] = np.arange(len(used))
    first, last = np.full(len(used), LATEST, "i4"), np.full(len(used), NO_DAY, "i4")
    listed = pc.take(encoded.dictionary, pa.array(used)).to_pylist()
    return BatchItems(positions.take(codes), listed, chosen[used], newest[used], first, last)


def combine_observations(shaped: list[ObservationRows], good: Array, rows: int) -> Combined:
    """Return the observations of the good rows, their places among these (None: the same), and the channels."""
    if not shaped:
        return None, None, []
    if len(shaped) == 1 and shaped[0].present is None:
        kept = shaped[0].rows if len(good) == rows else shaped[0].rows.take(good)
        return kept, None, shaped[0].channels
    parts, positions, channels = [], [], list[str]()
    for table in shaped:
        at = np.arange(len(good)) if table.present is None else np.flatnonzero(table.present.take(good))
        part = table.rows.take(good.take(at))
        part["channel"] += len(channels)
        channels += table.channels
        parts.append(part)
        positions.append(at)
    kept, at = np.concatenate(parts), np.concatenate(positions)
    if len(parts) > 1:  # rows stay in the order of the file, which decides which one is the newest
        order = np.argsort(at, kind="stable")
        kept, at = kept.take(order), at.take(order)
    return (kept, at, channels) if len(kept) else (None, None, [])


def row_days(observed: Combined, first_seen: Array | None, good: Array) -> Array | None:
    """Return the days of the good rows, NO_DAY where one has none; None where no row has one."""
    rows, positions, _ = observed
    if rows is None:
        return None if first_seen is None else first_seen.take(good)
    if positions is None:
        return rows["day"]
    days = np.full(len(good), NO_DAY, "i4")
    days[positions] = rows["day"]
    return days


def count_missing(mask: Array | None, among: Array | None, good: Array) -> int:
    """Count the good rows that a mask leaves out, among those of another mask; None is a mask of all rows."""
    if mask is None:
        return 0
    counted = np.ones(len(good), bool) if among is None else among.take(good)
    return int(np.count_nonzero(counted & ~mask.take(good)))
