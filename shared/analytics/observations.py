"""The kinds of observations, and how they cover a range of days, as both tiers know them."""

from datetime import date
from typing import Any

OBSERVATION_KINDS = {"listing": ("l",), "sale": ("s",), "both": ("l", "s")}
"""The letters in `observations.kind` for each choice of a caller; `both` is one statistic of listings and sales."""
KIND_OF_LETTER = {"l": "listing", "s": "sale"}


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
