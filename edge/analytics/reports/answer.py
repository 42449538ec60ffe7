"""The answer of a report: its context, and the columns that rows of several reports have."""

from marshmallow import Schema, fields, validate

from edge.analytics.conversion import conversion_meta, original_currency
from edge.analytics.envelope import Analysis, Meta, OutlierMeta
from edge.analytics.reports.fields import count_field, row_kind, share_field, text_field
from edge.analytics.reports.measure import UnitPriceMeta, unit_field
from edge.http.parameters import field_doc, with_members
from shared.analytics.footprint import BASES
from shared.analytics.observations import OBSERVATION_KINDS, UNIT_PRICE


class PeriodRow(Schema):
    """The members that every row begins with."""

    period = fields.Date(metadata=field_doc("First day of the period", example="2026-07-01"))
    partial_period = fields.Bool(metadata=field_doc("Whether the range holds only a part of the period"))


class PriceRow(PeriodRow):
    """Members of every statistic of prices."""

    currency = text_field("ISO 4217")
    original_currency = original_currency()
    unit = unit_field()
    kind = row_kind(OBSERVATION_KINDS)
    items = count_field("Distinct items")
    observations = count_field("Observations")
    set_aside = count_field(
        "Outliers; price statistics exclude them unless `outliers=include`", heading="Outliers set aside"
    )
    list_price_n = count_field("Observations with a list price", heading="With a list price")
    promotion_share = share_field("Share of `list_price_n` with a price below the list price")
    discount_mean = share_field("Mean discount (1 − price / list price) of observations on promotion")
    discount_median = share_field("Median discount of observations on promotion")


class GroupedRow(PeriodRow):
    """The columns of `group_by`: only those asked for; null for items without brand or category."""

    brand = text_field("Slug", nullable=True)
    category = text_field("Code", nullable=True)
    channel = text_field("Code", nullable=True)


class PriceChangeRow(PriceRow):
    """The change of prices of the same items, beside that of the median."""

    index_change = share_field(
        "Change of the Jevons price index over the items that a channel has in both periods; null with `kind=both`",
        heading="Change of the same items",
    )
    index_change_low = share_field(
        "Lower end of the 95 % interval; null below three matched items, or if all changed alike", heading="Change, low"
    )
    index_change_high = share_field("Upper end of the 95 % interval", heading="Change, high")
    share_matched = share_field(
        "Share of the period's items that are also in the previous period", heading="Matched share"
    )


class WeightsMeta(Schema):
    """The version of the table of weights that was used."""

    name = text_field("Its name")
    version = fields.Int(metadata=field_doc("Its version", example=1))
    sha256 = text_field("Digest of its rows and price reference")
    price_reference = fields.Date(metadata=field_doc("A day of the period in whose prices the weights are"))


class ReportMeta(Meta):
    """Context of a report."""

    kind = fields.Str(
        validate=validate.OneOf(OBSERVATION_KINDS),
        metadata=field_doc("Which observations price statistics include"),
    )
    basis = fields.Str(
        validate=validate.OneOf(BASES), metadata=field_doc("Multiplier of footprints: units sold, or 1 for each item")
    )
    outliers = fields.Nested(OutlierMeta(), metadata=field_doc("Only in reports with price statistics"))
    unit_prices = fields.Nested(UnitPriceMeta(), metadata=field_doc(f"Only with `measure={UNIT_PRICE}`"))
    weights = fields.Nested(WeightsMeta(), metadata=field_doc("Only in reports with `weights`"))
    conversion = conversion_meta()
    window_ended_by = fields.Str(
        validate=validate.OneOf(["request", "data", "index", "today"]),
        metadata=field_doc(
            "Origin of `to`; the request, the last day with enough data for the filters, that of the "
            "whole index if the filters match no observation, or today if the index is empty"
        ),
    )
    total = fields.Int(metadata=field_doc("Number of brands or categories that the filters find, on all pages"))
    next_cursor = fields.Str(
        allow_none=True,
        metadata=field_doc("`cursor` of the next page of a list; null on the last. Also in `Link: rel=next`"),
    )


class ReportAnswer(Analysis):
    """Base of every report's answer; a report adds its `data`."""

    meta = fields.Nested(ReportMeta(), required=True)


def report_of(row: type[Schema], name: str, sentence: str) -> type[ReportAnswer]:
    """Declare the answer of a report with these rows, by its name and its sentence in the document."""
    return with_members(ReportAnswer, name, sentence, data=fields.List(fields.Nested(row()), required=True))
