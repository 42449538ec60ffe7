"""The kinds of observations, as both tiers know them."""

OBSERVATION_KINDS = {"listing": ("l",), "sale": ("s",), "both": ("l", "s")}
"""The letters in `observations.kind` for each choice of a caller; `both` is one statistic of listings and sales."""
KIND_OF_LETTER = {"l": "listing", "s": "sale"}
