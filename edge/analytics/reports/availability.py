"""On which days items were seen, which are new or gone, and what the assortments of channels have in common."""

from marshmallow import Schema, fields

from edge.analytics.findings import Headline, Parameters, Rows, count_of, days_clause
from edge.analytics.reports.answer import GroupedRow, report_of
from edge.analytics.reports.declaration import Picture, Report, ReportEndpoint
from edge.analytics.reports.fields import (
    brands,
    categories,
    count_field,
    groups,
    kind_field,
    row_kind,
    share_field,
    text_field,
)
from edge.analytics.reports.question import ReportQuery
from edge.analytics.wording import RowContext
from edge.http.parameters import field_doc
from shared.analytics.observations import OBSERVATION_KINDS
from shared.jobs.contract import AVAILABILITY
from shared.organizations.accounts import BRAND

_NEARLY_ALL = 99.95  # per cent; from here on one decimal would say that nothing was missing


class Overlap(Schema):
    """What the assortment of a channel has in common with that of another one."""

    channel = text_field("Code of the other channel")
    items = count_field("Distinct items that both have")
    jaccard = share_field("Jaccard index, items of both / items of either; null below three items of one of them")
    share = share_field("Share of the row's items that the other channel has too")
    share_of_other = share_field("Share of the other channel's items that the row's channel has too")


class AvailabilityRow(GroupedRow):
    """The items of a channel in a period."""

    kind = row_kind(OBSERVATION_KINDS)
    items = count_field("Distinct items")
    observed_days = count_field("Days on which the channel was observed, of whatever item", heading="Days observed")
    item_days = count_field("Days on which an item was seen, over all items", heading="Days seen")
    missing_days = count_field(
        "Days on which the channel was observed and an item was not seen, between the first and the last day on which "
        "it was, over all items",
        heading="Days missing",
    )
    share_seen = share_field(
        "item_days / (item_days + missing_days); null below three items", heading="Share of days seen"
    )
    share_seen_low = share_field(
        "Lower end of the 95 % interval; null below three items, or if all agree", heading="Seen, low"
    )
    share_seen_high = share_field("Upper end of the 95 % interval", heading="Seen, high")
    first_day = fields.Date(allow_none=True, metadata=field_doc("First day with data"))
    last_day = fields.Date(allow_none=True, metadata=field_doc("Last day with data"))
    new_items = count_field(
        "Items that the channel did not have in the whole previous period; null if it was not observed then",
        nullable=True,
    )
    gone_items = count_field("Items of the whole previous period that the channel does not have", nullable=True)
    overlaps = fields.List(fields.Nested(Overlap()), metadata=field_doc("The other channels, by code"))


class AvailabilityQuery(ReportQuery):
    """Query of the availability of items."""

    brand = brands()
    category = categories()
    group_by = groups("brand", "category")
    kind = kind_field()


AvailabilityReport = report_of(AvailabilityRow, "AvailabilityReport", "The availability of items.")


def find_availability(parameters: Parameters, rows: Rows, reading: RowContext) -> Headline:
    """Return the share of days on which items were seen in the newest period."""
    newest = [row for row in rows if row["period"] == rows[-1]["period"]]
    seen, missing = (sum(row[name] for row in newest) for name in ("item_days", "missing_days"))
    channels = count_of(len({row["channel"] for row in newest}), "shop")
    if not seen:
        return Headline("0 items", f"were left in {channels} that had some before{days_clause(reading)}.")
    when = f"({reading.periods.text(rows[-1]['period'])})"
    sentence = f"of the days between their first and last one were items of {channels} seen {when}"
    share = 100 * seen / (seen + missing)
    shown = f"{share:.1f}" if share < _NEARLY_ALL or not missing else f"{share:.3f}"
    return Headline(f"{shown} %", f"{sentence}; on {missing:,} they were missing.")


REPORT = Report(
    kind=AVAILABILITY,
    title="Availability",
    description="Days on which items were seen, new and gone items, and what channels have in common.",
    rank_min=BRAND,
    entitlement="availability",
    reply=AvailabilityReport,
    endpoints=(
        ReportEndpoint(
            operation="getAvailability",
            path="/insights/availability",
            summary="Availability",
            description="Days seen and missing, new and gone items, and the overlap of assortments, by channel.",
            query=AvailabilityQuery,
            example="/insights/availability?category={category}",
        ),
    ),
    picture=Picture(
        lines=("share_seen", "items"), compared="share_seen", compared_title="Share of days on which items were seen"
    ),
    finding=find_availability,
    columns=("items", "item_days", "missing_days", "share_seen", "new_items", "gone_items", "overlaps"),
)
