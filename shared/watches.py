"""The conditions of watches, and when a watch reports. Pure."""

from typing import Literal

Condition = Literal["below", "new-low", "returned", "index-moved"]
TARGETS: tuple[str, ...] = ("article", "brand", "category")
CONDITIONS: dict[Condition, str] = {
    "below": "the lowest price of an article's newest day is below `amount`",
    "new-low": "that price is lower than on each of the `days` days before",
    "returned": "an article is observed again after it was not for `days` days",
    "index-moved": "prices of the same items changed by more than `percent` from one month to the next",
}
NEW_LOW_DAYS = (30, 90, 365)
ABSENT_DAYS_DEFAULT = 30
HYSTERESIS = 0.02
"""How far a price must rise above the amount before it can fall below it again, and how far below the last low that was
reported another low of the same span must be, as a share."""
WATCHES_MAX = 10_000
"""How many watches an organization may have."""
