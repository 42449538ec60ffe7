"""Which channel sells the same items at which price, beside the cheapest one and beside a chosen one."""

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, validates_schema

from edge.analytics.conversion import ConvertQuery, original_currency
from edge.analytics.envelope import outliers_field
from edge.analytics.findings import Headline, Parameters, Rows, signed_percent
from edge.analytics.reports.answer import GroupedRow, report_of
from edge.analytics.reports.declaration import Picture, Report, ReportEndpoint
from edge.analytics.reports.fields import (
    amount_field,
    brands,
    categories,
    count_field,
    granularity,
    groups,
    row_kind,
    share_field,
    text_field,
)
from edge.analytics.reports.question import ReportQuery
from edge.analytics.wording import RowContext, group_name
from edge.http.parameters import Utf8, field_doc, one_of
from shared.analytics.observations import KIND_NAMES
from shared.jobs.contract import PRICE_POSITION
from shared.organizations.accounts import BRAND


class PricePositionRow(GroupedRow):
    """A channel's prices of the items that other channels have too, in one period, group and currency."""

    iid = text_field("Item; only with `group_by=item`")
    channel = text_field("Code")
    currency = text_field("ISO 4217")
    original_currency = original_currency()
    kind = row_kind()
    items = count_field("Distinct items with a price above zero in the channel")
    price = amount_field("The item's price in the period; only with `group_by=item`")
    matched_items = count_field("Those that `base_channel` has too")
    gap = share_field(
        "Geometric mean over the matched items of price / price in `base_channel`, less 1; null below three items, "
        "unless the row is one item",
        heading="Gap to the chosen shop",
    )
    gap_low = share_field("Lower end of the 95 % interval of `gap`", heading="Gap, low")
    gap_high = share_field("Upper end of the 95 % interval of `gap`", heading="Gap, high")
    compared_items = count_field("Those that any other channel has too", heading="Items of other shops too")
    gap_to_cheapest = share_field(
        "Geometric mean over the compared items of price / lowest price in any channel, less 1; null as `gap` is",
        heading="Gap to the cheapest",
    )
    gap_to_cheapest_low = share_field(
        "Lower end of the 95 % interval of `gap_to_cheapest`", heading="Gap to the cheapest, low"
    )
    gap_to_cheapest_high = share_field(
        "Upper end of the 95 % interval of `gap_to_cheapest`", heading="Gap to the cheapest, high"
    )
    cheapest_items = count_field("Compared items that no other channel sells for less", heading="Cheapest")
    tied_items = count_field("Those that another channel sells for the same price", heading="Cheapest, tied")
    share_cheapest = share_field("cheapest_items / compared_items", heading="Cheapest share")
    share_cheapest_low = share_field(
        "Lower end of the 95 % interval of `share_cheapest`", heading="Cheapest share, low"
    )
    share_cheapest_high = share_field(
        "Upper end of the 95 % interval of `share_cheapest`", heading="Cheapest share, high"
    )


class PricePositionQuery(ConvertQuery, ReportQuery):
    """Query of a price position."""

    brand = brands()
    category = categories()
    granularity = granularity("month", "quarter", "year")
    group_by = groups("brand", "category", "item")
    kind = one_of(
        KIND_NAMES,
        "Prices to compare: listings or sales; default: sales if there are only sales, otherwise listings",
    )
    outliers = outliers_field()
    base_channel = Utf8(
        1,
        200,
        load_default=None,
        metadata=field_doc("Channel that `gap` compares with; default: none, and `gap` is null", example="WELLCOME"),
    )

    @validates_schema
    def is_compared(self, data: Mapping[str, Any], **options: Any) -> None:
        """A channel that the filter leaves out has no prices to compare with."""
        chosen, base = data.get("channel"), data.get("base_channel")
        if chosen and base is not None and base not in chosen:
            raise ValidationError("must be one of the values of `channel`", "base_channel")


PricePositionReport = report_of(PricePositionRow, "PricePositionReport", "Prices of the same items over channels.")


def find_position(parameters: Parameters, rows: Rows, reading: RowContext) -> Headline:
    """Return the channel with the lowest prices of the newest period, beside the chosen channel if there is one."""
    period = max(row["period"] for row in rows)
    newest = [row for row in rows if row["period"] == period]
    when, base = f"({reading.periods.text(period)})", parameters.get("base_channel")
    others = [row for row in newest if row["gap"] is not None and row["channel"] != base]
    if others:
        row = min(others, key=lambda one: one["gap"])
        bounds = ""
        if row["gap_low"] is not None:
            low, high = (signed_percent(100 * row[name]) for name in ("gap_low", "gap_high"))
            bounds = f" (95 % interval {low} to {high})"
        sentence = (
            f"is the gap of {group_name(row, reading.names)} to {base} for {row['matched_items']:,} items that both "
            f"have{bounds}, the lowest of all {when}."
        )
        return Headline(signed_percent(100 * row["gap"]), sentence)
    known = [row for row in newest if row["share_cheapest"] is not None]
    if not known:
        advice = "Choose more shops, more brands or categories, or longer periods."
        return Headline("0 items", f"can be compared: too few have a price in several shops {when}.", advice)
    row = max(known, key=lambda one: one["share_cheapest_low"] or 0.0)  # of few items a share is often high by chance
    tied = f", {row['tied_items']:,} of them tied" if row["tied_items"] else ""
    sentence = (
        f"of the {row['compared_items']:,} items that {group_name(row, reading.names)} shares with other shops are "
        f"cheapest there{tied}, the highest share of all by the lower ends of their intervals {when}."
    )
    return Headline(f"{100 * row['share_cheapest']:.1f} %", sentence)


REPORT = Report(
    kind=PRICE_POSITION,
    title="Price position",
    description="Prices of the same items over channels: gaps to a chosen one and to the cheapest.",
    rank_min=BRAND,
    entitlement="price-position",
    reply=PricePositionReport,
    endpoints=(
        ReportEndpoint(
            operation="getPricePosition",
            path="/insights/price-position",
            summary="Price position of channels",
            description="Gaps between channels for the same items, and how often each is the cheapest.",
            query=PricePositionQuery,
            example="/insights/price-position?category={category}",
        ),
    ),
    picture=Picture(lines=("share_cheapest", "gap_to_cheapest"), changes=("gap",)),
    finding=find_position,
    columns=("gap", "gap_low", "gap_high", "gap_to_cheapest", "compared_items", "share_cheapest", "tied_items"),
)
