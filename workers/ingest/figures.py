"""The figures of a batch: an item's own, as totals or by stages of its life cycle. Pure."""

import re
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shared.analytics.footprint import REFERENCE_YEARS
from shared.uncertainty.stated import read_scores
from workers.ingest import clean, read_amounts
from workers.ingest.batches import Batch
from workers.ingest.clean import times
from workers.ingest.fields import Field, Impact
from workers.ingest.row_faults import Faults

STAGE_CHARACTERS_MAX = 100
_YEAR = re.compile(r"[0-9]{4}", re.ASCII)
_NO_PEDIGREE = "is not five scores from 1 to 5, such as (2,3,1,2,4)"
_NO_YEAR = f"is not a year from {REFERENCE_YEARS[0]} to {REFERENCE_YEARS[-1]}"


class StagedFigure(NamedTuple):
    """The figure of a row for one stage of an item's life cycle. Negative where it is a credit."""

    key: int
    impact: Impact
    stage: str
    per_unit: Decimal


class DataQuality(NamedTuple):
    """What a source says of the data behind a figure: scores of the pedigree matrix, the year of the figure."""

    pedigree: str | None = None
    reference_year: int | None = None


class DecimalSpread(NamedTuple):
    """How wide a source says that a figure is: the bounds of its middle 95 %, or its standard deviation."""

    low: Decimal | None = None
    high: Decimal | None = None
    deviation: Decimal | None = None

    def fits(self, figure: Decimal) -> bool:
        """Return whether there is a spread, and the figure is inside its bounds."""
        if self.low is None or self.high is None:
            return self.deviation is not None and figure > 0
        return 0 < self.low <= figure <= self.high


def spreads(impact: Impact, batch: Batch, path: Path) -> list[DecimalSpread]:
    """Return the spreads that the rows of a batch state; bounds only where both exist."""
    low, high, deviation = (decimals(field, batch, path) for field in (impact.low, impact.high, impact.deviation))
    return [
        DecimalSpread(least, most, wide) if least is not None and most is not None else DecimalSpread(deviation=wide)
        for least, most, wide in zip(low, high, deviation, strict=True)
    ]


class OwnFigures(NamedTuple):
    """The totals of a row by indicator, with the spreads that fit them, and what is stated of their data."""

    impacts: dict[str, Decimal]
    spreads: dict[str, DecimalSpread]
    quality: dict[str, DataQuality]


def totals(impacts: tuple[Impact, ...], batch: Batch, path: Path) -> list[OwnFigures]:
    """Return each row's own totals by indicator, with what is stated of them."""
    none = [DecimalSpread()] * batch.rows
    listed = [
        (
            impact.indicator,
            decimals(impact.value, batch, path),
            spreads(impact, batch, path) if impact.has_spread else none,
            qualities(impact, batch, path),
        )
        for impact in impacts
        if impact.stage is None
    ]
    if not listed:
        return [OwnFigures({}, {}, {})] * batch.rows
    rows = []
    for n in range(batch.rows):
        own = {name: figure for name, figures, *_ in listed if (figure := figures[n]) is not None}
        wide = {name: stated[n] for name, _, stated, _ in listed if name in own and stated[n].fits(own[name])}
        quality = {name: stated[n] for name, *_, stated in listed if name in own}
        rows.append(OwnFigures(own, wide, quality))
    return rows


def qualities(impact: Impact, batch: Batch, path: Path) -> list[DataQuality]:
    """Return what the rows of a batch state of the data behind a figure; None for a text that states nothing."""
    pedigrees, years = (
        [None] * batch.rows if field is None else read(field, batch, path).values.to_pylist()
        for field, read in ((impact.pedigree, _pedigrees), (impact.reference_year, _years))
    )
    return [DataQuality(*stated) for stated in zip(pedigrees, years, strict=True)]


def _pedigrees(field: Field, batch: Batch, path: Path) -> clean.Read:
    """Read scores of the pedigree matrix in their one notation."""
    given = clean.texts(field, batch, path)
    scores = [None if text is None else read_scores(text) for text in given.to_pylist()]
    return clean.Read(given, pa.array([None if one is None else one.notation for one in scores], pa.string()))


def _years(field: Field, batch: Batch, path: Path) -> clean.Read:
    """Read years of four digits."""
    given = clean.texts(field, batch, path)
    known = [text is not None and bool(_YEAR.fullmatch(text)) for text in given.to_pylist()]
    years = [int(text) if is_year else None for text, is_year in zip(given.to_pylist(), known, strict=True)]
    return clean.Read(given, pa.array([year if year in REFERENCE_YEARS else None for year in years], pa.int32()))


def decimals(field: Field | None, batch: Batch, path: Path) -> list[Decimal | None]:
    """Return a field's numbers times its factor, exactly; None for a text that is no number."""
    if field is None:
        return [None] * batch.rows
    texts = read_amounts.numbers(field, batch, path).values.to_pylist()
    return [None if text is None else times(text, field.multiply) for text in texts]


class FigureColumns:
    """The columns of figures of a batch, with their errors noted."""

    def __init__(self, impacts: tuple[Impact, ...], batch: Batch, path: Path, bad: Faults) -> None:
        self._read: list[tuple[Impact, clean.Read, Any]] = []
        for impact in impacts:
            figures = read_amounts.numbers(impact.value, batch, path, signed=impact.stage is not None)
            bad.check(impact.value, figures, read_amounts.NO_SIGNED_FIGURE if impact.stage else read_amounts.NO_FIGURE)
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
            if impact.pedigree is not None:
                bad.check(impact.pedigree, _pedigrees(impact.pedigree, batch, path), _NO_PEDIGREE)
            if impact.reference_year is not None:
                bad.check(impact.reference_year, _years(impact.reference_year, batch, path), _NO_YEAR)

    def _check_spread(self, impact: Impact, batch: Batch, path: Path, bad: Faults) -> None:
        """Note bounds and deviations that are no numbers, and bounds that do not enclose the figure."""
        for field in (impact.low, impact.high, impact.deviation):
            if field is not None:
                bad.check(field, read_amounts.numbers(field, batch, path), read_amounts.NO_FIGURE)
        if impact.low is None or impact.high is None:
            return
        figures, stated = decimals(impact.value, batch, path), spreads(impact, batch, path)
        wrong = [
            figure is not None and one.low is not None and not one.fits(figure)
            for figure, one in zip(figures, stated, strict=True)
        ]
        bad.note(impact.low, pa.array(wrong, pa.bool_()), "does not enclose the figure with `high`")

    def count(self, good: pa.Array, counts: Counter[str]) -> None:
        """Count the figures of the good rows, and those of them that cannot be used."""
        for _, figures, stages in self._read:
            given, usable = (np.asarray(pc.is_valid(column)).take(good) for column in figures)
            if stages is not None:
                usable = usable & np.asarray(pc.is_valid(stages)).take(good)
            counts["impacts_read"] += int(np.count_nonzero(given))
            counts["impacts_rejected"] += int(np.count_nonzero(given & ~usable))

    def of_stages(self, good: pa.Array, keys: pa.Array) -> list[StagedFigure]:
        """Return the figures by stage of the good rows, whose items' keys are given."""
        staged = []
        for impact, figures, stages in self._read:
            if stages is None:
                continue
            texts, names = figures.values.to_pylist(), stages.to_pylist()
            for row, key in zip(good.tolist(), keys.tolist(), strict=True):
                if texts[row] is not None and names[row] is not None:
                    staged.append(StagedFigure(key, impact, names[row], times(texts[row], impact.value.multiply)))
        return staged
