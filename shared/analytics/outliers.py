"""Outliers as both tiers know them: observations that statistics set aside, each with its likely cause."""

from enum import Enum

NONE = "-"
"""Stands for no outlier where a letter is needed; the table has NULL."""
MODES = ("exclude", "include")
"""The choices of a caller; the first is the default."""
# Units of a currency for one US dollar, roughly: they only name the likely cause of an outlier found without them.
PER_US_DOLLAR = {"USD": 1.0, "EUR": 0.9, "GBP": 0.77, "CNY": 7.1, "JPY": 150.0, "HKD": 7.8}


class OutlierCause(Enum):
    """The error that explains an implausible price best; each value is the letter that `observations.outlier` has."""

    UNIT_SLIP = "d"
    """The decimal point is one to three places off."""
    CURRENCY = "c"
    DIGIT_SWAP = "s"
    """Two adjacent digits are exchanged."""
    WRONG_PACK = "u"
    """The price of a whole pack instead of a piece, or the reverse."""
    ONE_OFF = "o"
    """A single price that no usual error explains."""

    @property
    def text(self) -> str:
        """Return the name that callers see."""
        return self.name.lower()


CAUSES = {cause.value: cause.text for cause in OutlierCause}
"""The name of each cause, by the letter that `observations.outlier` has."""
