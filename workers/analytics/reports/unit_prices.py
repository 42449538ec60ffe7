"""Unit prices: how much of one unit each item of a report holds, and prices for that unit."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shared.analytics.observations import UNIT_PRICE
from shared.db.connect import Connection
from shared.errors import InvalidParameter
from shared.money import minor_digits
from workers.analytics.exact_unit_prices import DECIMALS, Contents, unit_prices
from workers.analytics.reports.filters import SQL
from workers.analytics.reports.result import WithoutContent
from workers.analytics.rollups.arrays import Array
from workers.analytics.stated_contents import read_contents

VALUE_MAX = 10**16
"""In millionths: with more, the sums of a statistic would leave 63 bits."""
LISTED_MAX = 20
"""Items without a content that an answer names."""


def unit_prices_of(price: Array, held: Contents, currency: str) -> Array:
    """Return prices in minor units as unit prices in millionths, rounded half to even; each content is known.

    Raises InvalidParameter for more than VALUE_MAX.
    """
    values = unit_prices(price, np.array(minor_digits(currency)), held)
    if values.max(initial=0) > VALUE_MAX:
        raise InvalidParameter("measure", f"a unit price is over {VALUE_MAX // 10**DECIMALS:,}")
    return values.astype("i8")


class UnitPrices:
    """Prices for one unit. What an item holds is what its present name and attributes say."""

    def __init__(self, connection: Connection, unit: str) -> None:
        self.unit = unit
        self._connection = connection
        # A last id that no item has, so that each id has a place.
        self._ids = np.array([np.iinfo("i8").max])
        self._contents = Contents(np.zeros(1, "i8"), np.ones(1, "i8"))

    @classmethod
    def asked(cls, connection: Connection, parameters: dict[str, Any]) -> "UnitPrices | None":
        """Return those of the unit that a question names; None where it asks for prices."""
        return cls(connection, parameters["unit"]) if parameters.get("measure") == UNIT_PRICE else None

    def contents(self, ids: Array) -> Contents:
        """Return what items hold; their ids may come in any order."""
        places = np.searchsorted(self._ids, ids)
        unknown = ids[self._ids.take(places) != ids]
        if len(unknown):
            self._read(np.unique(unknown))
            places = np.searchsorted(self._ids, ids)
        return self._contents.take(places)

    def without_content(self, ids: Sequence[Array]) -> WithoutContent:
        """Return which items state no content; `ids` are those of observations."""
        item, n = np.unique(np.concatenate([np.empty(0, "i8"), *ids]), return_counts=True)
        unknown = np.flatnonzero(self.contents(item).numerator == 0)
        most = unknown[np.lexsort((item[unknown], -n[unknown]))][:LISTED_MAX]
        names = {row[0]: row[1:] for row in self._connection.execute(SQL.named_items, (item[most].tolist(),))}
        listed = [names[number] for number in item[most].tolist()]
        return WithoutContent(self.unit, len(unknown), [{"iid": iid, "name": name} for iid, name in listed])

    def _read(self, ids: Array) -> None:
        """Learn what items hold that are not known yet."""
        read = read_contents(self._connection, ids, self.unit)
        known = np.concatenate([self._ids, ids])
        order = np.argsort(known)
        self._ids = known.take(order)
        self._contents = Contents(
            *(np.concatenate(columns).take(order) for columns in zip(self._contents, read, strict=True))
        )
