"""Parameters and answers of the light reads, declared once."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from edge.analytics.conversion import ConvertQuery, conversion_meta, original_currency
from edge.analytics.envelope import (
    Analysis,
    LightFormat,
    LightQuery,
    Meta,
    OutlierMeta,
    observed_prices_field,
    outliers_field,
)
from edge.http.parameters import (
    CurrencyCode,
    Day,
    DecimalNumber,
    Flag,
    QueryParameters,
    Utf8,
    WholeNumber,
    field_doc,
    list_parameter,
    one_of,
)
from edge.index.record_schemas import pedigree_field, reference_year_field
from shared.analytics.footprint import BASES, CODES, WEIGHT_BASES
from shared.prior_price import Reason
from shared.uncertainty.stated import ORIGINS, RATES
from shared.units.names import PER

_MONEY = {"format": "decimal", "description": "Decimal amount in `currency`", "example": "10.90"}
_UNIT_PRICE = {**_MONEY, "example": "18.900000"}


class DisplacementQuery(QueryParameters):
    """The parameter of every answer with footprints of sales: how many new items each of them displaces."""

    displacement = one_of(RATES, "Add the impact avoided by sales; at WRAP's displacement rate for resale or repair")
    displacement_rate = DecimalNumber(
        0,
        1,
        load_default=None,
        metadata=field_doc("New items displaced per unit sold; alternative to `displacement`", example=0.5),
    )

    @validates_schema
    def one_rate(self, data: Mapping[str, Any], **options: Any) -> None:
        """A scenario is a rate, so that a second one beside it would contradict it."""
        if data.get("displacement") is not None and data.get("displacement_rate") is not None:
            raise ValidationError("cannot be combined with `displacement`", "displacement_rate")


class DisplacementMeta(Schema):
    """How many new items each unit displaces, the source of this rate, and which units are counted."""

    rate = fields.Float(required=True, metadata={"example": 0.646})
    citation = fields.Str(required=True)
    counted = fields.Str(required=True, metadata=field_doc("Which units are multiplied by the rate"))


class ProgressiveQuery(QueryParameters):
    """The parameters of Art. 6a(5): a choice that the law leaves to a Member State, for all who judge reductions."""

    progressive = Flag(
        load_default=None,
        metadata=field_doc(
            "Whether Art. 6a(5) applies; a reduction in several steps is then compared with the "
            "price before its first step; if absent, it is left undecided"
        ),
    )
    progressive_days = WholeNumber(
        1,
        366,
        load_default=None,
        metadata=field_doc("Days after the first step; with `progressive=true`, further steps within them count"),
    )

    @validates_schema
    def days_of_a_rule(self, data: Mapping[str, Any], **options: Any) -> None:
        """The days limit a rule; without it they would be ignored silently."""
        if data.get("progressive_days") is not None and not data.get("progressive"):
            raise ValidationError("needs `progressive=true`: it limits that rule", "progressive_days")


class PriorPriceQuery(ProgressiveQuery, ConvertQuery, LightFormat):
    """Query of a prior price."""

    asked_on = Day(load_default=None, metadata=field_doc("Date to evaluate; default: each channel's last observed day"))
    channel = list_parameter(Utf8(1, 200), "Only this channel; repeat to select several")
    currency = CurrencyCode()
    outliers = observed_prices_field()
    first_offered = Day(
        load_default=None,
        metadata=field_doc(
            "Day on which the item was first offered, if the market applies Art. 6a(4): fewer than 30 "
            "days may then suffice"
        ),
    )


class ReductionSummary(Schema):
    """The current reduction of one channel, according to the observations."""

    channel = fields.Str(required=True, metadata={"example": "WELLCOME"})
    currency = fields.Str(required=True, metadata={"example": "HKD"})
    original_currency = original_currency()
    as_of = fields.Date(required=True)
    price = fields.Str(required=True, allow_none=True, metadata=_MONEY)
    reduction_began_on = fields.Date(required=True, allow_none=True)
    prior_price = fields.Str(required=True, allow_none=True, metadata=_MONEY)
    percent = fields.Str(required=True, allow_none=True, metadata={"format": "decimal", "example": "20.00"})
    applicable = fields.Bool(
        required=True, metadata=field_doc("Whether the prior price is known and the price is below it")
    )
    reason = fields.Str(required=True, allow_none=True, validate=validate.OneOf([reason.value for reason in Reason]))
    known = fields.Bool(required=True, metadata=field_doc("Whether the observations suffice for a decision"))
    at_most = fields.Str(
        required=True,
        allow_none=True,
        metadata={
            "format": "decimal",
            "description": "If the prior price is unknown: the lowest price observed in that period",
        },
    )


class EvidenceDay(Schema):
    """The lowest price of a day."""

    day = fields.Date(required=True)
    price = fields.Str(required=True, metadata=_MONEY)


class PriorPriceRow(ReductionSummary):
    """A reduction with the days on which its evaluation is based."""

    lowest_on = fields.List(fields.Date(), required=True)
    evidence = fields.List(fields.Nested(EvidenceDay()), required=True)


class PriorPriceMeta(Meta):
    """Context of prior prices."""

    conversion = conversion_meta()


class PriorPriceReport(Analysis):
    """The reductions of an item."""

    data = fields.List(fields.Nested(PriorPriceRow()), required=True)
    meta = fields.Nested(PriorPriceMeta(), required=True)


class PricingQuery(ConvertQuery, LightQuery):
    """Query of a price history."""

    currency = CurrencyCode()
    kind = one_of(["listing", "sale"], "Only listings or only sales; default: both, in separate rows and statistics")
    outliers = outliers_field()


class SustainabilityQuery(DisplacementQuery, LightQuery):
    """Query of an item's footprint."""


class PricingRow(Schema):
    """Prices of an item on one day in one channel."""

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
    """Prices of the last `days` days in one currency and kind."""

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
    set_aside = fields.Int(required=True, metadata=field_doc("Number of outliers among the observations"))


class UnitPrice(Schema):
    """Prices of the last `days` days per unit of content."""

    days = fields.Int(required=True, validate=validate.OneOf([7, 30, 90, 365]))
    currency = fields.Str(required=True, metadata={"example": "HKD"})
    original_currency = original_currency()
    kind = fields.Str(required=True, validate=validate.OneOf(["listing", "sale"]))
    per = fields.Str(required=True, validate=validate.OneOf([unit for unit, _ in PER.values()]))
    content = fields.Str(required=True, metadata={"description": "Content of an item", "example": "1.5"})
    read_in = fields.Str(required=True, metadata={"description": "`name` or the attribute", "example": "name"})
    low = fields.Str(required=True, allow_none=True, metadata=_UNIT_PRICE)
    median = fields.Str(required=True, allow_none=True, metadata=_UNIT_PRICE)
    high = fields.Str(required=True, allow_none=True, metadata=_UNIT_PRICE)


class PricingMeta(Meta):
    """Context of a price history."""

    conversion = conversion_meta()
    outliers = fields.Nested(OutlierMeta(), required=True)
    statistics = fields.List(fields.Nested(PriceStatistic()), required=True)
    unit_prices = fields.List(
        fields.Nested(UnitPrice()),
        required=True,
        metadata=field_doc("Statistics per kilogram, litre, piece or metre; empty if the content is unknown"),
    )
    reductions = fields.List(
        fields.Nested(ReductionSummary()),
        required=True,
        metadata=field_doc("Each channel's current reduction; the evidence is at `/index/pricing/{iid}/reference`"),
    )


class PricingReport(Analysis):
    """A price history."""

    data = fields.List(fields.Nested(PricingRow()), required=True)
    meta = fields.Nested(PricingMeta(), required=True)


class StageFigure(Schema):
    """Contribution of one life-cycle stage; a credit is negative."""

    stage = fields.Str(required=True, metadata={"example": "upstream"})
    per_unit = fields.Float(required=True)
    basis = fields.Str(required=True, validate=validate.OneOf(["measured", "modelled"]))
    method = fields.Str(required=True)


class SustainabilityRow(Schema):
    """One indicator. Unknown values are null."""

    indicator = fields.Str(required=True, validate=validate.OneOf(CODES))
    unit = fields.Str(required=True, metadata={"example": "kg CO2e"})
    per_unit = fields.Float(required=True, allow_none=True, metadata={"example": 0.98})
    units_observed = fields.Int(required=True, metadata=field_doc("Units sold in the range", example=270))
    cumulative = fields.Float(
        required=True,
        allow_none=True,
        metadata=field_doc("Figure for all units sold, or for one unit if the basis is the assortment", example=264.6),
    )
    basis = fields.Str(
        required=True, allow_none=True, validate=validate.OneOf(["measured", "modelled", "category_average"])
    )
    scope = fields.Str(required=True, allow_none=True, validate=validate.OneOf(["item", "product_type", "category"]))
    code = fields.Str(required=True, allow_none=True, metadata=field_doc("Product type or category"))
    per_kg = fields.Float(required=True, allow_none=True)
    weight_kg = fields.Float(required=True, allow_none=True)
    source = fields.Str(required=True, allow_none=True, metadata={"example": "rivm_food_footprints"})
    license = fields.Str(required=True, allow_none=True)
    method = fields.Str(required=True, allow_none=True)
    samples = fields.Int(
        required=True,
        allow_none=True,
        metadata=field_doc("Number of records averaged; 1 if the figure is the item's own"),
    )
    cumulative_basis = fields.Str(required=True, validate=validate.OneOf(BASES))
    low = fields.Float(required=True, allow_none=True, metadata=field_doc("Lower bound of the middle 95 %"))
    central = fields.Float(required=True, allow_none=True, metadata=field_doc("Median, per unit"))
    high = fields.Float(required=True, allow_none=True, metadata=field_doc("Upper bound of the middle 95 %"))
    cumulative_low = fields.Float(required=True, allow_none=True)
    cumulative_central = fields.Float(required=True, allow_none=True)
    cumulative_high = fields.Float(required=True, allow_none=True)
    interval_from = fields.Str(
        required=True, allow_none=True, validate=validate.OneOf(ORIGINS), metadata=field_doc("Origin of the interval")
    )
    avoided_low = fields.Float(required=True, allow_none=True)
    avoided = fields.Float(required=True, allow_none=True, metadata=field_doc("Displacement rate times `cumulative`"))
    avoided_high = fields.Float(required=True, allow_none=True)
    stages = fields.List(
        fields.Nested(StageFigure()),
        required=True,
        metadata=field_doc("Stages listed by sources; they need not add up to `per_unit`"),
    )
    weight_basis = fields.Str(
        required=True,
        allow_none=True,
        validate=validate.OneOf(WEIGHT_BASES),
        metadata=field_doc("What the kilograms are of: the article as sold, as consumed, or dry"),
    )
    as_of = fields.Date(
        required=True,
        allow_none=True,
        metadata=field_doc("Day to which the source's figure for the item applies; null of an average"),
    )
    pedigree = pedigree_field()
    reference_year = reference_year_field()


class SustainabilityMeta(Meta):
    """Context of an item's figures."""

    basis = one_of(BASES, "What cumulative figures count: units sold, or each item once", required=True)
    displacement = fields.Nested(DisplacementMeta(), required=True, allow_none=True)


class SustainabilityReport(Analysis):
    """The figures of an item."""

    data = fields.List(fields.Nested(SustainabilityRow()), required=True)
    meta = fields.Nested(SustainabilityMeta(), required=True)
