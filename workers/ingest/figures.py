"""The figures of a batch: an item's own, as totals or by stages of its life cycle. Pure."""

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workers.ingest import clean
from workers.ingest.batches import Batch
from workers.ingest.fields import Field, Impact
from workers.ingest.normalize import times
from workers.ingest.row_errors import Faults

STAGE_CHARACTERS_MAX = 100


class StageFigure(NamedTuple):
    """The figure of a row for one stage of an item's life cycle. Negative where it is a credit."""

    key: int
    impact: Impact
    stage: str
    per_unit: Decimal


class Spread(NamedTuple):
    """How wide a source says that a figure is: the bounds of its middle 95 %, or its standard deviation."""

    low: Decimal | None = None
    high: Decimal | None = None
    deviation: Decimal | None = None

    def fits(self, figure: Decimal) -> bool:
        """Return whether there is a spread, and the figure is inside its bounds."""
        if self.low is None or self.high is None:
            return self.deviation is not None and figure > 0
        return 0 < self.low <= figure <= self.high


def spreads(impact: Impact, batch: Batch, path: Path) -> list[Spread]:
    """Return the spreads that the rows of a batch state; bounds only where both exist."""
    low, high, deviation = (_decimals(field, batch, path) for field in (impact.low, impact.high, impact.deviation))
    return [
        Spread(least, most, wide) if least is not None and most is not None else Spread(deviation=wide)
        for least, most, wide in zip(low, high, deviation, strict=True)
    ]


def totals(impacts: tuple[Impact, ...], batch: Batch, path: Path) -> list[tuple[dict[str, Decimal], dict[str, Spread]]]:
    """Return each row's own totals by indicator, and their stated spreads, where these fit."""
    none = [Spread()] * batch.rows
    listed = [
        (
            impact.indicator,
            _decimals(impact.value, batch, path),
            spreads(impact, batch, path) if impact.has_spread else none,
        )
        for impact in impacts
        if impact.stage is None
    ]
    rows = []
    for n in range(batch.rows):
        own = {name: figure for name, figures, _ in listed if (figure := figures[n]) is not None}
        wide = {name: stated[n] for name, _, stated in listed if name in own and stated[n].fits(own[name])}
        rows.append((own, wide))
    return rows


def _decimals(field: Field | None, batch: Batch, path: Path) -> list[Decimal | None]:
    if field is None:
        return [None] * batch.rows
    texts = clean.numbers(field, batch, path).values.to_pylist()
    return [None if text is None else times(text, field.multiply) for text in texts]


class FigureColumns:
    """The columns of figures of a batch, with their errors noted."""

    def __init__(self, impacts: tuple[Impact, ...], batch: Batch, path: Path, bad: Faults) -> None:
        self._read: list[tuple[Impact, clean.Read, Any]] = []
        for impact in impacts:
            figures = clean.numbers(impact.value, batch, path, signed=impact.stage is not None)
            bad.check(impact.value, figures, clean.NO_SIGNED_FIGURE if impact.stage else clean.NO_FIGURE)
            stages = None
            if impact.stage is not None:
                given = clean.texts(impact.stage, batch, path)
                short = pc.less_equal(pc.utf8_length(given), STAGE_CHARACTERS_MAX)
                stages = pc.if_else(short, given, None)
                long = f"is a stage of over {STAGE_CHARACTERS_MAX} characters"
                there = np.asarray(pc.is_valid(figures.given))
                bad.check(impact.stage, clean.Read(given, stages), long, "has no stage", among=there)
            self._read.append((impact, figures, stages))
            self._check_spread(impact, batch, path, bad)

    def _check_spread(self, impact: Impact, batch: Batch, path: Path, bad: Faults) -> None:
        """Note bounds and deviations that are no numbers, and bounds that do not enclose the figure."""
        for field in (impact.low, impact.high, impact.deviation):
            if field is not None:
                bad.check(field, clean.numbers(field, batch, path), clean.NO_FIGURE)
        if impact.low is None or impact.high is None:
            return
        figures, stated = _decimals(impact.value, batch, path), spreads(impact, batch, path)
        wrong = [
            figure is not None and one.low is not None and not one.fits(figure)
            for figure, one in zip(figures, stated, strict=True)
        ]
        bad.outside(impact.low, stated, pa.array(wrong, pa.bool_()), "does not enclose the figure with `high`")

    def count(self, good: Any, counts: Counter[str]) -> None:
        """Count the figures of the good rows, and those of them that cannot be used."""
        for _, figures, stages in self._read:
            given, usable = (np.asarray(pc.is_valid(column)).take(good) for column in figures)
            if stages is not None:
                usable = usable & np.asarray(pc.is_valid(stages)).take(good)
            counts["impacts_read"] += int(np.count_nonzero(given))
            counts["impacts_rejected"] += int(np.count_nonzero(given & ~usable))

    def of_stages(self, good: Any, keys: Any) -> list[StageFigure]:
        """Return the figures by stage of the good rows, whose items' keys are given."""
        staged = []
        for impact, figures, stages in self._read:
            if stages is None:
                continue
            texts, names = figures.values.to_pylist(), stages.to_pylist()
            for row, key in zip(good.tolist(), keys.tolist(), strict=True):
                if texts[row] is not None and names[row] is not None:
                    staged.append(StageFigure(key, impact, names[row], times(texts[row], impact.value.multiply)))
        return staged
