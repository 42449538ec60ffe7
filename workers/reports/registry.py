"""Which function computes which report."""

from collections.abc import Callable
from typing import Any

from shared.db.connect import Connection
from shared.jobs.contract import (
    BRAND_INSIGHTS,
    CATEGORY_INSIGHTS,
    COHORTS,
    PRICE_INDEX,
    REDUCTIONS,
    SUSTAINABILITY_ROLLUP,
)
from workers.reports import brand_insights, category_insights, cohorts, price_index, reductions, sustainability_rollup
from workers.reports.query import ReportProgress
from workers.reports.result import Answer

Make = Callable[[Connection, dict[str, Any], ReportProgress], Answer]
COMPUTATIONS: dict[str, Make] = {
    COHORTS.name: cohorts.make,
    CATEGORY_INSIGHTS.name: category_insights.make,
    BRAND_INSIGHTS.name: brand_insights.make,
    PRICE_INDEX.name: price_index.make,
    REDUCTIONS.name: reductions.make,
    SUSTAINABILITY_ROLLUP.name: sustainability_rollup.make,
}
