"""Rows of observations into entries by stratum, with outliers apart from the rest."""

from datetime import date
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shared.analytics.observations import ObservationKind
from shared.db.copy_binary import EPOCH
from workers.analytics.rollups.arrays import Array
from workers.analytics.rollups.entries import Entries, Stratum
from workers.analytics.rollups.marks import UNMARKED, Marks, changed_marks
from workers.analytics.rollups.outliers import find

if TYPE_CHECKING:
    from workers.analytics.rollups.items import Items


ByStratum = dict[Stratum, Entries]


class Observed(NamedTuple):
    """The observations of a month: entries by stratum, and the marks that the table lacks."""

    entries: ByStratum
    marks: Marks


def by_stratum(month: date, items: "Items", rows: Array) -> Observed:
    """Make entries of rows with the columns item, day (since 2000), channel, price, units, list, currency and kind.

    The column `outlier` has the marks that are in the table. Without it, no row has one.
    """
    first = (month - EPOCH).days - 1
    item, day, channel, price, units, listed = (
        rows[name].astype("i8") for name in ("item", "day", "channel", "price", "units", "list")
    )
    entries = items.entries(item, day - first, channel, price, units, listed)
    owned = entries.item >= 0
    if not owned.all():  # observations of withdrawn items
        entries, rows = entries.take(owned), rows[owned]
    by_stratum: ByStratum = {}
    marks = [changed_marks(rows[:0], np.empty(0, "S1"))]
    for currency, kind, chosen in _parts(rows):
        part = entries if chosen is None else entries.take(chosen)
        of_part = rows if chosen is None else rows[chosen]
        outliers = find(part.item, part.channel, part.day, part.price, part.list_price, currency)
        letters = np.full(len(of_part), UNMARKED)
        letters[outliers.position] = outliers.cause
        marks.append(changed_marks(of_part, letters))
        by_stratum |= _split(Stratum(currency, ObservationKind(kind)), part, outliers.position)
    return Observed(by_stratum, Marks(*(np.concatenate(columns) for columns in zip(*marks, strict=True))))


def _parts(rows: Array) -> list[tuple[str, str, Array | None]]:
    """Return the currencies and kinds that occur, with a mask of their rows; None: all rows."""
    if not len(rows):
        return []
    currencies, kinds = (_distinct(rows[name]) for name in ("currency", "kind"))
    if len(currencies) == len(kinds) == 1:
        return [(currencies[0].decode(), kinds[0].decode(), None)]
    masks = [
        (currency.decode(), kind.decode(), (rows["currency"] == currency) & (rows["kind"] == kind))
        for currency, kind in product(currencies, kinds)
    ]
    return [part for part in masks if part[2].any()]


def _distinct(column: Array) -> list[bytes]:
    if (column == column[0]).all():  # the usual case, and much cheaper than sorting text
        return [bytes(column[0])]
    return [bytes(value) for value in np.unique(column)]


def _split(stratum: Stratum, entries: Entries, outliers: Array) -> ByStratum:
    """Put outliers into the stratum of what is set aside; a stratum without entries is left out."""
    if not len(outliers):
        return {stratum: entries}
    stays = np.ones(len(entries.item), bool)
    stays[outliers] = False
    parts = {stratum: entries.take(stays), stratum.set_aside: entries.take(outliers)}
    return {name: part for name, part in parts.items() if len(part.item)}
