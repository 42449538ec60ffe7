"""A series longer than its window: each further period is linked to the series by a splice. Pure.

Sources: Krsinich, Journal of Official Statistics 32 (2016), window splice; Ivancic, Diewert and Fox (2011), movement
splice; de Haan (2015), half splice; Diewert and Fox, Journal of Business & Economic Statistics 40 (2022), mean
splice; Chessa (2019), splices on the published series; Lamboray (2017) and Chessa (2016), fixed base windows.
"""

from collections.abc import Callable

import numpy as np

from shared.price_index.panel import Floats, IndexNotDefined

Window = Callable[[int, int], Floats]
"""The index of the periods from a first one up to but without a last one, on any scale."""


def splice_windows(index: Window, periods: int, window: int, splice: str) -> Floats:
    """Return the index of all periods from windows of `window` periods (two or more), the first period at 1.

    Values once published do not change when a period is added. A period that no matched item connects with its window
    is NaN and links nothing; where a splice would link there alone, all periods that both windows have do.
    """
    window = min(window, periods)
    old = index(0, window)
    published = np.full(periods, np.nan)
    published[:window] = old / old[0]
    for end in range(window + 1, periods + 1):
        if splice in ("fbew", "fbmw"):
            published[end - 1] = _from_base(index, published, end, window, expanding=splice == "fbew")
            continue
        new = _to_last(index, end - window, end)
        earlier = published[end - window : end - 1]
        kept = earlier if splice.endswith("-published") else _published_part(earlier, old)
        steps = new[-1] / new[:-1] * kept
        linked = _mean(steps[_link_positions(splice.removesuffix("-published"), window)])
        published[end - 1] = _mean(steps) if np.isnan(linked) else linked
        old = np.append(old[1:], np.nan) if np.isnan(new[-1]) else new
    return published


def _to_last(index: Window, start: int, end: int) -> Floats:
    """Return the index of a window's periods that matched items connect with its last one, NaN for the others."""
    new = index(start, end)
    first = start
    while np.isnan(new[-1]) and first < end - 2:
        first += 1
        new = index(first, end)
    return np.append(np.full(first - start, np.nan), new)


def _mean(steps: Floats) -> float:
    """Return the geometric mean of those that are defined, NaN where none is."""
    known = steps[~np.isnan(steps)]
    return float(np.exp(np.mean(np.log(known)))) if len(known) else float("nan")


def _published_part(published: Floats, old: Floats) -> Floats:
    """Return what the window before says of the periods that both windows have, on the published scale at its last."""
    known = np.flatnonzero(~np.isnan(old[1:] * published))
    if not len(known):
        return np.full(len(published), np.nan)
    last = known[-1]
    kept: Floats = old[1:] / old[1 + last] * published[last]
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
    linked = float(published[base] * new[-1] / new[base - start])
    if not np.isnan(linked):
        return linked
    new = _to_last(index, end - window, end)
    return _mean(new[-1] / new[:-1] * published[end - window : end - 1])
