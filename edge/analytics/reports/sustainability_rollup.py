"""Footprint of the units sold, or of the assortment."""

from marshmallow import Schema, fields, validate

from edge.analytics.findings import Headline, Parameters, Rows, count_of
from edge.analytics.reports.answer import GroupedRow, ReportAnswer, ReportMeta
from edge.analytics.reports.declaration import Picture, Report, ReportEndpoint
from edge.analytics.reports.fields import brands, categories, count_field, granularity, groups, share_field, text_field
from edge.analytics.reports.question import ReportQuery
from edge.analytics.schemas import DisplacementMeta, DisplacementQuery
from edge.analytics.wording import BY_CODE, RowContext, estimate, group_name
from edge.http.parameters import field_doc, one_of
from shared.analytics.footprint import BASES, CODES, INDICATORS, Indicator
from shared.jobs.contract import SUSTAINABILITY_ROLLUP
from shared.organizations.accounts import INSTITUTIONAL


class _RollupCounts(GroupedRow):
    basis = text_field("Multiplier of the figures: units sold, or 1 for each item", validate=validate.OneOf(BASES))
    items = count_field("Distinct items")
    units = count_field("Units sold; null if the basis is the assortment", nullable=True)
    items_covered = share_field("Share of items that have a figure", heading="Items with a figure")
    items_measured = share_field("Share of items with a measured figure of their own", heading="Items measured")
    measured_items = count_field("Items whose best figure is measured")
    modelled_items = count_field("Items whose best figure is modelled")
    category_average_items = count_field("Items with only an average of their product type or category")


def _total(indicator: Indicator) -> fields.Float:
    description = f"{indicator.title}, {indicator.unit}"
    return fields.Float(allow_none=True, metadata=field_doc(description))


def _bound(bound: str) -> fields.Float:
    description = {
        "low": "Lower bound of the middle 95 %",
        "central": "Median",
        "high": "Upper bound of the middle 95 %",
    }
    return fields.Float(allow_none=True, metadata=field_doc(description[bound]))


class Contributor(Schema):
    """An item with a large share of a sum."""

    indicator = fields.Str(required=True, validate=validate.OneOf(CODES))
    iid = fields.Str(required=True, metadata={"example": "IID-99D2F-46WJ3-4S6N3"})
    share = fields.Float(required=True, metadata=field_doc("Its share of the sum"))


class Avoided(Schema):
    """Avoided impact of the units sold, by one indicator."""

    indicator = fields.Str(required=True, validate=validate.OneOf(CODES))
    low = fields.Float(required=True, metadata=field_doc("Displacement rate times the lower bound of the sum"))
    central = fields.Float(required=True, metadata=field_doc("Displacement rate times the median of the sum"))
    high = fields.Float(required=True, metadata=field_doc("Displacement rate times the upper bound of the sum"))


class StageSum(Schema):
    """What a stage of the life cycle contributes to a sum."""

    indicator = fields.Str(required=True, validate=validate.OneOf(CODES))
    stage = fields.Str(
        required=True,
        allow_none=True,
        metadata=field_doc("Stage as its source names it; null is the rest of the sum", example="upstream"),
    )
    sum = fields.Float(required=True, metadata=field_doc("Part of the sum; credits are negative"))


_TOTALS = {one.code: _total(one) for one in INDICATORS}
_BOUNDS = {f"{one.code}_{bound}": _bound(bound) for one in INDICATORS for bound in ("low", "central", "high")}


class RollupRow(_RollupCounts.from_dict({**_TOTALS, **_BOUNDS})):  # type: ignore[misc]
    """Footprint of the items of a period and group: sums (null without figures), medians and 95 % intervals."""

    contributors = fields.List(
        fields.Nested(Contributor()),
        metadata=field_doc("Items with the largest shares; up to three for each indicator"),
    )
    avoided = fields.List(
        fields.Nested(Avoided()),
        allow_none=True,
        metadata=field_doc(
            "Avoided impact by indicator, with a displacement rate and the basis `sales`; otherwise null"
        ),
    )
    stages = fields.List(
        fields.Nested(StageSum()),
        metadata=field_doc("Parts of the sums by stage of the life cycle; together each is its sum"),
    )


class RollupQuery(DisplacementQuery, ReportQuery):
    """Query of a sustainability rollup."""

    granularity = granularity("month")
    group_by = groups("brand", "category", "channel")
    brand = brands()
    category = categories()
    basis = one_of(
        BASES,
        "Count each unit sold, or each item once; default: sales if there are any, otherwise the assortment",
    )


class RollupMeta(ReportMeta):
    """Context of a rollup."""

    displacement = fields.Nested(
        DisplacementMeta(),
        metadata=field_doc("Rate used for `avoided`; only with `displacement` or `displacement_rate`"),
    )


class RollupReport(ReportAnswer):
    """A sustainability rollup."""

    meta = fields.Nested(RollupMeta(), required=True)
    data = fields.List(fields.Nested(RollupRow()), required=True)


def find_footprint(parameters: Parameters, rows: Rows, reading: RowContext) -> Headline:
    """Return the largest footprint of the newest period."""
    newest = [row for row in rows if row["period"] == rows[-1]["period"]]
    when = f"({reading.periods.text(rows[-1]['period'])})"
    known = [row for row in newest if row["co2e_kg_central"] is not None]
    if not known:
        items = sum(row["items"] for row in newest)
        advice = "Choose other brands or categories."
        return Headline(f"0 of {items:,}", f"items have a footprint figure {when}.", advice, parameters)
    row = max(known, key=lambda one: one["co2e_kg_central"])
    low, central, high = (estimate(row[f"co2e_kg_{bound}"]) for bound in ("low", "central", "high"))
    whose = group_name(row, reading.names)
    of = f" of {whose}" if whose else ""
    largest = f", the largest of {len(known)} groups that have a figure" if len(known) > 1 else ""
    basis = "all units sold" if row["basis"] == "sales" else "one of each item"
    covered = f"{100 * row['items_covered']:.0f} % of {count_of(row['items'], 'item')} have a figure."
    sentence = f"is the footprint of {basis}{of}{largest} {when}; the 95 % interval is {low} to {high}. {covered}"
    return Headline(f"{central} {BY_CODE['co2e_kg'].unit}", sentence)


REPORT = Report(
    kind=SUSTAINABILITY_ROLLUP,
    title="Footprint",
    description="Footprint of the units sold, or of the assortment.",
    rank_min=INSTITUTIONAL,
    entitlement="sustainability-rollup",
    usage_name="rollup",
    reply=RollupReport,
    endpoints=(
        ReportEndpoint(
            operation="getSustainabilityRollup",
            path="/rollups/sustainability",
            summary="Sustainability rollup",
            description="Units, CO2e, water, waste and other impacts by period and group.",
            query=RollupQuery,
            example="/rollups/sustainability?brand={brand}&group_by=category",
        ),
    ),
    picture=Picture(
        spread=("co2e_kg_low", "co2e_kg_central", "co2e_kg_high"),
        spread_title="Greenhouse gas emissions, kg CO2e",
        compared="co2e_kg_central",
        compared_title="Greenhouse gas emissions, kg CO2e",
        band=("co2e_kg_low", "co2e_kg_high"),
        lines=CODES,
    ),
    finding=find_footprint,
    columns=("items", "items_covered", *(f"{code}_central" for code in CODES), "units", "contributors"),
)
