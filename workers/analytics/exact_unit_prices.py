"""Prices of one unit of a content, of arrays of prices: exact, rounded once. Pure."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from shared.db.copy_binary import Array
from shared.units.names import unit_price_millionths

DECIMALS = 6
"""Digits after the point of a unit price."""
_DIVIDEND_MAX = float(1 << 62)


class Contents(NamedTuple):
    """What each of some items holds of a unit, as a fraction; 0/1 where that is unknown."""

    numerator: Array
    denominator: Array

    def take(self, places: Array) -> "Contents":
        return Contents(self.numerator.take(places), self.denominator.take(places))

    @property
    def amount(self) -> Array:
        amount: Array = self.numerator / self.denominator
        return amount


def unit_prices(price: Array, digits: Array, held: Contents) -> Array:
    """Return prices in minor units of `digits` decimals as prices of one unit in millionths, rounded half to even.

    Each content is known. The result has Python's integers if one of them leaves 63 bits.
    """
    scale = np.asarray(10 ** (DECIMALS - digits), "i8")
    is_large = price * (scale * held.denominator.astype("f8")) >= _DIVIDEND_MAX
    values, rest = np.divmod(np.where(is_large, 0, price).astype("i8") * held.denominator * scale, held.numerator)
    doubled = 2 * rest - held.numerator
    values += (doubled > 0) | ((doubled == 0) & (values % 2 == 1))
    large = np.flatnonzero(is_large)
    if not len(large):
        return values
    exact = values.astype(object)
    columns = (column.take(large).tolist() for column in (price, np.broadcast_to(digits, price.shape), *held))
    for place, minor, decimals, *amount in zip(large.tolist(), *columns, strict=True):
        exact[place] = unit_price_millionths(minor, decimals, Fraction(*amount))
    return exact
