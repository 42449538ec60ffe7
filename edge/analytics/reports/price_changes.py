"""How often prices of a channel change, which way, how far, and whether it moves first."""

from marshmallow import Schema, fields

from edge.analytics.envelope import outliers_field
from edge.analytics.findings import Headline, Parameters, Rows, count_of, find_nothing
from edge.analytics.reports.answer import GroupedRow, report_of
from edge.analytics.reports.declaration import Picture, Report, ReportEndpoint
from edge.analytics.reports.fields import (
    brands,
    categories,
    count_field,
    granularity,
    groups,
    number_field,
    row_kind,
    share_field,
    text_field,
)
from edge.analytics.reports.question import ReportQuery
from edge.analytics.wording import RowContext, group_name
from edge.http.parameters import WholeNumber, field_doc, one_of
from shared.analytics.observations import KIND_NAMES
from shared.jobs.contract import PRICE_CHANGES
from shared.organizations.accounts import BRAND
from shared.uncertainty.stated import wilson


class Follower(Schema):
    """What another channel did after the first moves of the row's channel."""

    channel = text_field("Code")
    matched_items = count_field("Distinct items with a first move that the channel could follow")
    moves = count_field("First moves that the channel could follow, as it had the item before and `follow_days` after")
    followed = count_field("Those after which it changed its price the same way within `follow_days`")
    share_followed = share_field("followed / moves; null below three items")
    days_median = number_field("Median number of days until it did; null below three items", 12.5)


class PriceChangesRow(GroupedRow):
    """Changes of prices in a period, in one group, channel and currency."""

    channel = text_field("Code")
    currency = text_field("ISO 4217")
    kind = row_kind()
    items = count_field("Distinct items with a comparison")
    comparisons = count_field("Daily prices that have another one of their item in the channel in the 31 days before")
    changed_items = count_field("Distinct items with a change")
    changes = count_field("Comparisons in which the price differs; with `offers=exclude` without those of offers")
    increases = count_field("Changes to a higher price")
    decreases = count_field("Changes to a lower price")
    offer_changes = count_field(
        "Changes that begin, end or are within an offer: a fall with a return to the price before within `offer_days`",
        heading="Changes of offers",
    )
    share_changed = share_field("changes / comparisons; null below three items", heading="Prices that change")
    share_changed_low = share_field("Lower end of the 95 % interval", heading="Prices that change, low")
    share_changed_high = share_field("Upper end of the 95 % interval", heading="Prices that change, high")
    days_between_changes = number_field(
        "Days that the comparisons span / changes; null below three items or without a change", 12.5
    )
    increase_median = share_field("Median size of increases; null below three items", heading="Median increase")
    decrease_median = share_field(
        "Median size of decreases, below 0; null below three items", heading="Median decrease"
    )
    size_p10 = share_field(
        "10th percentile of the sizes of changes, without their sign", heading="Size, 10th percentile"
    )
    size_p25 = share_field("25th percentile", heading="Size, 25th percentile")
    size_p50 = share_field("Median", heading="Size, median")
    size_p75 = share_field("75th percentile", heading="Size, 75th percentile")
    size_p90 = share_field("90th percentile", heading="Size, 90th percentile")
    matched_changes = count_field("Changes of items that another channel had too in the 31 days before")
    first_moves = count_field(
        "Those that no other channel had made the same way in the `follow_days` before, nor made on the same day"
    )
    joint_moves = count_field("Those that another channel made on the same day, and none before")
    following_moves = count_field("Those that another channel had made in the `follow_days` before")
    share_first = share_field("first_moves / matched_changes; null below three items", heading="First moves, share")
    share_first_low = share_field("Lower end of the 95 % interval", heading="First moves, low")
    share_first_high = share_field("Upper end of the 95 % interval", heading="First moves, high")
    followers = fields.List(fields.Nested(Follower()))


class PriceChangesQuery(ReportQuery):
    """Query of changes of prices."""

    brand = brands()
    category = categories()
    granularity = granularity("month", "quarter", "year")
    group_by = groups("brand", "category")
    kind = one_of(
        KIND_NAMES,
        "Prices to follow: listings or sales; default: sales if there are only sales, otherwise listings",
    )
    outliers = outliers_field()
    offers = one_of(("include", "exclude"), "Whether changes of offers count; default: include", load_default="include")
    offer_days = WholeNumber(
        1, 180, load_default=30, metadata=field_doc("Days of an offer at most; default: 30", example=30)
    )
    follow_days = WholeNumber(
        1, 90, load_default=7, metadata=field_doc("Days in which a channel follows; default: 7", example=7)
    )


PriceChangesReport = report_of(PriceChangesRow, "PriceChangesReport", "Changes of prices.")


def find_changes(parameters: Parameters, rows: Rows, reading: RowContext) -> Headline:
    """Return which channel moves first most often in the newest period, or how many prices changed there."""
    period = max(row["period"] for row in rows)
    newest = [row for row in rows if row["period"] == period]
    when = f"({reading.periods.text(period)})"
    led = [row for row in newest if row["share_first"] is not None]
    if len(led) > 1:
        row = max(led, key=lambda one: wilson(one["first_moves"], one["matched_changes"]).low)  # few changes say little
        changes = count_of(row["matched_changes"], "change")
        sentence = (
            f"of the {changes} of {group_name(row, reading.names)} to prices of items that others have too were first "
            f"moves, the highest share of all by the lower ends of Wilson's intervals {when}."
        )
        return Headline(f"{100 * row['share_first']:.1f} %", sentence)
    changes, comparisons = (sum(row[name] for row in newest) for name in ("changes", "comparisons"))
    return Headline(count_of(changes, "change"), f"in {count_of(comparisons, 'comparison')} of daily prices {when}.")


def find_no_comparison(parameters: Parameters, rows: Rows, reading: RowContext) -> Headline:
    """Return why no prices were compared."""
    if reading.periods.first is None:
        return find_nothing(parameters, rows, reading)
    advice = "Choose a longer range, or other shops or categories."
    return Headline("0 comparisons", "of prices at most 31 days apart are in these days.", advice, parameters)


REPORT = Report(
    kind=PRICE_CHANGES,
    title="Price changes",
    description="How often prices change, which way, how far, and who moves first.",
    rank_min=BRAND,
    entitlement="price-changes",
    reply=PriceChangesReport,
    endpoints=(
        ReportEndpoint(
            operation="getPriceChanges",
            path="/insights/price-changes",
            summary="Changes of prices",
            description="Number, size and frequency of changes, and which channels move first and follow.",
            query=PriceChangesQuery,
            example="/insights/price-changes?category={category}",
        ),
    ),
    picture=Picture(lines=("share_changed", "share_first")),
    finding=find_changes,
    absence=find_no_comparison,
    columns=("changes", "increases", "decreases", "share_changed", "size_p50", "days_between_changes", "share_first"),
)
