"""How many new items a second-hand sale or a repair displaces, and so which impact it avoids. Pure."""

from typing import NamedTuple

from shared.errors import InvalidParameter

CITATION = (
    "WRAP, Displacement Rates Untangled (2025), weighted averages of United Kingdom: "
    "https://wrap.ngo/media-centre/press-releases/"
    "fast-fashion-could-be-left-peg-preloved-and-repair-displace-new-sales"
)
RATES = {"resale": 0.646, "repair": 0.822}
"""New items not bought for each item that is bought second-hand online, or repaired."""


COUNTED = (
    "all units sold in the window and the channels chosen, those sold new included: sources do not say which were "
    "second-hand or repaired, so choose such channels with `channel`"
)


class Displacement(NamedTuple):
    """A rate between 0 and 1, its source, and which units it multiplies."""

    rate: float
    citation: str
    counted: str = COUNTED


def requested_displacement(scenario: str | None, rate: float | None) -> Displacement | None:
    """Return the rate that a caller chose, or None. Raises InvalidParameter for a scenario and a rate together."""
    if scenario is not None and rate is not None:
        raise InvalidParameter("displacement_rate", "cannot be combined with `displacement`")
    if rate is not None:
        return Displacement(rate, "given by the caller")
    return Displacement(RATES[scenario], CITATION) if scenario is not None else None
