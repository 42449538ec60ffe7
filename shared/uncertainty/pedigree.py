"""The pedigree matrix: from five scores of a figure's origin to the width of its distribution. Pure.

Expert tables (ecoinvent) give factors that contribute to the squared geometric standard deviation; the empirical table
(Ciroth and others 2013) gives factors that are geometric standard deviations. Each table is read in its own sense.
"""

import math
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

BASIC_GSD_SQUARED = 1.05
"""The basic uncertainty factor of carbon dioxide, energy and materials (ecoinvent), a squared GSD."""


class Scores(NamedTuple):
    """Scores 1 (best) to 5 of where a figure comes from."""

    reliability: int
    completeness: int
    temporal: int
    geographical: int
    technology: int


TABLE = "empirical_2013"
"""The table that figures without a spread of their own use: it was derived from data, and it is the widest."""

OF_BASIS = {"measured": Scores(1, 2, 2, 1, 1), "modelled": Scores(2, 3, 3, 2, 2)}
"""The scores that stand for a basis. Measured: verified, of this product. Modelled: partly from assumptions, from some
sites, up to ten years old, from a larger area and other enterprises of the same technology."""


def sigma(scores: Scores, table: str = TABLE, basic_gsd_squared: float = BASIC_GSD_SQUARED) -> float:
    """Return the standard deviation of the logarithm: the contributions of all scores are independent.

    `basic_gsd_squared` is a squared GSD in every table, as ecoinvent publishes it.
    """
    factors = _tables()[table]
    # The logarithm of a squared GSD is twice that of the GSD.
    halved = 0.5 if factors["factor_is"] == "gsd_squared" else 1.0
    logs = [halved * math.log(factors[name][score - 1]) for name, score in scores._asdict().items()]
    return math.hypot(*logs, math.log(basic_gsd_squared) / 2)


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Any]:
    with Path(__file__).with_name("pedigree.toml").open("rb") as file:
        return tomllib.load(file)
