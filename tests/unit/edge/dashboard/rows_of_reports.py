"""Rows of reports, for tests of what is drawn of them."""

from datetime import date
from typing import Any

from edge.analytics.price_history import ObservedPrice
from edge.analytics.reports.declared import REPORTS_BY_KIND

COHORT, CATEGORY, FOOTPRINT = (
    REPORTS_BY_KIND[kind].picture for kind in ("cohorts", "category-insights", "sustainability-rollup")
)

SHARES = [{"channel": "A", "observations": 63, "share": 0.63}, {"channel": "B", "observations": 37, "share": 0.37}]


def cohort(period: str, p50: str, **group: Any) -> dict[str, Any]:
    prices = dict.fromkeys(("min", "p10", "p25", "p75", "p90", "max", "mean"), "1.00")
    return {"period": period, **group, "currency": "HKD", **prices, "p50": p50, "channels": SHARES}


def price(day: int, minor: int, outlier: str | None = None, channel: str = "A") -> ObservedPrice:
    return ObservedPrice(date(2026, 7, day), channel, "l", "HKD", minor, None, outlier)


def footprint(period: str, low: float, central: float, high: float) -> dict[str, object]:
    return {"period": period, "co2e_kg": central, "co2e_kg_low": low, "co2e_kg_central": central, "co2e_kg_high": high}


def row(period: str, index: float, share: float | None, currency: str = "HKD") -> dict[str, object]:
    return {
        "period": period,
        "currency": currency,
        "index": index,
        "low": index - 1,
        "high": index + 1,
        "median_index": 2 * index,
        "share_matched": share,
    }
