"""An index as rows, one a period, for the command, the report and the dashboard. Pure."""

from dataclasses import dataclass

import numpy as np

from shared.price_index.bootstrap import bootstrap
from shared.price_index.panel import Floats, Panel, coverage
from shared.price_index.question import Question
from shared.price_index.series import compared_with, index_series


@dataclass(frozen=True)
class IndexRow:
    """One period of an index.

    `index` is None where no matched item connects the period with the first; `low` and `high` bound the bootstrap
    interval. `matched_items` are the items that the period shares with the one it is `compared_with`, `share_matched`
    their part of its items; these and `new` and `vanished` are None where it is compared with no other.
    """

    period: str
    index: float | None
    low: float | None
    high: float | None
    items: int
    matched_items: int | None
    share_matched: float | None
    new: int | None
    vanished: int | None
    compared_with: str | None


@dataclass(frozen=True)
class Resampling:
    """How many bootstrap replicates there are, and the seed that they are drawn with."""

    replicates: int
    seed: int


def index_rows(
    periods: list[str], panel: Panel, question: Question, first: float, resampling: Resampling | None = None
) -> list[IndexRow]:
    """Return the index of each period, the first (or base) period at `first`.

    Raises IndexNotDefined for a question that the panel cannot answer.
    """
    series = first * index_series(panel, question)
    low = high = np.full(panel.periods, np.nan)
    if resampling is not None:
        interval = bootstrap(panel, question, resampling.replicates, resampling.seed)
        low, high = first * interval.low, first * interval.high
    others = compared_with(panel, question)
    rows = []
    for position, (other, shared) in enumerate(zip(others, coverage(panel.present(), others), strict=True)):
        compared = other != position
        rows.append(
            IndexRow(
                period=periods[position],
                index=_known(series, position),
                low=_known(low, position),
                high=_known(high, position),
                items=shared.items,
                matched_items=shared.matched if compared else None,
                share_matched=shared.share_matched if compared else None,
                new=shared.new if compared else None,
                vanished=shared.vanished if compared else None,
                compared_with=periods[other] if compared else None,
            )
        )
    return rows


def _known(values: Floats, position: int) -> float | None:
    value = float(values[position])
    return value if np.isfinite(value) else None
