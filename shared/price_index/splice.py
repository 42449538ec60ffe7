"""A series longer than its window: each further period is linked to the series by a splice. Pure.

Sources: Krsinich, Journal of Official Statistics 32 (2016), window splice; Ivancic, Diewert and Fox (2011), movement
splice; de Haan (2015), half splice; Diewert and Fox, Journal of Business & Economic Statistics 40 (2022), mean splice;
Chessa (2019), splices on the published series; Lamboray (2017) and Chessa (2016), fixed base windows.
"""

from collections.abc import Callable

import numpy as np

from shared.price_index.panel import Floats, IndexNotDefined

Window = Callable[[int, int], Floats]
"""The index of the periods from a first one up to but without a last one, on any scale."""


def spliced(index: Window, periods: int, window: int, splice: str) -> Floats:
    """Return the index of all periods from windows of `window` periods (two or more), the first period at 1.

    Values once published do not change when a period is added.
    """
    window = min(window, periods)
    old = index(0, window)
    published = np.full(periods, np.nan)
    published[:window] = old / old[0]
    for end in range(window + 1, periods + 1):
        if splice in ("fbew", "fbmw"):
            published[end - 1] = _from_base(index, published, end, window, expanding=splice == "fbew")
            continue
        new = index(end - window, end)
        kept = published[end - window : end - 1] if splice.endswith("-published") else _kept(published, old, end)
        positions = _link_positions(splice.removesuffix("-published"), window)
        published[end - 1] = np.exp(np.mean(np.log(new[-1] / new[positions] * kept[positions])))
        old = new
    return published


def _kept(published: Floats, old: Floats, end: int) -> Floats:
    """Return what the window before says of the periods that both windows have, on the published scale at its last."""
    kept: Floats = old[1:] / old[-1] * published[end - 2]
    return kept


def _link_positions(splice: str, window: int) -> list[int]:
    """Return the positions in a new window at which a splice links; the last period of the window is the new one."""
    if splice.isdigit():
        if not 1 <= int(splice) < window:
            raise IndexNotDefined(f"splice: a period of the window before its last, 1 to {window - 1}")
        return [int(splice) - 1]
    return {
        "movement": [window - 2],
        "window": [0],
        "half": [(window - 1) // 2],
        "mean": list(range(window - 1)),
    }[splice]


def _from_base(index: Window, published: Floats, end: int, window: int, *, expanding: bool) -> float:
    """Return the new period's index linked to the last base period: every (window - 1)th period is one.

    `expanding`: the window begins at the base period, else it has its full length.
    """
    base = (end - 2) // (window - 1) * (window - 1)
    start = base if expanding else end - window
    new = index(start, end)
    return float(published[base] * new[-1] / new[base - start])
