"""How prices changed as a whole, by an organization's own weights, and what each category or item contributed."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, validate, validates_schema

from edge.analytics.envelope import outliers_field
from edge.analytics.findings import Headline, Parameters, Rows, change_in_words, signed_percent
from edge.analytics.reports.answer import PeriodRow, report_of
from edge.analytics.reports.declaration import Picture, Report, ReportEndpoint
from edge.analytics.reports.fields import count_field, number_field, row_kind, share_field, text_field
from edge.analytics.reports.index_fields import MethodName, check_method, kind_of_prices, splice_field, window_field
from edge.analytics.reports.question import ReportQuery
from edge.analytics.weights import NAME
from edge.analytics.wording import RowContext, name_of
from edge.http.parameters import field_doc, one_of
from shared.calendar_periods import MONTHS
from shared.jobs.contract import AGGREGATE_INDEX
from shared.organizations.accounts import BRAND
from shared.price_index.offered import (
    DEFAULT_AGGREGATED,
    DEFAULT_MATCH,
    MATCHES,
)

_VERSION = "(@[1-9][0-9]{0,5})?"


class AggregateIndexRow(PeriodRow):
    """The index of one row of the table of weights, in one period and currency."""

    category = text_field("Code of the row: a category, an item's IID, or your own; `total` above several top rows")
    parent = text_field("Code of the row above; null of the top", nullable=True)
    currency = text_field("ISO 4217")
    kind = row_kind()
    weight = share_field("Share of the weights below the same parent, in prices of the price reference period")
    index = number_field(
        "Price index, price reference period = 100; null from the first period without any elementary index",
        103.25,
        heading="Price index",
    )
    change = number_field("Change on the period before; null without it", 0.4, heading="Change")
    contribution = number_field(
        "Part of the parent's `change`, in percentage points; those below one parent add up to it",
        0.1,
        heading="Contribution, points",
    )
    change_year = number_field(
        "Change on the same period of the year before; null without it", 2.1, heading="Change on the year"
    )
    contribution_year = number_field(
        "Part of the parent's `change_year`; those below one parent add up to it",
        0.5,
        heading="Contribution on the year, points",
    )
    imputed = fields.Bool(
        metadata=field_doc("Whether no price of it could be compared: it changed as its parent since the period before")
    )
    share_imputed = share_field("Share of its weight whose leaves are imputed", heading="Imputed share")
    items = count_field("Distinct items with a price above zero")


class AggregateIndexQuery(ReportQuery):
    """Query of an aggregate index."""

    weights = fields.Str(
        required=True,
        validate=validate.Regexp(
            rf"\A{NAME}{_VERSION}\Z", error="must be the name of a table of weights, or name@version"
        ),
        metadata=field_doc(
            "Your table of weights, uploaded with PUT /weights/{name}; `name@version` for an earlier version",
            pattern=f"^{NAME}{_VERSION}$",
            example="cpi",
        ),
    )
    granularity = one_of(tuple(MONTHS), "Length of a period; default: month", load_default="month")
    kind = kind_of_prices()
    outliers = outliers_field()
    method = MethodName(
        load_default=DEFAULT_AGGREGATED,
        metadata=field_doc(
            f"Index formula of the elementary indices; default: {DEFAULT_AGGREGATED}", example=DEFAULT_AGGREGATED
        ),
    )
    window = window_field()
    splice = splice_field()
    match = one_of(
        MATCHES,
        f"What is matched: an item in the same channel, or over all channels; default: {DEFAULT_MATCH}",
        load_default=DEFAULT_MATCH,
    )

    @validates_schema
    def can_be_answered(self, data: Mapping[str, Any], **options: Any) -> None:
        """Not every method weights offers."""
        check_method(data)


AggregateIndexReport = report_of(AggregateIndexRow, "AggregateIndexReport", "An aggregate index.")


def find_aggregate(parameters: Parameters, rows: Rows, reading: RowContext) -> Headline:
    """Return the newest change of the top, on the year before where it is known, and what contributed most to it."""
    top = [row for row in rows if row["parent"] is None][-1]
    on_year = top["change_year"] is not None
    since = "_year" if on_year else ""
    change = top[f"change{since}"]
    when = reading.periods.name(top["period"])
    if change is None:
        level = "is not known" if top["index"] is None else f"is {top['index']:,.1f}"
        sentence = f"the index of {when} {level}: nothing before it is there to compare it with."
        return Headline("1 period", sentence, "Choose an earlier price reference period, or wait for more data.")
    beside = "on the same period of the year before" if on_year else "on the period before"
    parts = [
        row
        for row in rows
        if (row["parent"], row["period"], row["currency"]) == (top["category"], top["period"], top["currency"])
    ]
    most = max(parts, key=lambda row: abs(row[f"contribution{since}"]), default=None)
    by = ""
    if most is not None:
        points = f"{most[f'contribution{since}']:+.2f} percentage points"
        by = f", {points} of it from {name_of(reading.names, 'category', most['category'])}"
    imputed = f"; {100 * top['share_imputed']:.1f} % of the weight is imputed" if top["share_imputed"] else ""
    sentence = f"Prices by your weights {change_in_words(change)} {beside}, in {when}{by}{imputed}."
    return Headline(signed_percent(change), sentence)


REPORT = Report(
    kind=AGGREGATE_INDEX,
    title="Aggregate index",
    description="How prices changed as a whole by your own weights, and what each category contributed.",
    rank_min=BRAND,
    entitlement="aggregate-index",
    reply=AggregateIndexReport,
    endpoints=(
        ReportEndpoint(
            operation="getAggregateIndex",
            path="/prices/aggregate-index",
            summary="Aggregate index by your own weights",
            description="Elementary indices of categories, aggregated by your weights, with contributions to changes.",
            query=AggregateIndexQuery,
            example="/prices/aggregate-index?weights=example&currency=NZD",
        ),
    ),
    picture=Picture(lines=("index",), changes=("change", "contribution", "change_year", "contribution_year")),
    finding=find_aggregate,
    columns=("index", "change", "contribution", "change_year", "contribution_year", "weight", "imputed"),
)
