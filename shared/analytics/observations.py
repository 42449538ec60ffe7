"""The kinds of observations, and how they cover a range of days, as both tiers know them."""

from datetime import date
from enum import StrEnum
from typing import Any, Literal


class ObservationKind(StrEnum):
    """The kind of observations, with its letter in `observations.kind`. Rollups keep outliers under other letters."""

    LISTING = "l"
    SALE = "s"
    LISTING_OUTLIER = "L"
    SALE_OUTLIER = "S"

    @property
    def text(self) -> Literal["listing", "sale"]:
        """Return the name that callers see; an outlier has that of its observation."""
        return "sale" if self.without_outliers is ObservationKind.SALE else "listing"

    @property
    def outliers(self) -> "ObservationKind":
        """Return the kind of the rollups of its outliers."""
        return ObservationKind(self.upper())

    @property
    def without_outliers(self) -> "ObservationKind":
        """Return the kind of the rollups of its other observations."""
        return ObservationKind(self.lower())


OBSERVATION_KINDS = {
    "listing": (ObservationKind.LISTING,),
    "sale": (ObservationKind.SALE,),
    "both": (ObservationKind.LISTING, ObservationKind.SALE),
}
"""The kinds for each choice of a caller; `both` is one statistic of listings and sales."""
KIND_NAMES = (ObservationKind.LISTING.text, ObservationKind.SALE.text)
"""The choices of a caller that are one kind."""
PRICE, UNIT_PRICE = "price", "unit_price"
"""What figures of prices are of: prices as they were observed, or prices for one unit of what items hold."""


def coverage(first: date, last: date, observed: int, earliest: date | None, latest: date | None) -> dict[str, Any]:
    """Return how many days of a range hold data; `earliest` and `latest` of them, None where none does."""
    days = (last - first).days + 1
    return {
        "days": days,
        "observed_days": observed,
        "missing_days": days - observed,
        "first": earliest,
        "last": latest,
    }
