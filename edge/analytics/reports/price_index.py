"""How prices of the same items changed, whatever the assortment."""

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from edge.analytics.conversion import ConvertQuery, original_currency
from edge.analytics.envelope import outliers_field
from edge.analytics.findings import Headline, Parameters, Rows, change_in_words, is_same_series, signed_percent
from edge.analytics.reports.answer import PeriodRow, report_of
from edge.analytics.reports.declaration import Picture, Report, ReportEndpoint
from edge.analytics.reports.fields import (
    amount_field,
    brands,
    categories,
    count_field,
    granularity,
    number_field,
    row_kind,
    share_field,
    text_field,
)
from edge.analytics.reports.index_fields import MethodName, check_method, kind_of_prices, splice_field, window_field
from edge.analytics.reports.measure import MeasureQuery, unit_field
from edge.analytics.reports.question import ReportQuery
from edge.analytics.wording import RowContext
from edge.http.parameters import field_doc, one_of
from shared.jobs.contract import PRICE_INDEX
from shared.organizations.accounts import BRAND
from shared.price_index.offered import (
    DEFAULT_MATCH,
    DEFAULT_METHOD,
    MATCHES,
)


def _index(sentence: str, heading: str) -> fields.Float:
    return number_field(sentence, 103.25, heading=heading)


class PriceIndexRow(PeriodRow):
    """A price index in one period and currency."""

    currency = text_field("ISO 4217")
    original_currency = original_currency()
    unit = unit_field()
    kind = row_kind()
    index = _index(
        "Price index, first period = 100; null if no matched items link the period to the first one",
        heading="Price index",
    )
    low = _index(
        "Lower end of the 95 % interval; null below three matched items, or if all changed alike", heading="Index, low"
    )
    high = _index("Upper end of the 95 % interval", heading="Index, high")
    items = count_field("Distinct items with a price above zero")
    set_aside = count_field(
        "Outliers; price statistics exclude them unless `outliers=include`", heading="Outliers set aside"
    )
    matched_items = count_field(
        "Items with a price that the period `compared_with` has too (see `match`); null in the first period",
        nullable=True,
    )
    matched_prices = count_field("Those prices: of an item one for each channel, unless `match=item`", nullable=True)
    share_matched = share_field("matched_items / items; null in the first period", heading="Matched share")
    new_items = count_field("Items without such a price", nullable=True)
    vanished_items = count_field("Items of the period `compared_with` without such a price", nullable=True)
    compared_with = fields.Date(
        allow_none=True, metadata=field_doc("Previous period with data; null in the first period")
    )
    median = amount_field("Median of all observed prices, whatever the assortment")
    median_index = _index("Median price, first period = 100", heading="Index of the median")


class PriceIndexQuery(MeasureQuery, ConvertQuery, ReportQuery):
    """Query of a price index."""

    brand = brands()
    category = categories()
    granularity = granularity("month", "quarter", "year")
    kind = kind_of_prices()
    outliers = outliers_field()
    method = MethodName(
        load_default=DEFAULT_METHOD,
        metadata=field_doc(
            f"Index formula; common aliases such as ccdi are accepted; default: {DEFAULT_METHOD}",
            example=DEFAULT_METHOD,
        ),
    )
    window = window_field()
    splice = splice_field()
    match = one_of(
        MATCHES,
        "What is matched; `channel`: each item with itself in the same channel; `item`: each item over all channels, "
        f"whose mix then moves the index too; default: {DEFAULT_MATCH}",
        load_default=DEFAULT_MATCH,
    )

    @validates_schema
    def can_be_answered(self, data: Mapping[str, Any], **options: Any) -> None:
        """An index is of some brands or categories; not every method weights offers."""
        if not data.get("brand") and not data.get("category"):
            raise ValidationError("is required unless `category` is given", "brand")
        check_method(data)


PriceIndexReport = report_of(PriceIndexRow, "PriceIndexReport", "A price index.")


def find_index(parameters: Parameters, rows: Rows, reading: RowContext) -> Headline:
    """Return the change of the index over its periods, or why there is none."""
    last, unit = rows[-1], reading.periods.unit
    alike = [row for row in rows if is_same_series(row, last)]
    indexed = [row for row in alike if row["index"] is not None]
    if len(indexed) < 2:
        finer = reading.periods.finer()
        advice = f"Choose periods of a {finer}" if finer else "Choose an earlier first day"
        retry = {**parameters, **({"granularity": finer} if finer else {})}
        if len(alike) > 1:
            ends = f"from {reading.periods.name(alike[0]['period'])} to {reading.periods.name(last['period'])}"
            apart = f"have data, {ends}, but too few items in common to be compared."
            return Headline(
                f"{len(alike)} {unit}s", apart, "Choose more brands or categories, or other periods.", retry
            )
        only = f"has data ({reading.periods.text(last['period'])}), so there is nothing to compare it with"
        return Headline(f"1 {unit}", f"{only}: the first period is always 100.", f"{advice} to see a change.", retry)
    first, newest = indexed[0], indexed[-1]
    change, bounds = newest["index"] - 100, ""
    if newest["low"] is not None:
        bounds = f"95 % interval {signed_percent(newest['low'] - 100)} to {signed_percent(newest['high'] - 100)}"
    ends = f"from {reading.periods.name(first['period'])} to {reading.periods.name(newest['period'])}"
    if newest["low"] is not None and newest["low"] < 100 < newest["high"]:
        return Headline("No clear change", f"in the prices of the same items {ends}: the {bounds} contains zero.")
    stated = f" ({bounds})" if bounds else ""
    return Headline(signed_percent(change), f"Prices of the same items {change_in_words(change)} {ends}{stated}.")


REPORT = Report(
    kind=PRICE_INDEX,
    title="Price index",
    description="How prices of the same items changed, whatever the assortment.",
    rank_min=BRAND,
    entitlement="price-index",
    reply=PriceIndexReport,
    endpoints=(
        ReportEndpoint(
            operation="getPriceIndex",
            path="/prices/index",
            summary="Price index",
            description="Matched-item index for each period, with its interval and the median.",
            query=PriceIndexQuery,
            example="/prices/index?category={category}&granularity=day",
        ),
    ),
    picture=Picture(
        spread=("index", "low", "high", "median_index"),
        spread_title="Price index and median",
        compared="index",
        compared_title="Price index",
        lines=("share_matched",),
        band=("low", "high"),
    ),
    finding=find_index,
    columns=("index", "low", "high", "median", "items", "matched_items", "share_matched"),
)
