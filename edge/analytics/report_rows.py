"""The rows of the reports, field by field. Every field is in every row; what is unknown is null."""

from typing import Any

from marshmallow import Schema, fields, validate

from edge.analytics.unit_prices import original_currency
from shared.analytics.footprint import BASES, CODES, INDICATORS, Indicator

KINDS = ("listing", "sale", "both")


def _amount(sentence: str = "") -> fields.Str:
    description = f"{sentence}; decimal amount in `currency`" if sentence else "Decimal amount in `currency`"
    metadata = {"format": "decimal", "description": description, "example": "10.90"}
    return fields.Str(allow_none=True, metadata=metadata)


def _share(sentence: str) -> fields.Float:
    return fields.Float(allow_none=True, metadata={"description": sentence, "example": 0.25})


def _count(sentence: str, *, nullable: bool = False) -> fields.Int:
    return fields.Int(allow_none=nullable, metadata={"description": sentence, "example": 12})


def _text(sentence: str, *, nullable: bool = False, **options: Any) -> fields.Str:
    return fields.Str(allow_none=nullable, metadata={"description": sentence}, **options)


class PeriodRow(Schema):
    """The members that every row begins with."""

    period = fields.Date(metadata={"description": "First day of the period", "example": "2026-07-01"})


class PriceRow(PeriodRow):
    """Members of every statistic of prices."""

    currency = _text("ISO 4217")
    original_currency = original_currency()
    kind = _text("Observations that count", validate=validate.OneOf(KINDS))
    items = _count("Distinct items")
    observations = _count("Observations")
    set_aside = _count("Outliers among what was observed; they are in the other figures only if asked for")
    list_price_n = _count("Observations with a list price")
    promotion_share = _share("Share of them whose price is below the list price")
    discount_mean = _share("Mean of 1 - price / list price over observations on promotion")
    discount_median = _share("Median discount over observations on promotion")


class GroupedRow(PeriodRow):
    """The columns of `group_by`: only those asked for; null for items without brand or category."""

    brand = _text("Slug", nullable=True)
    category = _text("Code", nullable=True)
    channel = _text("Code", nullable=True)


class ChannelShare(Schema):
    """A channel's part."""

    channel = _text("Code")
    observations = _count("Observations")
    share = _share("Share of observations")


class ChannelMedian(ChannelShare):
    """A channel's part and its median."""

    median = _amount()


class CohortRow(PriceRow, GroupedRow):
    """A cohort in one period, group and currency."""

    price_n = _count("Prices behind the statistics")
    mean = _amount()
    stddev = _amount("Sample standard deviation; null for a single price")
    p10 = _amount()
    p25 = _amount()
    p50 = _amount()
    p75 = _amount()
    p90 = _amount()
    min = _amount()
    max = _amount()
    channels = fields.List(fields.Nested(ChannelShare()))
    first_day = fields.Date(metadata={"description": "First day with data"})
    last_day = fields.Date(metadata={"description": "Last day with data"})


class PriceChangeRow(PriceRow):
    """The change of prices of the same items, beside that of the median."""

    index_change = _share("Jevons index of the items that both periods have, less 1; null for `kind=both`")
    index_change_low = _share("Lower end of the 95 % bootstrap interval over items")
    index_change_high = _share("Upper end of it")
    share_matched = _share("Share of the period's items that the period before has too")
    median_disagrees = fields.Bool(
        allow_none=True,
        metadata={"description": "Whether `median_change` is outside that interval; then the mix moved it, not prices"},
    )


class TopBrand(Schema):
    """A brand with many observations in a category."""

    brand = _text("Slug")
    name = _text("Name")
    observations = _count("Observations")
    share = _share("Share of the category's observations")
    median = _amount()


class CategoryRow(PriceChangeRow):
    """A category in one period and currency."""

    category = _text("Code")
    path = fields.List(fields.Str())
    channel = _text("Code; only with `group_by=channel`")
    median = _amount()
    median_before = _amount("Median price of the period before")
    median_change = _share("median / median_before - 1")
    observations_before = _count("Observations of the period before", nullable=True)
    rank = _count("Place by observations among categories of equal depth", nullable=True)
    rank_before = _count("The same in the period before", nullable=True)
    ranked = _count("Categories that are ranked", nullable=True)
    channels = fields.List(fields.Nested(ChannelMedian()))
    top_brands = fields.List(fields.Nested(TopBrand()))


class BrandCategory(Schema):
    """A brand's part in one category."""

    category = _text("Code", nullable=True)
    items = _count("Distinct items")
    observations = _count("Observations")
    share = _share("Share of the brand's observations")
    median = _amount("Median price of the brand in the category")
    category_median = _amount("Median price of the category")
    against_category = _share("median / category_median")


class Peer(Schema):
    """Another brand in the brand's largest category."""

    brand = _text("Slug")
    name = _text("Name")
    observations = _count("Observations")
    median = _amount()


class BrandRow(PriceChangeRow):
    """A brand in one period and currency."""

    brand = _text("Slug")
    name = _text("Name")
    channel = _text("Code; only with `group_by=channel`")
    rank = _count("Place by observations among all brands")
    rank_before = _count("The same in the period before", nullable=True)
    ranked = _count("Brands that are ranked")
    percentile = fields.Float(metadata={"description": "Percent of brands with fewer observations", "example": 97.5})
    median = _amount()
    median_change = _share("Median price against the period before; 0.1 is a tenth more")
    against_categories = _share("Median price against the medians of its categories")
    categories = fields.List(fields.Nested(BrandCategory()))
    peers = fields.List(fields.Nested(Peer()))


def _index(sentence: str) -> fields.Float:
    return fields.Float(allow_none=True, metadata={"description": sentence, "example": 103.25})


class PriceIndexRow(PeriodRow):
    """A price index in one period and currency."""

    currency = _text("ISO 4217")
    original_currency = original_currency()
    kind = _text("Observations that count", validate=validate.OneOf(KINDS[:2]))
    index = _index("Price index, first period = 100; null where no matched item connects the period with the first")
    low = _index("Lower end of the 95 % bootstrap interval over items")
    high = _index("Upper end of it")
    items = _count("Distinct items with a price above zero")
    set_aside = _count("Outliers among what was observed; they are in the other figures only if asked for")
    matched_items = _count("Items that the period compared with has too; null in the first period", nullable=True)
    share_matched = _share("matched_items / items; null in the first period")
    new_items = _count("Items that the period compared with has not", nullable=True)
    vanished_items = _count("Items that only the period compared with has", nullable=True)
    compared_with = fields.Date(
        allow_none=True, metadata={"description": "Period before that has data; null in the first period"}
    )
    median = _amount("Median price, whatever the mix")
    median_index = _index("Median price, first period = 100")
    median_disagrees = fields.Bool(
        allow_none=True, metadata={"description": "Whether `median_index` is outside `low` to `high`"}
    )


class ReductionRow(PeriodRow):
    """Announced reductions that began in a period; of one channel and currency."""

    channel = _text("Code")
    currency = _text("ISO 4217")
    items = _count("Distinct items with an announced reduction")
    announced = _count("Announced reductions; a further step counts again")
    holding = _count("Reductions whose list price is not above the prior price")
    overstated = _count("Reductions below the prior price whose list price is above it")
    not_below = _count("Reductions whose price is not below the prior price")
    undecided = _count("Reductions that the observations do not suffice to judge")
    share_holding = _share("holding / (announced - undecided); null where all are undecided")


class _RollupCounts(GroupedRow):
    basis = _text("Multiplier of the figures; units sold, or 1 for each item", validate=validate.OneOf(BASES))
    items = _count("Distinct items")
    units = _count("Units sold; null where the basis is the assortment", nullable=True)
    items_covered = _share("Share of items that have a figure")
    items_measured = _share("Share of items with a measured figure of their own")
    measured_items = _count("Items whose best figure is measured")
    modelled_items = _count("Items whose best figure is modelled")
    category_average_items = _count("Items with only an average; that of their product type or category")


def _total(indicator: Indicator) -> fields.Float:
    description = f"{indicator.title}, {indicator.unit}"
    return fields.Float(allow_none=True, metadata={"description": description})


def _bound(bound: str) -> fields.Float:
    description = {
        "low": "Lower bound of the middle 95 %",
        "central": "Median",
        "high": "Upper bound of the middle 95 %",
    }
    return fields.Float(allow_none=True, metadata={"description": description[bound]})


class Contributor(Schema):
    """An item with a large share of a sum."""

    indicator = fields.Str(required=True, validate=validate.OneOf(CODES))
    iid = fields.Str(required=True, metadata={"example": "IID-99D2F-46WJ3-4S6N3"})
    share = fields.Float(required=True, metadata={"description": "Its share of the sum"})


class Avoided(Schema):
    """Avoided impact of the units sold, by one indicator."""

    indicator = fields.Str(required=True, validate=validate.OneOf(CODES))
    low = fields.Float(required=True, metadata={"description": "Displacement rate times the lower bound of the sum"})
    central = fields.Float(required=True, metadata={"description": "Displacement rate times the median of the sum"})
    high = fields.Float(required=True, metadata={"description": "Displacement rate times the upper bound of the sum"})


_TOTALS = {one.code: _total(one) for one in INDICATORS}
_BOUNDS = {f"{one.code}_{bound}": _bound(bound) for one in INDICATORS for bound in ("low", "central", "high")}


class RollupRow(_RollupCounts.from_dict({**_TOTALS, **_BOUNDS})):  # type: ignore[misc]
    """Footprint of the items of a period and group; sums (null without figures), medians, bounds of the middle 95 %."""

    contributors = fields.List(
        fields.Nested(Contributor()),
        metadata={"description": "Items with the largest shares; up to three for each indicator"},
    )
    avoided = fields.List(
        fields.Nested(Avoided()),
        allow_none=True,
        metadata={
            "description": "Avoided impact by indicator; null unless with a displacement rate and the basis `sales`"
        },
    )
