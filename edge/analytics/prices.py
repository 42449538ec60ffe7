"""One observed price, as the light reads fetch it."""

from datetime import date
from typing import NamedTuple


class Price(NamedTuple):
    """One observation: `kind` is `l` (listing) or `s` (sale), amounts are in minor units of the currency."""

    day: date
    channel: str
    kind: str
    currency: str
    minor: int
    list_minor: int | None = None
