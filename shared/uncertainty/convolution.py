"""The distribution of a sum of independent terms, by convolution on a grid. Pure."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shared.uncertainty.distributions import Array, Shifted, Table

_GRID = 8_192
_GRID_BEYOND_HIGH = 1.6
# A grid that ends below this probability, or has 97.5 % in its first eighth, is made anew.
_GRID_HOLDS_MIN = 0.985
_GRID_HIGH_MIN = _GRID // 8
_GRIDS_MAX = 40
_NARROW_CELLS = 1.0
# A quantile that is in fewer cells from the grid's begin is read from a finer grid, which ends so many cells on.
_FINER_BELOW = 128
# Of a term that is mostly in the first cell the mean is kept, not the cell's middle.
_FIRST_CELL_MAX = 1e-3
# What a grid does not hold would come back at its begin: so many powers of e make it nothing.
_DAMPED = np.exp(-20.0 / (2 * _GRID) * np.arange(_GRID))


class Terms(NamedTuple):
    """So many independent terms of one distribution."""

    each: "Shifted | Table"
    number: int = 1


class Cumulative(NamedTuple):
    """Ascending values, and the probabilities of a sum below them."""

    values: Array
    probabilities: Array

    def at(self, probabilities: Sequence[float]) -> list[float]:
        found: list[float] = np.interp(probabilities, self.probabilities, self.values).tolist()
        return found


def convolve(terms: Sequence[Terms], high: float, lowest: float) -> Cumulative:
    """Return the distribution of a sum; `high` is about its 97.5 % quantile, `lowest` the least probability asked."""
    offset = sum(term.number * term.each.shift for term in terms)
    top = max(high - offset, *(term.each.high for term in terms))
    found, step = Cumulative(np.empty(0), np.empty(0)), 0.0
    for _ in range(_GRIDS_MAX):
        step = top * _GRID_BEYOND_HIGH / _GRID
        found = _on_grid(terms, offset, step)
        position = int(np.searchsorted(found.probabilities, 0.975))
        if found.probabilities[-1] < _GRID_HOLDS_MIN:
            top *= 2
        elif position < _GRID_HIGH_MIN:
            top *= 2 * max(position, 1) / _GRID
        else:
            break
    return _finer(terms, offset, step, found, lowest)


def _finer(terms: Sequence[Terms], offset: float, step: float, found: Cumulative, lowest: float) -> Cumulative:
    """Put finer and finer grids before the first cells, until the lowest quantile is far enough within one."""
    for _ in range(_GRIDS_MAX):
        begin = int(np.searchsorted(found.probabilities, lowest))
        if begin >= _FINER_BELOW or found.probabilities[0] >= 1:
            break
        step *= 2 * _FINER_BELOW / _GRID
        finer = _on_grid(terms, offset, step)
        kept = found.values > finer.values[-1]
        kept &= found.probabilities >= finer.probabilities[-1]
        found = Cumulative(
            np.concatenate((finer.values, found.values[kept])),
            np.concatenate((finer.probabilities, found.probabilities[kept])),
        )
    return found


def _on_grid(terms: Sequence[Terms], offset: float, step: float) -> Cumulative:
    spectrum: Any = np.ones(_GRID + 1, np.complex128)
    cells = np.arange(_GRID, dtype="f8")
    edges = step * (cells + 0.5)
    for each, number in terms:
        if np.sqrt(number * each.variance) < _NARROW_CELLS * step:
            offset += number * each.mean
            continue
        masses = np.diff(each.below(edges), prepend=0.0)
        if number > 1 or masses[0] > _FIRST_CELL_MAX:
            offset += number * (each.mean_below(float(edges[-1])) - step * float(masses @ cells))
        own = np.fft.rfft(masses * _DAMPED, 2 * _GRID)
        spectrum *= own**number if number > 1 else own
    sums = np.fft.irfft(spectrum, 2 * _GRID)[:_GRID] / _DAMPED
    return Cumulative(offset + edges, np.maximum.accumulate(np.cumsum(sums)))
