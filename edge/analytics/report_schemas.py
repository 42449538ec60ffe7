"""The parameters and the answers of the reports."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from edge.analytics.conversion import ConvertQuery, conversion_meta, original_currency
from edge.analytics.envelope import Analysis, Day, Meta, OutlierMeta, observed_prices_field, outliers_field
from edge.analytics.schemas import DisplacementMeta, DisplacementQuery, ProgressiveQuery
from edge.http.parameters import (
    CurrencyCode,
    CursorText,
    Flag,
    PathParameters,
    QueryParameters,
    Utf8,
    WholeNumber,
    described,
    listed,
    one_of,
    with_members,
)
from shared.analytics.footprint import BASES, CODES, INDICATORS, Indicator
from shared.analytics.manifest import MEDIA_TYPES
from shared.analytics.observations import KIND_OF_LETTER, OBSERVATION_KINDS
from shared.price_index.offered import (
    DEFAULT_MATCH,
    DEFAULT_METHOD,
    DEFAULT_SPLICE,
    MATCHES,
    METHODS,
    OTHER_METHOD,
    SPLICES,
    UNITS_NEEDED,
    offered_method,
)


def _amount(sentence: str = "") -> fields.Str:
    description = f"{sentence}; decimal amount in `currency`" if sentence else "Decimal amount in `currency`"
    metadata = {"format": "decimal", "description": description, "example": "10.90"}
    return fields.Str(allow_none=True, metadata=metadata)


def _share(sentence: str) -> fields.Float:
    return fields.Float(allow_none=True, metadata=described(sentence, example=0.25))


def _count(sentence: str, *, nullable: bool = False) -> fields.Int:
    return fields.Int(allow_none=nullable, metadata=described(sentence, example=12))


def _text(sentence: str, *, nullable: bool = False, **options: Any) -> fields.Str:
    return fields.Str(allow_none=nullable, metadata=described(sentence), **options)


class PeriodRow(Schema):
    """The members that every row begins with."""

    period = fields.Date(metadata=described("First day of the period", example="2026-07-01"))
    partial_period = fields.Bool(metadata=described("Whether the range holds only a part of the period"))


class PriceRow(PeriodRow):
    """Members of every statistic of prices."""

    currency = _text("ISO 4217")
    original_currency = original_currency()
    kind = _text("Which observations the row covers", validate=validate.OneOf(OBSERVATION_KINDS))
    items = _count("Distinct items")
    observations = _count("Observations")
    set_aside = _count("Outliers; price statistics exclude them unless `outliers=include`")
    list_price_n = _count("Observations with a list price")
    promotion_share = _share("Share of `list_price_n` with a price below the list price")
    discount_mean = _share("Mean discount (1 − price / list price) of observations on promotion")
    discount_median = _share("Median discount of observations on promotion")


class GroupedRow(PeriodRow):
    """The columns of `group_by`: only those asked for; null for items without brand or category."""

    brand = _text("Slug", nullable=True)
    category = _text("Code", nullable=True)
    channel = _text("Code", nullable=True)


class ChannelShare(Schema):
    """A channel's share."""

    channel = _text("Code")
    observations = _count("Observations")
    share = _share("Share of observations")


class ChannelMedian(Schema):
    """A channel's items and their median price."""

    channel = _text("Code")
    items = _count("Distinct items")
    observations = _count("Observations")
    share = _share("Share of the row's items; an item of several channels counts in each")
    median = _amount()


class CohortRow(PriceRow, GroupedRow):
    """A cohort in one period, group and currency."""

    price_n = _count("Prices used in the statistics")
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
    first_day = fields.Date(metadata=described("First day with data"))
    last_day = fields.Date(metadata=described("Last day with data"))


class PriceChangeRow(PriceRow):
    """The change of prices of the same items, beside that of the median."""

    index_change = _share(
        "Change of the Jevons price index over the items that a channel has in both periods; null with `kind=both`"
    )
    index_change_low = _share("Lower end of the 95 % interval; null below three matched items, or if all changed alike")
    index_change_high = _share("Upper end of the 95 % interval")
    share_matched = _share("Share of the period's items that are also in the previous period")


class TopBrand(Schema):
    """A brand with many items in a category."""

    brand = _text("Slug")
    name = _text("Name")
    items = _count("Distinct items")
    observations = _count("Observations")
    share = _share("Share of the category's items")
    median = _amount()


class CategoryRow(PriceChangeRow):
    """A category in one period and currency."""

    category = _text("Code")
    path = fields.List(fields.Str())
    channel = _text("Code; only with `group_by=channel`")
    median = _amount()
    median_before = _amount("Median price of the whole previous period")
    median_change = _share("median / median_before - 1")
    observations_before = _count("Observations of the whole previous period", nullable=True)
    rank = _count("Rank by items among categories of the same depth, within the filters", nullable=True)
    rank_before = _count("Rank in the whole previous period", nullable=True)
    ranked = _count("Number of ranked categories", nullable=True)
    channels = fields.List(fields.Nested(ChannelMedian()))
    top_brands = fields.List(fields.Nested(TopBrand()))


class BrandCategory(Schema):
    """A brand's figures in one category."""

    category = _text("Code", nullable=True)
    items = _count("Distinct items")
    observations = _count("Observations")
    share = _share("Share of the brand's items")
    median = _amount("Median price of the brand in the category")
    category_median = _amount("Median price of the category")
    against_category = _share("median / category_median")


class Peer(Schema):
    """Another brand in the brand's largest category."""

    brand = _text("Slug")
    name = _text("Name")
    items = _count("Distinct items")
    observations = _count("Observations")
    median = _amount()


class BrandRow(PriceChangeRow):
    """A brand in one period and currency."""

    brand = _text("Slug")
    name = _text("Name")
    channel = _text("Code; only with `group_by=channel`")
    rank = _count("Rank by items among all brands, within the filters")
    rank_before = _count("Rank in the whole previous period", nullable=True)
    ranked = _count("Number of ranked brands")
    percentile = fields.Float(metadata=described("Percentage of the other brands with fewer items", example=97.5))
    median = _amount()
    median_change = _share("Change of the median since the whole previous period; 0.1 means 10 % higher")
    against_categories = _share("Mean of median / category median over the brand's categories, weighted by its items")
    categories = fields.List(fields.Nested(BrandCategory()))
    peers = fields.List(fields.Nested(Peer()))


def _index(sentence: str) -> fields.Float:
    return fields.Float(allow_none=True, metadata=described(sentence, example=103.25))


class PriceIndexRow(PeriodRow):
    """A price index in one period and currency."""

    currency = _text("ISO 4217")
    original_currency = original_currency()
    kind = _text("Which observations the row covers", validate=validate.OneOf(KIND_OF_LETTER.values()))
    index = _index("Price index, first period = 100; null if no matched items link the period to the first one")
    low = _index("Lower end of the 95 % interval; null below three matched items, or if all changed alike")
    high = _index("Upper end of the 95 % interval")
    items = _count("Distinct items with a price above zero")
    set_aside = _count("Outliers; price statistics exclude them unless `outliers=include`")
    matched_items = _count(
        "Items with a price that the period `compared_with` has too (see `match`); null in the first period",
        nullable=True,
    )
    matched_prices = _count("Those prices: of an item one for each channel, unless `match=item`", nullable=True)
    share_matched = _share("matched_items / items; null in the first period")
    new_items = _count("Items without such a price", nullable=True)
    vanished_items = _count("Items of the period `compared_with` without such a price", nullable=True)
    compared_with = fields.Date(
        allow_none=True, metadata=described("Previous period with data; null in the first period")
    )
    median = _amount("Median of all observed prices, whatever the assortment")
    median_index = _index("Median price, first period = 100")


class ReductionRow(PeriodRow):
    """Announced reductions that began in a period, in one channel and currency."""

    channel = _text("Code")
    currency = _text("ISO 4217")
    items = _count("Distinct items with an announced reduction")
    announced = _count("Announced reductions; each further step counts separately")
    holding = _count("Reductions whose list price is not above the prior price")
    overstated = _count("Reductions below the prior price whose list price is above it")
    not_below = _count("Reductions whose price is not below the prior price")
    undecided = _count("Reductions that cannot be decided from the observations")
    share_holding = _share("holding / (announced - undecided); null if all are undecided")


class _RollupCounts(GroupedRow):
    basis = _text("Multiplier of the figures: units sold, or 1 for each item", validate=validate.OneOf(BASES))
    items = _count("Distinct items")
    units = _count("Units sold; null if the basis is the assortment", nullable=True)
    items_covered = _share("Share of items that have a figure")
    items_measured = _share("Share of items with a measured figure of their own")
    measured_items = _count("Items whose best figure is measured")
    modelled_items = _count("Items whose best figure is modelled")
    category_average_items = _count("Items with only an average of their product type or category")


def _total(indicator: Indicator) -> fields.Float:
    description = f"{indicator.title}, {indicator.unit}"
    return fields.Float(allow_none=True, metadata=described(description))


def _bound(bound: str) -> fields.Float:
    description = {
        "low": "Lower bound of the middle 95 %",
        "central": "Median",
        "high": "Upper bound of the middle 95 %",
    }
    return fields.Float(allow_none=True, metadata=described(description[bound]))


class Contributor(Schema):
    """An item with a large share of a sum."""

    indicator = fields.Str(required=True, validate=validate.OneOf(CODES))
    iid = fields.Str(required=True, metadata={"example": "IID-99D2F-46WJ3-4S6N3"})
    share = fields.Float(required=True, metadata=described("Its share of the sum"))


class Avoided(Schema):
    """Avoided impact of the units sold, by one indicator."""

    indicator = fields.Str(required=True, validate=validate.OneOf(CODES))
    low = fields.Float(required=True, metadata=described("Displacement rate times the lower bound of the sum"))
    central = fields.Float(required=True, metadata=described("Displacement rate times the median of the sum"))
    high = fields.Float(required=True, metadata=described("Displacement rate times the upper bound of the sum"))


class StageSum(Schema):
    """What a stage of the life cycle contributes to a sum."""

    indicator = fields.Str(required=True, validate=validate.OneOf(CODES))
    stage = fields.Str(
        required=True,
        allow_none=True,
        metadata=described("Stage as its source names it; null is the rest of the sum", example="upstream"),
    )
    sum = fields.Float(required=True, metadata=described("Part of the sum; credits are negative"))


_TOTALS = {one.code: _total(one) for one in INDICATORS}
_BOUNDS = {f"{one.code}_{bound}": _bound(bound) for one in INDICATORS for bound in ("low", "central", "high")}


class RollupRow(_RollupCounts.from_dict({**_TOTALS, **_BOUNDS})):  # type: ignore[misc]
    """Footprint of the items of a period and group: sums (null without figures), medians and 95 % intervals."""

    contributors = fields.List(
        fields.Nested(Contributor()),
        metadata=described("Items with the largest shares; up to three for each indicator"),
    )
    avoided = fields.List(
        fields.Nested(Avoided()),
        allow_none=True,
        metadata=described(
            "Avoided impact by indicator, with a displacement rate and the basis `sales`; otherwise null"
        ),
    )
    stages = fields.List(
        fields.Nested(StageSum()),
        metadata=described("Parts of the sums by stage of the life cycle; together each is its sum"),
    )


# How an answer is returned, not what is asked: equal questions in different formats are one computation each.
_PRESENTATION = frozenset({"format", "dry_run"})
# They come first in a question's one spelling, which a dry run returns.
_SELECTION = ("brand", "category")
_GROUPS_MAX = 2


def groups(*names: str) -> fields.List[Any]:
    """Declare what an answer may be grouped by."""
    return listed(fields.Str(validate=validate.OneOf(names)), "Group by; repeat for a second one", _GROUPS_MAX)


def granularity(default: str | None, *longer: str) -> fields.Str:
    """Declare the length of a period; `longer` are those beyond months."""
    description = f"default: {default}" if default else "default: the whole range is one period"
    return one_of(["day", "week", "month", *longer], f"Length of a period; {description}", load_default=default)


def kind_field() -> fields.Str:
    """Declare of which observations the statistics of prices are."""
    description = "Prices to use; `both` in one statistic; default: sales if there are only sales, otherwise listings"
    return one_of(OBSERVATION_KINDS, description)


class ReportQuery(QueryParameters):
    """The parameters of all reports."""

    from_ = Day(data_key="from", load_default=None, metadata=described("First day; default: 89 days before `to`"))
    to = Day(load_default=None, metadata=described("Last day, inclusive"))
    granularity = granularity(None)
    channel = listed(Utf8(1, 200), "Only this channel; repeat to select several", example="WELLCOME")
    currency = CurrencyCode()
    format = one_of(MEDIA_TYPES, "Format of the response; default: the one preferred by `Accept`")
    dry_run = Flag(load_default=False, metadata=described("Return the cost without charging"))

    @validates_schema
    def in_order(self, data: Mapping[str, Any], **options: Any) -> None:
        """The first day must not come after the last."""
        first, last = data.get("from_"), data.get("to")
        if first is not None and last is not None and first > last:
            raise ValidationError("must not be before `from`", "to")


class CohortsQuery(ConvertQuery, ReportQuery):
    """Query of a cohort."""

    brand = listed(Utf8(1, 200), "Brand (slug); repeat to select several", example="vitasoy")
    category = listed(Utf8(1, 400), "Category (code); with its subcategories; repeat to select several")
    granularity = granularity("month")
    group_by = groups("brand", "category", "channel")
    kind = kind_field()
    outliers = outliers_field()

    @validates_schema
    def names_something(self, data: Mapping[str, Any], **options: Any) -> None:
        """A cohort is some brands, some categories, or both."""
        if not data.get("brand") and not data.get("category"):
            raise ValidationError("is required unless `category` is given", "brand")


class InsightsQuery(ConvertQuery, ReportQuery):
    """Query of insights."""

    kind = kind_field()
    outliers = outliers_field()


class OneInsightQuery(InsightsQuery):
    """Query of the insights of one brand or category."""

    group_by = listed(fields.Str(validate=validate.OneOf(["channel"])), "Separate rows for each channel", 1)


def _sort(by_name: str, default: str) -> fields.Str:
    allowed = ("items", "-items", "observations", "-observations", by_name, f"-{by_name}")
    description = f"Sort order; `-` reverses it; default: {default}"
    return one_of(allowed, description, load_default=default)


class BrandListQuery(InsightsQuery):
    """Query of the insights of many brands."""

    sort = _sort("brand", "-items")
    limit = WholeNumber(1, 500, load_default=50)
    cursor = CursorText()


class CategoryListQuery(InsightsQuery):
    """Query of the insights of many categories."""

    sort = _sort("category", "category")
    limit = WholeNumber(1, 500, load_default=500)
    cursor = CursorText()
    parent = Utf8(
        1, 400, load_default=None, metadata=described("Only the children of this category; default: first level")
    )


class MethodName(fields.String):
    """A method of price indices, by any usual spelling; the same method is the same question."""

    def __init__(self, **options: Any) -> None:
        super().__init__(validate=validate.OneOf(list(METHODS)), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> str:
        name = offered_method(str(super()._deserialize(value, attr, data, **options)))
        if name is None:
            raise ValidationError(f"must be one of: {', '.join(METHODS)}")
        return name


class PriceIndexQuery(ConvertQuery, ReportQuery):
    """Query of a price index."""

    brand = listed(Utf8(1, 200), "Brand (slug); repeat to select several", example="vitasoy")
    category = listed(Utf8(1, 400), "Category (code); with its subcategories; repeat to select several")
    granularity = granularity("month", "quarter", "year")
    kind = one_of(
        KIND_OF_LETTER.values(),
        "Prices to include: listings or sales; default: sales for methods that weight by units, "
        "otherwise listings if there are any",
    )
    outliers = outliers_field()
    method = MethodName(
        load_default=DEFAULT_METHOD,
        metadata=described(
            f"Index formula; common aliases such as ccdi are accepted; default: {DEFAULT_METHOD}",
            example=DEFAULT_METHOD,
        ),
    )
    window = WholeNumber(
        2,
        400,
        load_default=None,
        metadata=described("Periods in the window; for geks-*, tpd and geary-khamis; default: all with data"),
    )
    splice = one_of(
        SPLICES,
        f"How later periods are linked; default: {DEFAULT_SPLICE}",
        load_default=DEFAULT_SPLICE,
    )
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
        if data.get("kind") == "listing" and METHODS.get(data.get("method", ""), False):
            raise ValidationError(f"{UNITS_NEEDED}, which listings do not have; {OTHER_METHOD}", "method")


class ReductionsQuery(ProgressiveQuery, ReportQuery):
    """Query of announced reductions: those that began in the range."""

    brand = listed(Utf8(1, 200), "Brand (slug); repeat to select several", example="vitasoy")
    category = listed(Utf8(1, 400), "Category (code); with its subcategories; repeat to select several")
    outliers = observed_prices_field()


class RollupQuery(DisplacementQuery, ReportQuery):
    """Query of a sustainability rollup."""

    granularity = granularity("month")
    group_by = groups("brand", "category", "channel")
    brand = listed(Utf8(1, 200), "Brand (slug); repeat to select several", example="vitasoy")
    category = listed(Utf8(1, 400), "Category (code); with its subcategories; repeat to select several")
    basis = one_of(
        BASES,
        "Count each unit sold, or each item once; default: sales if there are any, otherwise the assortment",
    )


class CategoryPath(PathParameters):
    """Path of one category."""

    code = Utf8(1, 400, required=True, metadata=described("Category code", example="drinks.soy-milk"))


class BrandPath(PathParameters):
    """Path of one brand."""

    slug = Utf8(1, 200, required=True, metadata=described("Brand slug", example="vitasoy"))


class ReportMeta(Meta):
    """Context of a report."""

    kind = fields.Str(
        validate=validate.OneOf(OBSERVATION_KINDS),
        metadata=described("Which observations price statistics include"),
    )
    basis = fields.Str(
        validate=validate.OneOf(BASES), metadata=described("Multiplier of footprints: units sold, or 1 for each item")
    )
    outliers = fields.Nested(OutlierMeta(), metadata=described("Only in reports with price statistics"))
    conversion = conversion_meta()
    window_ended_by = fields.Str(
        validate=validate.OneOf(["request", "data", "index", "today"]),
        metadata=described(
            "Origin of `to`; the request, the last day with enough data for the filters, that of the "
            "whole index if the filters match no observation, or today if the index is empty"
        ),
    )
    total = fields.Int(metadata=described("Number of brands or categories that the filters find, on all pages"))
    next_cursor = fields.Str(
        allow_none=True,
        metadata=described("`cursor` of the next page of a list; null on the last. Also in `Link: rel=next`"),
    )


class RollupMeta(ReportMeta):
    """Context of a rollup."""

    displacement = fields.Nested(
        DisplacementMeta(),
        metadata=described("Rate used for `avoided`; only with `displacement` or `displacement_rate`"),
    )


class ReportAnswer(Analysis):
    """Base of every report's answer; a report adds its `data`."""

    meta = fields.Nested(ReportMeta(), required=True)


def report_of(row: type[Schema], name: str, sentence: str) -> type[ReportAnswer]:
    """Declare the answer of a report with these rows, by its name and its sentence in the document."""
    return with_members(ReportAnswer, name, sentence, data=fields.List(fields.Nested(row()), required=True))


CohortReport = report_of(CohortRow, "CohortReport", "A cohort.")
CategoryReport = report_of(CategoryRow, "CategoryReport", "Insights of categories.")
BrandReport = report_of(BrandRow, "BrandReport", "Insights of brands.")
PriceIndexReport = report_of(PriceIndexRow, "PriceIndexReport", "A price index.")
ReductionsReport = report_of(ReductionRow, "ReductionsReport", "Announced reductions.")


class RollupReport(ReportAnswer):
    """A sustainability rollup."""

    meta = fields.Nested(RollupMeta(), required=True)
    data = fields.List(fields.Nested(RollupRow()), required=True)


@cache
def question_names(query: type[ReportQuery]) -> tuple[str, ...]:
    """Return the parameters of a query that say what is asked, by the names that callers use, in one order."""
    names = [field.data_key or name for name, field in query().fields.items()]
    return tuple(sorted((name for name in names if name not in _PRESENTATION), key=lambda name: name not in _SELECTION))


def question_of(query: type[ReportQuery], loaded: dict[str, Any]) -> dict[str, Any]:
    """Return a question in its one spelling: days as text, lists sorted without duplicates, groups in their order."""
    spelled: dict[str, Any] = {}
    for name in question_names(query):
        value = loaded["from_" if name == "from" else name]
        if isinstance(value, list):
            value = list(dict.fromkeys(value)) if name == "group_by" else sorted(set(value))
        spelled[name] = value.isoformat() if isinstance(value, date) else value
    return spelled
