"""What footprints rest on: sources, factors and the quality of their data, with the share that each has of a sum."""

from typing import Any, NamedTuple

import numpy as np

from shared.db.connect import Connection
from shared.uncertainty.stated import Scores, read_scores
from workers.analytics.reports.filters import SQL, Filter
from workers.analytics.reports.footprint_sums import Amounts, by_segment
from workers.analytics.reports.footprints import OWN, Footprints
from workers.analytics.rollups.arrays import Array

ASSUMPTIONS = 5
"""So many assumptions of a row are named, the others together."""


class Assumption(NamedTuple):
    """A factor, or a source of items' own figures. `scope` is item, product_type or category."""

    scope: str
    code: str | None
    weight_basis: str | None
    source: str
    method: str


class FigureOrigins(NamedTuple):
    """What the figures of one indicator rest on, in the order of the footprints.

    `assumption` counts into `assumptions`; `scores` has a column for each score of the pedigree matrix, and `year` the
    reference years: NaN where no source states them.
    """

    assumptions: list[Assumption]
    assumption: Array
    scores: Array
    year: Array


def read_origins(
    connection: Connection, chosen: Filter, footprints: Footprints, place: int, code: str
) -> FigureOrigins:
    """Read what the figures of an indicator rest on; `place` is its column in the footprints."""
    rows = len(footprints.item) + 1
    assumptions: dict[Assumption, int] = {}
    scores, years = np.full((rows, len(Scores._fields)), np.nan), np.full(rows, np.nan)
    numbers = footprints.factors[:, place].astype("i8")
    assumption = np.full(rows, OWN)
    factors = connection.execute(SQL.factor_origins).fetchall()
    known = np.array([assumptions.setdefault(Assumption(*row[:-1]), len(assumptions)) for row in factors], "i8")
    by_factor = np.flatnonzero(numbers != OWN)
    assumption[by_factor] = known[numbers[by_factor]]
    of_factor = np.array([np.nan if row[-1] is None else row[-1] for row in factors])
    years[by_factor] = of_factor[numbers[by_factor]]
    brands = list(chosen.brands) if chosen.brands is not None else None
    categories = list(chosen.categories) if chosen.categories is not None else None
    own = connection.execute(SQL.own_origins, (brands, categories, code)).fetchall()
    positions = footprints.positions(np.array([row[0] for row in own], "i8")).tolist()
    for position, (_, source, method, pedigree, year) in zip(positions, own, strict=True):
        stated = Assumption("item", None, None, source, method)
        assumption[position] = assumptions.setdefault(stated, len(assumptions))
        if pedigree is not None:
            scores[position] = read_scores(pedigree)
        if year is not None:
            years[position] = year
    return FigureOrigins(list(assumptions), assumption, scores, years)


def quality_of_sums(
    amounts: Amounts, footprints: Footprints, origins: FigureOrigins, place: int, segments: int
) -> list[dict[str, Any]]:
    """Return for each segment the mean scores and the reference years, and the share of the sum that states them.

    Scores are weighted by the footprints for which they are stated.
    """
    unknown = dict.fromkeys((*Scores._fields, "pedigree_share", "year_first", "year_last", "year_share"))
    found: list[dict[str, Any]] = [dict(unknown) for _ in range(segments)]
    figures = footprints.figures[amounts.position, place]
    for segment, entries in by_segment(amounts.segment, ~np.isnan(figures)):
        position, means = amounts.position[entries], figures[entries] * amounts.units[entries]
        total = float(means.sum())
        if not total:
            continue
        scores, years = origins.scores[position], origins.year[position]
        scored, dated = ~np.isnan(scores[:, 0]), ~np.isnan(years)
        row = found[segment]
        row["pedigree_share"] = round(float(means[scored].sum()) / total, 6)
        row["year_share"] = round(float(means[dated].sum()) / total, 6)
        if means[scored].sum():
            weighted = np.average(scores[scored], axis=0, weights=means[scored])
            row |= dict(zip(Scores._fields, (round(float(score), 6) for score in weighted), strict=True))
        if dated.any():
            row |= {"year_first": int(years[dated].min()), "year_last": int(years[dated].max())}
    return found


def assumptions_of_sums(
    amounts: Amounts, footprints: Footprints, origins: FigureOrigins, place: int, segments: int
) -> list[list[dict[str, Any]]]:
    """Return for each segment the assumptions that its variance owes most to, with their shares, then all others.

    Errors of different assumptions are independent, so that their variances add up: a share is the first-order index of
    Sobol' (Saltelli and others, Global Sensitivity Analysis (2008)), without interactions.
    """
    rows: list[list[dict[str, Any]]] = [[] for _ in range(segments)]
    figures = footprints.figures[amounts.position, place]
    for segment, entries in by_segment(amounts.segment, figures > 0):
        position = amounts.position[entries]
        means = figures[entries] * amounts.units[entries]
        numbers, part = np.unique(origins.assumption[position], return_inverse=True)
        sums, counts = np.bincount(part, weights=means), np.bincount(part)
        variances = _variances(means, part, footprints, position, place)
        shares, of_variance = sums / sums.sum(), _shares(variances)
        order = sorted(
            range(len(numbers)),
            key=lambda n: (-of_variance[n], -shares[n], str(origins.assumptions[numbers[n]])),
        )
        for n in order[:ASSUMPTIONS]:
            named = origins.assumptions[numbers[n]]._asdict()
            rows[segment].append({**named, **_figures([n], counts, shares, of_variance, variances)})
        if others := order[ASSUMPTIONS:]:
            unnamed = dict.fromkeys(Assumption._fields)
            rows[segment].append({**unnamed, **_figures(others, counts, shares, of_variance, variances)})
    return rows


def _figures(places: list[int], counts: Array, shares: Array, of_variance: Array, variances: Array) -> dict[str, Any]:
    is_known = bool(variances.sum())
    return {
        "items": int(counts[places].sum()),
        "share": round(float(shares[places].sum()), 6),
        "variance_share": round(float(of_variance[places].sum()), 6) if is_known else None,
    }


def _shares(values: Array) -> Array:
    total = values.sum()
    shares: Array = values / total if total else values
    return shares


def _variances(means: Array, part: Array, footprints: Footprints, position: Array, place: int) -> Array:
    """Return the variance of the sum of each part, in units of the largest mean: squares of means can leave a double.

    A part is of one factor, whose error E all its figures share, or of figures that err independently. E has the mean 1
    and the deviation c of its logarithm: Var(E · ΣX) = Var(ΣX) · exp(c²) + (ΣX)² · (exp(c²) - 1).
    """
    scaled, sigmas = means / means.max(), footprints.sigmas[position, place]
    independent = np.bincount(part, weights=np.square(scaled) * np.expm1(np.square(sigmas)))
    sums = np.bincount(part, weights=scaled)
    numbers = footprints.factors[position, place].astype("i8")
    shared = np.zeros(len(sums))
    by_factor = numbers != OWN
    shared[part[by_factor]] = np.square(footprints.common[numbers[by_factor]])
    variances: Array = independent * np.exp(shared) + np.square(sums) * np.expm1(shared)
    return variances
