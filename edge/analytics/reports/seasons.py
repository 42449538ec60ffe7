"""Which months of the year are dearer, and how prices changed apart from that."""

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from edge.analytics.envelope import outliers_field
from edge.analytics.findings import Headline, Parameters, Rows, change_in_words, is_same_series, signed_percent
from edge.analytics.reports.answer import PeriodRow, report_of
from edge.analytics.reports.declaration import Picture, Report, ReportEndpoint
from edge.analytics.reports.fields import (
    brands,
    categories,
    count_field,
    number_field,
    row_kind,
    share_field,
    text_field,
)
from edge.analytics.reports.question import ReportQuery
from edge.analytics.wording import RowContext
from edge.http.parameters import Day, field_doc, one_of
from shared.analytics.observations import KIND_NAMES
from shared.analytics.seasonality import CHANGES_LEAST
from shared.calendar_periods import MONTH_NAMES
from shared.jobs.contract import SEASONS
from shared.organizations.accounts import BRAND


class SeasonsRow(PeriodRow):
    """The prices of a month in a currency, with and without the season."""

    currency = text_field("ISO 4217")
    kind = row_kind()
    index = number_field("Chained Jevons index, first period = 100; null if the months before do not link it", 103.25)
    adjusted_index = number_field("index / factor; null without a significant pattern", 102.5)
    change = share_field("Change since the month before; null if they have fewer than three items in common")
    adjusted_change = share_field(
        "Change without that of the factor; null without a significant pattern", heading="Adjusted change"
    )
    factor = number_field(
        "Factor of the month of the year, mean of a year = 1; null without a significant pattern", 1.04
    )
    factor_low = number_field("Lower end of the 95 % interval", 1.02)
    factor_high = number_field("Upper end of the 95 % interval", 1.06)
    seasonal = fields.Bool(
        allow_none=True,
        metadata=field_doc("Whether the pattern is significant at 0.1 %; null for fewer than two whole years"),
    )
    p_value = number_field("Probability of such differences between the months of a series without seasons", 0.0004)
    months = count_field("Changes between neighbouring months that the pattern rests on", heading="Changes")
    items = count_field("Distinct items with a price above zero")
    matched_items = count_field("Items with a price in the month before too; null if it has no data", nullable=True)


class SeasonsQuery(ReportQuery):
    """Query of seasonal patterns."""

    brand = brands()
    category = categories()
    from_ = Day(data_key="from", load_default=None, metadata=field_doc("First day; default: ten years before `to`"))
    granularity = one_of(["month"], "Length of a period; always a month", load_default="month")
    kind = one_of(KIND_NAMES, "Prices to include; default: listings if there are any")
    outliers = outliers_field()

    @validates_schema
    def names_something(self, data: Mapping[str, Any], **options: Any) -> None:
        """A season is of some brands or categories."""
        if not data.get("brand") and not data.get("category"):
            raise ValidationError("is required unless `category` is given", "brand")


SeasonsReport = report_of(SeasonsRow, "SeasonsReport", "Seasonal patterns.")


def find_season(parameters: Parameters, rows: Rows, reading: RowContext) -> Headline:
    """Return the dearest and the cheapest month of the year, or why there are none."""
    last = rows[-1]
    alike = [row for row in rows if is_same_series(row, last)]
    if last["seasonal"] is None:
        few = f"between neighbouring months are known, and a seasonal pattern needs {CHANGES_LEAST}: two whole years"
        advice = "Choose an earlier first day, or more brands or categories."
        return Headline(f"{last['months']} changes", f"{few}, with each month of the year in them.", advice)
    tested = f"over {last['months']} changes from month to month (p {_probability(last['p_value'])})"
    if not last["seasonal"]:
        return Headline("No season", f"is significant at 0.1 % {tested}. Changes are not adjusted.")
    by_factor = sorted(alike, key=lambda row: row["factor"])
    cheapest, dearest = (MONTH_NAMES[int(row["period"][5:7]) - 1] for row in (by_factor[0], by_factor[-1]))
    least, most = (signed_percent(100 * row["factor"] - 100) for row in (by_factor[0], by_factor[-1]))
    sentence = f"against the mean of a year in {dearest}, the dearest month, and {least} in {cheapest}, {tested}."
    if last["adjusted_change"] is not None:
        change = change_in_words(100 * last["adjusted_change"])
        sentence += f" Without the season, prices {change} in {reading.periods.name(last['period'])}."
    return Headline(most, sentence)


def _probability(p_value: float) -> str:
    """Return a probability in words; the report rounds it to six decimals, and none is 0."""
    return f"= {p_value:.2g}" if p_value else "< 0.000001"


REPORT = Report(
    kind=SEASONS,
    title="Seasons",
    description="Which months of the year are dearer, and how prices changed apart from that.",
    rank_min=BRAND,
    entitlement="seasons",
    reply=SeasonsReport,
    endpoints=(
        ReportEndpoint(
            operation="getSeasons",
            path="/prices/seasons",
            summary="Seasonal patterns",
            description="Index of each month, the factor of its season if it is significant, and the index without it.",
            query=SeasonsQuery,
            example="/prices/seasons?category={category}",
        ),
    ),
    picture=Picture(
        spread=("index", "adjusted_index"),
        spread_title="Price index with and without the season",
        compared="index",
        compared_title="Price index",
        lines=("factor",),
        changes=("change", "adjusted_change"),
    ),
    finding=find_season,
    columns=("index", "adjusted_index", "change", "adjusted_change", "factor", "p_value", "items"),
)
