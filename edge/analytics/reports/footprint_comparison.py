"""Footprints per unit, kilogram and amount of money, what they rest on, and why they changed."""

from marshmallow import Schema, fields, validate

from edge.analytics.findings import Headline, Parameters, Rows, count_of
from edge.analytics.reports.answer import GroupedRow, report_of
from edge.analytics.reports.declaration import Picture, Report, ReportEndpoint
from edge.analytics.reports.fields import (
    brands,
    categories,
    count_field,
    granularity,
    groups,
    number_field,
    share_field,
    text_field,
)
from edge.analytics.reports.question import ReportQuery
from edge.analytics.wording import BY_CODE, RowContext, estimate, group_name
from edge.http.parameters import field_doc, one_of
from shared.analytics.footprint import BASES, CODES, WEIGHT_BASES
from shared.jobs.contract import FOOTPRINT_COMPARISON
from shared.organizations.accounts import INSTITUTIONAL


def _figure(sentence: str, *, heading: str = "") -> fields.Float:
    return number_field(sentence, 1.25, heading=heading)


def _score(name: str) -> fields.Float:
    return _figure(f"Mean score of {name}, 1 (best) to 5, weighted by footprint; null if no source states scores")


class FootprintPerKg(Schema):
    """The footprint of a kilogram, of the items whose weight is of one basis."""

    weight_basis = text_field("What the kilograms are of", validate=validate.OneOf(WEIGHT_BASES))
    items = count_field("Items with a figure and a weight")
    weight_kg = _figure("Weight of their units")
    footprint = _figure("Footprint of their units")
    per_kg = _figure("`footprint` / `weight_kg`")


class FootprintPerMoney(Schema):
    """The footprint of what one unit of a currency buys."""

    currency = text_field("ISO 4217")
    items = count_field("Items with a figure and a price in the currency")
    value = _figure("Their units at the median price of each item in the period, without outliers")
    footprint = _figure("Footprint of their units")
    per_money = _figure("`footprint` / `value`")


class FootprintStage(Schema):
    """What a stage of the life cycle contributes to a footprint."""

    stage = text_field("Stage as its source names it; null is the rest of the footprint", nullable=True)
    sum = _figure("Part of the footprint; credits are negative")


class FootprintAssumption(Schema):
    """A factor, or a source of items' own figures, with its part of the footprint; null are all others together."""

    scope = text_field(
        "Whether it is of items themselves, of a product type, or of a category",
        nullable=True,
        validate=validate.OneOf(("item", "product_type", "category")),
    )
    code = text_field("Product type or category of a factor", nullable=True)
    weight_basis = text_field("What a factor's kilogram is of", nullable=True, validate=validate.OneOf(WEIGHT_BASES))
    source = text_field("Source of the figures", nullable=True)
    method = text_field("Method of the figures", nullable=True)
    items = count_field("Items whose figure rests on it")
    share = share_field("Share of the footprint")
    variance_share = share_field("Share of the variance of the footprint; null if it has none")


class FootprintComparisonRow(GroupedRow):
    """The footprint of a period and group by one indicator, in relation to units, weight and money."""

    indicator = text_field("Code of the indicator", validate=validate.OneOf(CODES))
    basis = text_field("Multiplier of the figures: units sold, or 1 for each item", validate=validate.OneOf(BASES))
    items = count_field("Distinct items")
    units = count_field("Units sold; null if the basis is the assortment", nullable=True)
    items_with_figure = count_field("Items with a figure of the indicator", heading="Items with a figure")
    footprint = _figure("Sum over the items with a figure, in the unit of the indicator; null without any")
    footprint_low = _figure("Lower bound of the middle 95 %", heading="Footprint, low")
    footprint_central = _figure("Median", heading="Footprint, median")
    footprint_high = _figure("Upper bound of the middle 95 %", heading="Footprint, high")
    per_unit = _figure("Footprint / units (or items) with a figure", heading="Per unit")
    per_kg = fields.List(fields.Nested(FootprintPerKg()), metadata=field_doc("Per kilogram, by basis of the weight"))
    per_money = fields.List(fields.Nested(FootprintPerMoney()), metadata=field_doc("Per unit of each currency"))
    stages = fields.List(
        fields.Nested(FootprintStage()),
        metadata=field_doc("Parts by stage of the life cycle, which add up to the footprint"),
    )
    pedigree_share = share_field(
        "Share of the footprint whose source states the scores of the pedigree matrix", heading="With pedigree"
    )
    reliability = _score("reliability")
    completeness = _score("completeness")
    temporal = _score("temporal correlation")
    geographical = _score("geographical correlation")
    technology = _score("further technological correlation")
    year_share = share_field("Share of the footprint whose source assigns it to a year", heading="With year")
    year_first = fields.Int(allow_none=True, metadata=field_doc("Earliest such year", example=2021))
    year_last = fields.Int(allow_none=True, metadata=field_doc("Latest such year", example=2024))
    assumptions = fields.List(
        fields.Nested(FootprintAssumption()),
        metadata=field_doc(
            "Up to five factors and sources with the largest shares of the variance, then all others together"
        ),
    )
    compared_with = fields.Date(
        allow_none=True,
        metadata=field_doc("First day of the whole period before; null if it has no data, or the period is cut"),
    )
    footprint_before = _figure("Footprint of the period before", heading="Before")
    change = _figure("`footprint` − `footprint_before` = `volume` + `mix` + `intensity`, exactly")
    volume = _figure("Part of the change that is due to the number of units, or items, with a figure")
    mix = _figure("Part that is due to the shares of categories or brands (`mix`) among these units")
    intensity = _figure("Part that is due to the footprint per unit within categories or brands")


class FootprintComparisonQuery(ReportQuery):
    """Query of a comparison of footprints."""

    granularity = granularity("month", "quarter", "year")
    group_by = groups("brand", "category", "channel")
    brand = brands()
    category = categories()
    basis = one_of(
        BASES,
        "Count each unit sold, or each item once; default: sales if there are any, otherwise the assortment",
    )
    indicator = one_of(CODES, f"Indicator, such as {CODES[1]}; default: {CODES[0]}", load_default=CODES[0])
    mix = one_of(("category", "brand"), "What the mix is of; default: category", load_default="category")


def find_intensity(parameters: Parameters, rows: Rows, reading: RowContext) -> Headline:
    """Return the largest footprint per unit of the newest period, and the change of that group's footprint."""
    newest = [row for row in rows if row["period"] == rows[-1]["period"]]
    when = f"({reading.periods.text(rows[-1]['period'])})"
    known = [row for row in newest if row["footprint"] is not None]
    if not known:
        items = sum(row["items"] for row in newest)
        advice = "Choose other brands or categories."
        return Headline(f"0 of {items:,}", f"items have a footprint figure {when}.", advice, parameters)
    row = max(known, key=lambda one: one["per_unit"])
    whose = group_name(row, reading.names)
    per = "unit sold" if row["basis"] == "sales" else "item"
    largest = f", the largest of {len(known)} groups that have a figure" if len(known) > 1 else ""
    sentence = f"is the footprint per {per}{f' of {whose}' if whose else ''}{largest} {when}."
    sentence += f" {count_of(row['items_with_figure'], 'item')} of {row['items']:,} have a figure."
    if row["change"] is not None:
        part = max(("volume", "mix", "intensity"), key=lambda name: abs(row[name]))
        most = f", most of it by {part} ({_signed(row[part])})" if row[part] else ""
        sentence += f" The whole changed by {_signed(row['change'])} against the {reading.periods.unit} before{most}."
    return Headline(f"{estimate(row['per_unit'])} {BY_CODE[row['indicator']].unit}", sentence)


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{estimate(abs(value))}"


REPORT = Report(
    kind=FOOTPRINT_COMPARISON,
    title="Footprints compared",
    description="Footprint per unit, kilogram and amount of money, what it rests on, and why it changed.",
    rank_min=INSTITUTIONAL,
    entitlement="footprint-comparison",
    reply=report_of(FootprintComparisonRow, "FootprintComparisonReport", "A comparison of footprints."),
    endpoints=(
        ReportEndpoint(
            operation="getFootprintComparison",
            path="/footprints",
            summary="Footprints compared",
            description="Intensities, data quality, the assumptions that matter most, and change by volume, mix and "
            "intensity.",
            query=FootprintComparisonQuery,
            example="/footprints?brand={brand}&group_by=category",
        ),
    ),
    picture=Picture(
        lines=("per_unit",),
        changes=("change", "volume", "mix", "intensity"),
        spread=("footprint_low", "footprint_central", "footprint_high"),
        spread_title="Footprint",
        compared="footprint",
        compared_title="Footprint",
        band=("footprint_low", "footprint_high"),
    ),
    finding=find_intensity,
    columns=("items", "items_with_figure", "footprint", "per_unit", "change", "volume", "mix", "intensity", "units"),
)
