"""Parameters and answers of the reports, declared once."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from edge.analytics.conversion import ConvertQuery, conversion_meta
from edge.analytics.envelope import Analysis, Day, Meta, OutlierMeta, outliers_field
from edge.analytics.report_rows import KINDS, BrandRow, CategoryRow, CohortRow, PriceIndexRow
from edge.http.parameters import CurrencyCode, CursorText, Flag, Parameters, Utf8, WholeNumber
from shared.analytics.footprint import BASES
from shared.analytics.results import MEDIA_TYPES
from shared.price_index.offered import DEFAULT_METHOD, DEFAULT_SPLICE, METHODS, SPLICES, offered_method

# How an answer is returned, not what is asked: equal questions in different formats are one computation each.
_PRESENTATION = frozenset({"format", "dry_run"})
# They come first in a question's one spelling, which a dry run returns.
_SELECTION = ("brand", "category")
_LIST_MAX = 100
_GROUPS_MAX = 2


def listed(
    field: fields.Field[Any], sentence: str, most: int = _LIST_MAX, example: str | None = None
) -> fields.List[Any]:
    """Declare a parameter that may be repeated."""
    description: dict[str, Any] = {"description": sentence, "explode": True}
    if example:
        description["example"] = [example]
    return fields.List(field, load_default=list, validate=validate.Length(0, most), metadata=description)


def groups(*names: str) -> fields.List[Any]:
    """Declare what an answer may be grouped by."""
    return listed(fields.Str(validate=validate.OneOf(names)), "Group by this; repeat for a second", _GROUPS_MAX)


def granularity(default: str | None, *longer: str) -> fields.Str:
    """Declare the length of a period; `longer` are those beyond months."""
    description = f"default: {default}" if default else "default: the whole range is one period"
    return fields.Str(
        load_default=default,
        validate=validate.OneOf(["day", "week", "month", *longer]),
        metadata={"description": f"Length of a period; {description}"},
    )


def kind_field() -> fields.Str:
    """Declare of which observations the statistics of prices are."""
    description = (
        "Observations that count; offers seen, sales, or both in one statistic; default: listings where there are any"
    )
    return fields.Str(load_default=None, validate=validate.OneOf(KINDS), metadata={"description": description})


class ReportQuery(Parameters):
    """The parameters of all reports."""

    from_ = Day(
        data_key="from", load_default=None, metadata={"description": "First day; default: the last 90 days with data"}
    )
    to = Day(load_default=None, metadata={"description": "Last day, inclusive"})
    granularity = granularity(None)
    channel = listed(Utf8(1, 200), "Only this channel; repeat for more", example="WELLCOME")
    currency = CurrencyCode()
    format = fields.Str(
        load_default=None,
        validate=validate.OneOf(list(MEDIA_TYPES)),
        metadata={"description": "Format of the answer; default: the one that `Accept` prefers"},
    )
    dry_run = Flag(load_default=False, metadata={"description": "Return the cost and charge nothing"})

    @validates_schema
    def in_order(self, data: Mapping[str, Any], **options: Any) -> None:
        """The first day must not come after the last."""
        first, last = data.get("from_"), data.get("to")
        if first is not None and last is not None and first > last:
            raise ValidationError("must not be before `from`", "to")


class CohortsQuery(ConvertQuery, ReportQuery):
    """Query of a cohort."""

    brand = listed(Utf8(1, 200), "Brand (slug); repeat for more: any of them", example="vitasoy")
    category = listed(Utf8(1, 400), "Category (code) and those below it; repeat for more: any of them")
    granularity = granularity("month")
    group_by = groups("brand", "category", "channel")
    kind = kind_field()
    outliers = outliers_field()

    @validates_schema
    def names_something(self, data: Mapping[str, Any], **options: Any) -> None:
        """A cohort is some brands, some categories, or both."""
        if not data.get("brand") and not data.get("category"):
            raise ValidationError("is required, or `category`: a cohort is one of them at least", "brand")


class InsightsQuery(ConvertQuery, ReportQuery):
    """Query of insights."""

    kind = kind_field()
    outliers = outliers_field()


class OneInsightQuery(InsightsQuery):
    """Query of the insights of one brand or category."""

    group_by = listed(fields.Str(validate=validate.OneOf(["channel"])), "Rows for each channel apart", 1)


def _sort(by_name: str, default: str) -> fields.Str:
    allowed = ("observations", "-observations", by_name, f"-{by_name}")
    description = f"Order of the list, `-` from the end; default: {default}"
    return fields.Str(load_default=default, validate=validate.OneOf(allowed), metadata={"description": description})


class BrandListQuery(InsightsQuery):
    """Query of the insights of many brands."""

    sort = _sort("brand", "-observations")
    limit = WholeNumber(1, 500, load_default=50)
    cursor = CursorText()


class CategoryListQuery(InsightsQuery):
    """Query of the insights of many categories."""

    sort = _sort("category", "category")
    limit = WholeNumber(1, 500, load_default=500)
    cursor = CursorText()
    parent = Utf8(
        1, 400, load_default=None, metadata={"description": "Only the children of this category; default: first level"}
    )


class MethodName(fields.String):
    """A method of price indices, by any usual spelling; the same method is the same question."""

    def __init__(self, **options: Any) -> None:
        super().__init__(validate=validate.OneOf(list(METHODS)), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> str:
        name = offered_method(str(super()._deserialize(value, attr, data, **options)))
        if name is None:
            raise ValidationError(f"must be one of {', '.join(METHODS)}")
        return name


class PriceIndexQuery(ConvertQuery, ReportQuery):
    """Query of a price index."""

    brand = listed(Utf8(1, 200), "Brand (slug); repeat for more: any of them", example="vitasoy")
    category = listed(Utf8(1, 400), "Category (code) and those below it; repeat for more: any of them")
    granularity = granularity("month", "quarter", "year")
    kind = fields.Str(
        load_default=None,
        validate=validate.OneOf(KINDS[:2]),
        metadata={
            "description": "Observations that count; offers seen or sales; default: sales for methods that weight by "
            "units, else listings where there are any"
        },
    )
    outliers = outliers_field()
    method = MethodName(
        load_default=DEFAULT_METHOD,
        metadata={
            "description": f"Index formula; usual spellings of it, as ccdi, are the same; default: {DEFAULT_METHOD}",
            "example": DEFAULT_METHOD,
        },
    )
    window = WholeNumber(
        2,
        400,
        load_default=None,
        metadata={"description": "Periods of a window, for geks-*, tpd and geary-khamis; default: all that have data"},
    )
    splice = fields.Str(
        load_default=DEFAULT_SPLICE,
        validate=validate.OneOf(SPLICES),
        metadata={"description": f"Splice that links a further period to earlier windows; default: {DEFAULT_SPLICE}"},
    )

    @validates_schema
    def can_be_answered(self, data: Mapping[str, Any], **options: Any) -> None:
        """An index is of some brands or categories; not every method weights offers."""
        if not data.get("brand") and not data.get("category"):
            raise ValidationError("is required, or `category`: an index is of one of them at least", "brand")
        if data.get("kind") == "listing" and METHODS.get(data.get("method", ""), False):
            raise ValidationError("weights items by units sold, which listings do not have", "method")


class CategoryPath(Parameters):
    """Path of one category."""

    code = Utf8(1, 400, required=True, metadata={"description": "Category code", "example": "drinks.soy-milk"})


class BrandPath(Parameters):
    """Path of one brand."""

    slug = Utf8(1, 200, required=True, metadata={"description": "Brand slug", "example": "vitasoy"})


class ReportMeta(Meta):
    """The meta of a report."""

    kind = fields.Str(
        validate=validate.OneOf(KINDS), metadata={"description": "Observations behind the statistics of prices"}
    )
    basis = fields.Str(
        validate=validate.OneOf(BASES),
        metadata={"description": "Multiplier of footprints; units sold, or 1 for each item"},
    )
    outliers = fields.Nested(OutlierMeta(), metadata={"description": "Only in reports with statistics of prices"})
    conversion = conversion_meta()
    window_ended_by = fields.Str(
        validate=validate.OneOf(["request", "data", "index", "today"]),
        metadata={
            "description": "Origin of `to`; the request, the last day with enough data for the filters, that of the "
            "whole index if the filters match no observation, or today if the index is empty"
        },
    )
    total = fields.Int(metadata={"description": "Number of brands or categories in the whole list"})
    next_cursor = fields.Str(
        allow_none=True,
        metadata={"description": "`cursor` of the next page of a list; null on the last. Also in `Link: rel=next`"},
    )


class ReportAnswer(Analysis):
    """Base of every report's answer; a report adds its `data`."""

    meta = fields.Nested(ReportMeta(), required=True)


class CohortReport(ReportAnswer):
    """A cohort."""

    data = fields.List(fields.Nested(CohortRow()), required=True)


class CategoryReport(ReportAnswer):
    """Insights of categories."""

    data = fields.List(fields.Nested(CategoryRow()), required=True)


class BrandReport(ReportAnswer):
    """Insights of brands."""

    data = fields.List(fields.Nested(BrandRow()), required=True)


class PriceIndexReport(ReportAnswer):
    """A price index."""

    data = fields.List(fields.Nested(PriceIndexRow()), required=True)


@cache
def question_names(query: type[ReportQuery]) -> tuple[str, ...]:
    """Return the parameters of a query that say what is asked, by the names that callers use, in one order."""
    names = [field.data_key or name for name, field in query().fields.items()]
    return tuple(sorted((name for name in names if name not in _PRESENTATION), key=lambda name: name not in _SELECTION))


def question_of(query: type[ReportQuery], loaded: dict[str, Any]) -> dict[str, Any]:
    """Return a question in its one spelling: days as text, lists sorted and without twins, groups in their order."""
    spelled: dict[str, Any] = {}
    for name in question_names(query):
        value = loaded["from_" if name == "from" else name]
        if isinstance(value, list):
            value = list(dict.fromkeys(value)) if name == "group_by" else sorted(set(value))
        spelled[name] = value.isoformat() if isinstance(value, date) else value
    return spelled
