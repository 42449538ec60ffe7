"""One observed price, as the light reads fetch it."""

from datetime import date
from typing import NamedTuple


class Price(NamedTuple):
    """One observation: `kind` is `l` (listing) or `s` (sale), amounts are in minor units of the currency.

    `outlier` is the letter of its cause (shared/outliers.py), None for a price that its neighbours do not contradict.
    """

    day: date
    channel: str
    kind: str
    currency: str
    minor: int
    list_minor: int | None = None
    outlier: str | None = None
