"""How deep, how often and how long items are on offer."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from edge.analytics.envelope import observed_prices_field
from edge.analytics.findings import Headline, Parameters, Rows, count_of
from edge.analytics.reports.answer import GroupedRow, report_of
from edge.analytics.reports.declaration import Picture, Report, ReportEndpoint
from edge.analytics.reports.fields import brands, categories, count_field, groups, number_field, share_field, text_field
from edge.analytics.reports.question import ReportQuery
from edge.analytics.wording import RowContext
from edge.http.parameters import WholeNumber, field_doc, one_of
from shared.jobs.contract import PROMOTIONS
from shared.organizations.accounts import BRAND
from shared.prior_price import WINDOW_DAYS

RULES = ("list_price", "return", "prior_price")

_WORDS = {
    "list_price": "were below a list price",
    "return": "had a lower price that returned to the one before",
    "prior_price": "were below a list price and the lowest price of the 30 days before",
}


class OfferStart(Schema):
    """Offers that began on a day of the week."""

    weekday = text_field("Day of the week, in English")
    offers = count_field("Offers")
    share = share_field("Share of the row's offers")


class PromotionsRow(GroupedRow):
    """The offers of a channel in a period and currency."""

    currency = text_field("ISO 4217")
    rule = text_field("Rule by which offers are recognized", validate=validate.OneOf(RULES))
    items = count_field("Distinct items with a listing")
    item_days = count_field("Days on which an item was listed, over all items", heading="Days seen")
    item_days_on_offer = count_field("Those on which it was on offer", heading="Days on offer")
    share_on_offer = share_field("item_days_on_offer / item_days; null below three items", heading="Share on offer")
    share_on_offer_low = share_field(
        "Lower end of the 95 % interval; null below three items, or if all agree", heading="On offer, low"
    )
    share_on_offer_high = share_field("Upper end of the 95 % interval", heading="On offer, high")
    items_on_offer = count_field("Distinct items that were on offer")
    offers = count_field("Offers that began in the period")
    offers_per_item = number_field("offers / items; null below three items", 0.8)
    depth_mean = share_field(
        "Mean depth of the offers that began, 0.25 for 25 %; null below three items", heading="Depth of offers"
    )
    depth_mean_low = share_field("Lower end of the 95 % interval", heading="Depth, low")
    depth_mean_high = share_field("Upper end of the 95 % interval", heading="Depth, high")
    depth_median = share_field("Median depth of these offers", heading="Median depth")
    offers_ended = count_field("Those of the offers whose end was observed")
    duration_median = number_field("Median of their days from the first to the last; null below three items", 7)
    starts = fields.List(fields.Nested(OfferStart()), metadata=field_doc("Days of the week on which offers began"))


class PromotionsQuery(ReportQuery):
    """Query of promotions."""

    brand = brands()
    category = categories()
    group_by = groups("brand", "category")
    rule = one_of(RULES, "How offers are recognized; default: list_price", load_default=RULES[0])
    offer_days = WholeNumber(
        1,
        180,
        load_default=None,
        metadata=field_doc(f"Days of an offer at most; only with `rule=return`; default: {WINDOW_DAYS}", example=30),
    )
    outliers = observed_prices_field()

    @validates_schema
    def days_of_a_rule(self, data: Mapping[str, Any], **options: Any) -> None:
        """The days limit one rule; with another one they would be ignored silently."""
        if data.get("offer_days") is not None and data.get("rule") != "return":
            raise ValidationError("needs `rule=return`: it limits that rule", "offer_days")


PromotionsReport = report_of(PromotionsRow, "PromotionsReport", "Promotions.")


def find_offers(parameters: Parameters, rows: Rows, reading: RowContext) -> Headline:
    """Return the share of days on offer in the newest period, and how many offers began."""
    newest = [row for row in rows if row["period"] == rows[-1]["period"]]
    days, on_offer, offers = (
        sum(row[name] for row in newest) for name in ("item_days", "item_days_on_offer", "offers")
    )
    when = f"({reading.periods.text(rows[-1]['period'])})"
    sentence = f"of the days on which items were listed they {_WORDS[newest[0]['rule']]} {when}"
    advice = (
        ""
        if on_offer or parameters.get("rule") == "return"
        else ("Where channels state no list prices, offers are recognized by a price that returns: choose this rule.")
    )
    retry = {**parameters, "rule": "return"} if advice else None
    return Headline(f"{100 * on_offer / days:.1f} %", f"{sentence}; {count_of(offers, 'offer')} began.", advice, retry)


REPORT = Report(
    kind=PROMOTIONS,
    title="Promotions",
    description="How deep, how often and how long items are on offer.",
    rank_min=BRAND,
    entitlement="promotions",
    reply=PromotionsReport,
    endpoints=(
        ReportEndpoint(
            operation="getPromotions",
            path="/insights/promotions",
            summary="Promotions",
            description="Depth, frequency and duration of offers, and the days on which they begin, by channel.",
            query=PromotionsQuery,
            example="/insights/promotions?category={category}&rule=return",
        ),
    ),
    picture=Picture(
        lines=("share_on_offer", "depth_mean", "offers"),
        compared="share_on_offer",
        compared_title="Share of days on offer",
    ),
    finding=find_offers,
    columns=("share_on_offer", "depth_mean", "offers", "offers_per_item", "duration_median", "items", "starts"),
)
