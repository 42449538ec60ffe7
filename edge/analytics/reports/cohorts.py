"""Prices of selected brands or categories, by period."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validates_schema

from edge.analytics.conversion import ConvertQuery
from edge.analytics.envelope import outliers_field
from edge.analytics.findings import find_median
from edge.analytics.reports.answer import GroupedRow, PriceRow, report_of
from edge.analytics.reports.declaration import Picture, Report, ReportEndpoint
from edge.analytics.reports.fields import (
    amount_field,
    brands,
    categories,
    count_field,
    granularity,
    groups,
    kind_field,
    share_field,
    text_field,
)
from edge.analytics.reports.measure import MeasureQuery
from edge.analytics.reports.question import ReportQuery
from edge.http.parameters import field_doc
from shared.jobs.contract import COHORTS
from shared.organizations.accounts import BRAND


class ChannelShare(Schema):
    """A channel's share."""

    channel = text_field("Code")
    observations = count_field("Observations")
    share = share_field("Share of observations")


class CohortRow(PriceRow, GroupedRow):
    """A cohort in one period, group and currency."""

    price_n = count_field("Prices used in the statistics", heading="Prices")
    mean = amount_field()
    stddev = amount_field("Sample standard deviation; null for a single price", heading="Standard deviation")
    p10 = amount_field(heading="10th percentile")
    p25 = amount_field(heading="25th percentile")
    p50 = amount_field(heading="Median")
    p75 = amount_field(heading="75th percentile")
    p90 = amount_field(heading="90th percentile")
    min = amount_field(heading="Lowest")
    max = amount_field(heading="Highest")
    channels = fields.List(fields.Nested(ChannelShare()))
    first_day = fields.Date(metadata=field_doc("First day with data"))
    last_day = fields.Date(metadata=field_doc("Last day with data"))


class CohortsQuery(MeasureQuery, ConvertQuery, ReportQuery):
    """Query of a cohort."""

    brand = brands()
    category = categories()
    granularity = granularity("month")
    group_by = groups("brand", "category", "channel")
    kind = kind_field()
    outliers = outliers_field()

    @validates_schema
    def names_something(self, data: Mapping[str, Any], **options: Any) -> None:
        """A cohort is some brands, some categories, or both."""
        if not data.get("brand") and not data.get("category"):
            raise ValidationError("is required unless `category` is given", "brand")


CohortReport = report_of(CohortRow, "CohortReport", "A cohort.")


REPORT = Report(
    kind=COHORTS,
    title="Cohort",
    description="Prices of selected brands or categories, by period.",
    rank_min=BRAND,
    entitlement="cohort-intelligence",
    reply=CohortReport,
    endpoints=(
        ReportEndpoint(
            operation="getCohorts",
            path="/cohorts",
            summary="Prices of a cohort",
            description="Exact percentiles of prices per group and period.",
            query=CohortsQuery,
            example="/cohorts?brand={brand}",
        ),
    ),
    picture=Picture(
        spread=("p10", "p50", "p90", "mean"),
        compared="p50",
        boxes=True,
        band=("p10", "p90"),
    ),
    finding=find_median("p50"),
    columns=("p50", "p10", "p90", "mean", "items", "observations", "channels"),
)
