"""Parameters and answer of the prior price."""

from marshmallow import Schema, fields, validate

from edge.analytics.amount_fields import original_currency
from edge.analytics.conversion import ConvertQuery, conversion_meta
from edge.analytics.envelope import Day, Estimate, LightFormat, Meta, outliers_field
from edge.http.parameters import CurrencyCode, Flag, Utf8, WholeNumber
from shared.prior_price.model import Reason

_MONEY = {"description": "Decimal amount in `currency`", "example": "10.90"}


class PriorPriceQuery(ConvertQuery, LightFormat):
    """Query of a prior price: a choice that the law leaves to a Member State is a parameter."""

    asked_on = Day(
        load_default=None, metadata={"description": "Day to judge; default: each channel's last observed day"}
    )
    channel = fields.List(
        Utf8(1, 200),
        load_default=list,
        validate=validate.Length(0, 100),
        metadata={"description": "Only this channel; repeat for more", "explode": True},
    )
    currency = CurrencyCode()
    outliers = outliers_field()
    progressive = Flag(
        load_default=None,
        metadata={
            "description": "Whether the market uses Art. 6a(5); a reduction of several steps then has the price before "
            "the first one; without it such a reduction is not judged"
        },
    )
    progressive_days = WholeNumber(
        1, 366, load_default=None, metadata={"description": "Steps count that begin within so many days of the first"}
    )
    first_offered = Day(
        load_default=None,
        metadata={
            "description": "The market uses Art. 6a(4) and the item was first offered on this day; fewer than 30 days "
            "may then suffice"
        },
    )


class ReductionSummary(Schema):
    """The running reduction of one channel; as the observations show it."""

    channel = fields.Str(required=True, metadata={"example": "WELLCOME"})
    currency = fields.Str(required=True, metadata={"example": "HKD"})
    original_currency = original_currency()
    as_of = fields.Date(required=True)
    price = fields.Str(required=True, allow_none=True, metadata=_MONEY)
    reduction_began_on = fields.Date(required=True, allow_none=True)
    prior_price = fields.Str(required=True, allow_none=True, metadata=_MONEY)
    percent = fields.Str(required=True, allow_none=True, metadata={"example": "20.00"})
    applicable = fields.Bool(
        required=True, metadata={"description": "Whether the price is below a prior price that is known"}
    )
    reason = fields.Str(required=True, allow_none=True, validate=validate.OneOf([reason.value for reason in Reason]))
    known = fields.Bool(required=True, metadata={"description": "Whether the observations suffice to judge"})
    at_most = fields.Str(
        required=True,
        allow_none=True,
        metadata={"description": "Lowest price observed in its days; if the prior price is unknown"},
    )


class EvidenceDay(Schema):
    """The lowest price of a day."""

    day = fields.Date(required=True)
    price = fields.Str(required=True, metadata=_MONEY)


class PriorPriceRow(ReductionSummary):
    """A reduction with the days that it is judged by."""

    lowest_on = fields.List(fields.Date(), required=True)
    evidence = fields.List(fields.Nested(EvidenceDay()), required=True)


class PriorPriceMeta(Meta):
    """The meta of prior prices."""

    conversion = conversion_meta()


class PriorPriceReply(Estimate):
    """The reductions of an item, or with `dry_run` their cost."""

    data = fields.List(fields.Nested(PriorPriceRow()))
    meta = fields.Nested(PriorPriceMeta())
