"""The scopes of rollups, as `month_cells.scope` has them."""

from enum import StrEnum


class RollupScope(StrEnum):
    """What a rollup is of, with its letter in the table."""

    BRAND = "b"
    CATEGORY = "c"
    """A category alone, without those below it."""
    CATEGORY_TREE = "t"
    """A category with those below it."""
    CHANNEL = "h"
    WHOLE_INDEX = "a"
