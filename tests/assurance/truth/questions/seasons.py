"""Seasons: the pattern of the months of a year, by least squares with dummies and scipy's test, from the source files."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.exact import Near
from tests.assurance.truth.index import Index, Scope
from tests.assurance.truth.questions.price_index import MATCHED_LEAST, Cells, cells_of
from tests.assurance.truth.questions.scopes import everything, random_kind, random_scope

MONTHS = 12
CHANGES_LEAST = 23


class Pattern(NamedTuple):
    """Logarithms of the factors of the months and of their bounds, from January on; `p_value` of the test."""

    p_value: float
    factors: Sequence[float]
    half_widths: Sequence[float]


def seasons(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare random seasonal patterns, most of them of many years."""
    for _ in range(count):
        scope = replace(random_scope(index, random, named=True), granularity="month", group_by=())
        kind = random_kind(random)
        scope = replace(scope, kind=None if kind == "both" else kind)
        if random.random() < 0.7:
            years = random.choice((2, 3, 8, 20))
            scope = replace(scope, first=date(2022 - years, 6, 1), last=date(2022, 5, 31), channels=(), currency=None)
        parameters = everything(scope)
        found = client.get("/index/prices/seasons", parameters).body
        ours = {"data": found.get("data", found)}
        yield Question(f"seasons {parameters}", ours, {"data": expected(index, index.settled(scope))})


def expected(index: Index, scope: Scope) -> list[dict[str, Any]]:
    """Return the expected rows."""
    rows = [row for currency, by_period in cells_of(index, scope).items() for row in _rows(scope, currency, by_period)]
    return sorted(rows, key=lambda row: (row["period"], row["currency"]))


def _rows(scope: Scope, currency: str, by_period: dict[date, Cells]) -> Iterator[dict[str, Any]]:
    periods = sorted(by_period)
    changes = {
        now: math.fsum(math.log(by_period[now][key].price / by_period[before][key].price) for key in both) / len(both)
        for before, now in pairwise(periods)
        if scope.period_before(now) == before
        and (both := sorted(by_period[now].keys() & by_period[before].keys()))
        and len({iid for iid, _ in both}) >= MATCHED_LEAST
    }
    found = pattern([period.month for period in changes], list(changes.values()))
    shown = found if found and found.p_value < 0.001 else None
    level: float | None = 0.0
    for period in periods:
        change = changes.get(period)
        if period != periods[0]:
            level = None if level is None or change is None else level + change
        here = by_period[period]
        before = by_period.get(scope.period_before(period))
        month = period.month - 1
        factor = shown.factors[month] if shown else None
        yield {
            "period": period,
            "partial_period": scope.cuts(period),
            "currency": currency,
            "kind": scope.kind,
            "index": _near(level, 100),
            "change": _near(change, less=1),
            "seasonal": bool(shown) if found else None,
            "p_value": Near(Fraction(found.p_value), places=6) if found else None,
            "months": len(changes),
            "items": len({iid for iid, _ in here}),
            "matched_items": None if before is None else len({iid for iid, _ in here.keys() & before.keys()}),
            "factor": _near(factor),
            "factor_low": _near(shown.factors[month] - shown.half_widths[month]) if shown else None,
            "factor_high": _near(shown.factors[month] + shown.half_widths[month]) if shown else None,
            "adjusted_index": _near(level - factor, 100) if level is not None and factor is not None else None,
            "adjusted_change": _near(change - shown.factors[month] + shown.factors[month - 1], less=1)
            if change is not None and shown
            else None,
        }


def pattern(months: Sequence[int], changes: Sequence[float]) -> Pattern | None:
    """Return the pattern of changes of logarithms to months of the year, None if they are too few."""
    if len(changes) < CHANGES_LEAST or len(set(months)) < MONTHS:
        return None
    design = np.zeros((len(months), MONTHS))
    design[np.arange(len(months)), np.array(months) - 1] = 1
    coefficients = np.linalg.lstsq(design, np.array(changes), rcond=None)[0]
    residuals = np.array(changes) - design @ coefficients
    degrees = len(changes) - MONTHS
    covariance = residuals @ residuals / degrees * np.linalg.inv(design.T @ design)
    # Each factor is a sum of coefficients: those up to its month, without their mean, about the mean of the year.
    weights = np.array([[float(one <= month) for one in range(MONTHS)] for month in range(MONTHS)])
    weights = weights - weights.mean(axis=1, keepdims=True)
    weights = weights - weights.mean(axis=0)
    half = stats.t.ppf(0.975, degrees) * np.sqrt(np.diag(weights @ covariance @ weights.T))
    groups = [[change for of, change in zip(months, changes, strict=True) if of == month] for month in range(1, 13)]
    flat = float(np.ptp(changes)) < 1e-9
    p_value = 1.0 if flat else float(stats.f_oneway(*groups).pvalue)
    return Pattern(p_value, (weights @ coefficients).tolist(), half.tolist())


def _near(logarithm: float | None, scale: float = 1.0, less: float = 0.0) -> Near | None:
    return None if logarithm is None else Near(Fraction(scale * math.exp(logarithm) - less), places=6)


ENDPOINTS = {"prices/seasons": seasons}
