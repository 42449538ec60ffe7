"""The search for candidates on behalf of one load: each row is looked up once."""

import numpy as np

from workers.articles.matching.index import LEAST_OF_BEST, MatchIndex, Nearest
from workers.articles.matching.segment import Array

_NO_ROWS = np.zeros(0, np.int64)


class Search:
    """The nearest of an index's rows, kept for the next question; the index must not change meanwhile."""

    def __init__(self, index: MatchIndex) -> None:
        self._index, self._known = index, _NO_ROWS
        self._nearest = index.nearest(_NO_ROWS)

    def nearest(self, rows: Array) -> Nearest:
        """Return what `MatchIndex.nearest` returns, in any order."""
        missing = np.setdiff1d(rows, self._known)
        if len(missing):
            self._keep(missing, self._index.nearest(missing))
        return _part(self._nearest, np.isin(self._nearest.row, rows))

    def unpruned_candidates(self, rows: Array) -> Nearest:
        """Return the nearest of distinct rows, also those that are far behind the best one."""
        wide = self._index.nearest(rows, least_of_best=0.0)
        best = np.zeros(int(rows.max(initial=-1)) + 1, np.float32)
        np.maximum.at(best, wide.row, wide.score)
        new = ~np.isin(wide.row, self._known)
        self._keep(np.setdiff1d(rows, self._known), _part(wide, new & (wide.score >= LEAST_OF_BEST * best[wide.row])))
        return wide

    def _keep(self, rows: Array, nearest: Nearest) -> None:
        self._known = np.union1d(self._known, rows)
        self._nearest = Nearest(
            np.concatenate([self._nearest.row, nearest.row]),
            np.concatenate([self._nearest.other, nearest.other]),
            np.concatenate([self._nearest.score, nearest.score]),
        )


def _part(nearest: Nearest, chosen: Array) -> Nearest:
    return Nearest(nearest.row[chosen], nearest.other[chosen], nearest.score[chosen])
