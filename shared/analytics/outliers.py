"""Outliers as both tiers know them: observations that statistics set aside, each with its likely cause."""

NONE = "-"
"""Stands for no outlier where a letter is needed; the table has NULL."""
CAUSES = {
    "d": "digit_shift",
    "c": "currency",
    "u": "unit_price",
    "n": "neighbours",
    "o": "channels",
}
"""The likely cause of each outlier, by the letter that `observations.outlier` has."""
MODES = ("exclude", "include")
"""The choices of a caller; the first is the default."""
# Units of a currency for one US dollar, roughly: they only name the likely cause of an outlier found without them.
PER_US_DOLLAR = {"USD": 1.0, "EUR": 0.9, "GBP": 0.77, "CNY": 7.1, "JPY": 150.0, "HKD": 7.8}
