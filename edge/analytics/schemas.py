"""Parameters and answers of the light reads, declared once."""

from marshmallow import Schema, fields, validate

from edge.analytics.amount_fields import original_currency
from edge.analytics.conversion import ConvertQuery, conversion_meta
from edge.analytics.displacement import DisplacementMeta, DisplacementQuery
from edge.analytics.envelope import Estimate, LightQuery, Meta, OutlierMeta, outliers_field
from edge.analytics.prior_price_schemas import ReductionSummary
from edge.analytics.unit_prices import UnitPrice
from edge.http.parameters import CurrencyCode
from shared.footprint import BASES
from shared.indicators import CODES
from shared.uncertainty.stated import ORIGINS

_MONEY = {"description": "Decimal amount in `currency`", "example": "10.90"}


class PricingQuery(ConvertQuery, LightQuery):
    """Query of a pricing history."""

    currency = CurrencyCode()
    kind = fields.Str(
        load_default=None,
        validate=validate.OneOf(["listing", "sale"]),
        metadata={
            "description": "Only offers seen, or only sales; default: both, each in rows and statistics of its own"
        },
    )
    outliers = outliers_field()


class SustainabilityQuery(DisplacementQuery, LightQuery):
    """Query of an item's footprint."""


class PricingRow(Schema):
    """A day of an item in one channel."""

    day = fields.Date(required=True, metadata={"example": "2026-10-31"})
    channel = fields.Str(required=True, metadata={"example": "WELLCOME"})
    kind = fields.Str(required=True, validate=validate.OneOf(["listing", "sale"]))
    currency = fields.Str(required=True, metadata={"example": "HKD"})
    original_currency = original_currency()
    low = fields.Str(required=True, metadata=_MONEY)
    median = fields.Str(required=True, metadata=_MONEY)
    high = fields.Str(required=True, metadata=_MONEY)
    close = fields.Str(required=True, allow_none=True, metadata=_MONEY)
    n = fields.Int(required=True, metadata={"example": 1})


class PriceStatistic(Schema):
    """Prices of the last days; of one currency and kind."""

    days = fields.Int(required=True, validate=validate.OneOf([7, 30, 90, 365]))
    currency = fields.Str(required=True, metadata={"example": "HKD"})
    original_currency = original_currency()
    kind = fields.Str(required=True, validate=validate.OneOf(["listing", "sale"]))
    from_ = fields.Date(required=True, data_key="from")
    to = fields.Date(required=True)
    low = fields.Str(required=True, allow_none=True, metadata=_MONEY)
    median = fields.Str(required=True, allow_none=True, metadata=_MONEY)
    high = fields.Str(required=True, allow_none=True, metadata=_MONEY)
    n = fields.Int(required=True)
    observed_days = fields.Int(required=True)
    set_aside = fields.Int(required=True, metadata={"description": "Outliers among what was observed"})


class PricingMeta(Meta):
    """The meta of a pricing history."""

    conversion = conversion_meta()
    outliers = fields.Nested(OutlierMeta(), required=True)
    statistics = fields.List(fields.Nested(PriceStatistic()), required=True)
    unit_prices = fields.List(
        fields.Nested(UnitPrice()),
        required=True,
        metadata={"description": "Statistics for each kilogram, litre or piece; empty where the content is unknown"},
    )
    reductions = fields.List(
        fields.Nested(ReductionSummary()),
        required=True,
        metadata={
            "description": "Each channel's running reduction; its evidence is at `/index/pricing/{iid}/reference`"
        },
    )


class PricingReply(Estimate):
    """A pricing history, or with `dry_run` its cost."""

    data = fields.List(fields.Nested(PricingRow()))
    meta = fields.Nested(PricingMeta())


class StageFigure(Schema):
    """Contribution of one stage of the life cycle; a credit is negative."""

    stage = fields.Str(required=True, metadata={"example": "upstream"})
    per_unit = fields.Float(required=True)
    basis = fields.Str(required=True, validate=validate.OneOf(["measured", "modelled"]))
    method = fields.Str(required=True)


class SustainabilityRow(Schema):
    """One indicator. A value that no source has is null."""

    indicator = fields.Str(required=True, validate=validate.OneOf(CODES))
    unit = fields.Str(required=True, metadata={"example": "kg CO2e"})
    per_unit = fields.Float(required=True, allow_none=True, metadata={"example": 0.98})
    units_observed = fields.Int(required=True, metadata={"description": "Units sold in the range", "example": 270})
    cumulative = fields.Float(
        required=True,
        allow_none=True,
        metadata={
            "description": "Figure for the units sold; for one unit if the basis is the assortment",
            "example": 264.6,
        },
    )
    basis = fields.Str(
        required=True, allow_none=True, validate=validate.OneOf(["measured", "modelled", "category_average"])
    )
    scope = fields.Str(required=True, allow_none=True, validate=validate.OneOf(["item", "product_type", "category"]))
    code = fields.Str(required=True, allow_none=True, metadata={"description": "Product type or category"})
    per_kg = fields.Float(required=True, allow_none=True)
    weight_kg = fields.Float(required=True, allow_none=True)
    source = fields.Str(required=True, allow_none=True, metadata={"example": "rivm_food_footprints"})
    license = fields.Str(required=True, allow_none=True)
    method = fields.Str(required=True, allow_none=True)
    samples = fields.Int(
        required=True, allow_none=True, metadata={"description": "Records that the figure is the mean of; 1: its own"}
    )
    cumulative_basis = fields.Str(required=True, validate=validate.OneOf(BASES))
    low = fields.Float(required=True, allow_none=True, metadata={"description": "Lower bound of the middle 95 %"})
    central = fields.Float(required=True, allow_none=True, metadata={"description": "Median, per unit"})
    high = fields.Float(required=True, allow_none=True, metadata={"description": "Upper bound of the middle 95 %"})
    cumulative_low = fields.Float(required=True, allow_none=True)
    cumulative_central = fields.Float(required=True, allow_none=True)
    cumulative_high = fields.Float(required=True, allow_none=True)
    interval_from = fields.Str(
        required=True,
        allow_none=True,
        validate=validate.OneOf(ORIGINS),
        metadata={"description": "Origin of the interval"},
    )
    avoided_low = fields.Float(required=True, allow_none=True)
    avoided = fields.Float(
        required=True, allow_none=True, metadata={"description": "Displacement rate times the median of all units"}
    )
    avoided_high = fields.Float(required=True, allow_none=True)
    stages = fields.List(
        fields.Nested(StageFigure()),
        required=True,
        metadata={"description": "Stages that sources list; they need not add up to `per_unit`"},
    )


class SustainabilityMeta(Meta):
    """The meta of an item's figures."""

    basis = fields.Str(
        required=True,
        validate=validate.OneOf(BASES),
        metadata={"description": "What cumulative figures count; units sold, or each item once"},
    )
    displacement = fields.Nested(DisplacementMeta(), required=True, allow_none=True)


class SustainabilityReply(Estimate):
    """The figures of an item, or with `dry_run` their cost."""

    data = fields.List(fields.Nested(SustainabilityRow()))
    meta = fields.Nested(SustainabilityMeta())
