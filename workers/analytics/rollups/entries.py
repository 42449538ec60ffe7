"""Observations of a month, a column each, and which of them a statistic may mix. Pure."""

from typing import NamedTuple

import numpy as np

from shared.analytics.observations import ObservationKind
from workers.analytics.rollups.arrays import Array


class Stratum(NamedTuple):
    """Prices that a statistic may mix. Outliers are a stratum of their own."""

    currency: str
    kind: ObservationKind

    @property
    def sales(self) -> bool:
        """Return whether its units are units sold."""
        return self.kind.without_outliers is ObservationKind.SALE

    @property
    def set_aside(self) -> "Stratum":
        """Return the stratum of this one's outliers."""
        return self._replace(kind=self.kind.outliers)


class Entries(NamedTuple):
    """Observations of a month and stratum, a column each. Brand, category and list price are 0 where there is none."""

    item: Array
    day: Array
    channel: Array
    price: Array
    units: Array
    list_price: Array
    brand: Array
    category: Array

    def take(self, chosen: Array) -> "Entries":
        """Return some of them: by places or by a mask."""
        positions = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        return Entries(*(column.take(positions) for column in self))

    @classmethod
    def joined(cls, parts: "list[Entries]") -> "Entries":
        if not parts:
            return cls(*(np.empty(0, "i8") for _ in cls._fields))
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
