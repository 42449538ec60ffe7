"""The record of an item, as OpenAPI describes it."""

from marshmallow import Schema, fields, validate

from edge.http.parameters import field_doc
from shared.analytics.footprint import INDICATORS, Indicator
from shared.units.names import PER

IID = {"description": "Item identifier", "example": "IID-7Q0ZC-8KX2M-4VN1T"}
MONEY = {"format": "decimal", "description": "Decimal amount in `currency`", "example": "10.90"}


class Identifier(Schema):
    """An identifier assigned to the item by others."""

    scheme = fields.Str(required=True)
    value = fields.Str(required=True)


class SourceRef(Schema):
    """A source of the record's data."""

    source = fields.Str(required=True)
    observed_at = fields.DateTime(required=True)
    license = fields.Str(required=True)


class ArticleMember(Schema):
    """A source's item that is part of this item."""

    iid = fields.Str(required=True, metadata=IID)
    source = fields.Str(required=True)
    id = fields.Str(required=True, metadata=field_doc("The source's own ID"))
    name = fields.Str(
        required=True,
        allow_none=True,
        metadata=field_doc("Name that the source uses; null if the source adds only figures"),
    )
    identifiers = fields.List(fields.Nested(Identifier()), required=True)


class MatchEvidence(Schema):
    """A field of two items, compared."""

    field = fields.Str(required=True)
    left = fields.Str(required=True, metadata=field_doc("Value of the first of `iids`"))
    right = fields.Str(required=True)
    agrees = fields.Bool(required=True)


class ArticleMatch(Schema):
    """A link between two items, with its evidence."""

    iids = fields.List(fields.Str(metadata=IID), required=True, validate=validate.Length(equal=2))
    kind = fields.Str(required=True, validate=validate.OneOf(["identifier", "likeness", "review", "merge"]))
    score = fields.Float(required=True, allow_none=True, metadata=field_doc("Probability; null if a person decided"))
    evidence = fields.List(fields.Nested(MatchEvidence()), required=True)
    since = fields.DateTime(required=True, allow_none=True)


class BrandRef(Schema):
    """Reference to a brand."""

    id = fields.Int(required=True)
    name = fields.Str(required=True)
    slug = fields.Str(required=True)


class CategoryRef(Schema):
    """Reference to a category."""

    code = fields.Str(required=True)
    path = fields.List(fields.Str(), required=True)


class ChannelSeen(Schema):
    """A channel in which the item was observed."""

    channel = fields.Str(required=True)
    listings = fields.Int(required=True, metadata=field_doc("Observed asking prices"))
    sales = fields.Int(required=True, metadata=field_doc("Observed sales"))
    last_seen_on = fields.Date(required=True)


class PriceBand(Schema):
    """Prices of the 30 days up to the item's last observation, without outliers, in the most frequent currency."""

    currency = fields.Str(required=True)
    kind = fields.Str(required=True, validate=validate.OneOf(["listing", "sale"]))
    low = fields.Str(required=True, metadata=MONEY)
    median = fields.Str(required=True, metadata=MONEY)
    high = fields.Str(required=True, metadata=MONEY)
    observations = fields.Int(required=True)
    set_aside = fields.Int(required=True, metadata=field_doc("Outliers; all other figures exclude them"))
    from_ = fields.Date(required=True, data_key="from", metadata=field_doc("First of the 30 days"))
    to = fields.Date(required=True, metadata=field_doc("Last of the 30 days"))


def figure_of(indicator: Indicator) -> fields.Float:
    """Declare the figure of an indicator; null where no source has one."""
    description = f"{indicator.title}, {indicator.unit}"
    return fields.Float(required=True, allow_none=True, metadata=field_doc(description))


def pedigree_field() -> fields.Str:
    """Declare the scores that a source states of the data behind a figure."""
    description = (
        "Scores 1 (best) to 5 that the source states of its data, by the pedigree matrix: reliability, completeness, "
        "temporal, geographical and technological correlation; null if it states none"
    )
    return fields.Str(required=True, allow_none=True, metadata=field_doc(description, example="(2,3,1,2,4)"))


def reference_year_field() -> fields.Int:
    """Declare the year to which a source assigns a figure."""
    description = "Year to which the source assigns the figure: its reference period, or the year of its report"
    return fields.Int(required=True, allow_none=True, metadata=field_doc(description, example=2024))


class _FootprintBasis(Schema):
    basis = fields.Str(required=True, validate=validate.OneOf(["measured", "modelled", "category_average"]))
    method = fields.Str(required=True)
    samples = fields.Int(
        required=True, metadata=field_doc("Number of records averaged; 1 if the figure is the item's own")
    )
    pedigree = pedigree_field()
    reference_year = reference_year_field()


class Sustainability(_FootprintBasis.from_dict({one.code: figure_of(one) for one in INDICATORS})):  # type: ignore[misc]
    """Footprint of one unit of an item, by indicator; what describes a figure is about the first known one."""


class ItemLinks(Schema):
    """Addresses of related calls."""

    self = fields.Url(required=True)
    brand = fields.Url(required=True, allow_none=True)
    pricing = fields.Url(required=True)
    sustainability = fields.Url(required=True)


class Item(Schema):
    """One item. A field that is unknown is present and null."""

    iid = fields.Str(required=True, metadata=IID)
    name = fields.Str(required=True)
    alt_names = fields.List(fields.Str(), required=True)
    status = fields.Str(required=True, validate=validate.OneOf(["active"]))
    brand = fields.Nested(BrandRef(), required=True, allow_none=True)
    product_type = fields.Str(required=True, allow_none=True)
    category = fields.Nested(CategoryRef(), required=True, allow_none=True)
    identifiers = fields.List(fields.Nested(Identifier()), required=True)
    attributes = fields.Dict(required=True)
    channels = fields.List(fields.Nested(ChannelSeen()), required=True)
    price_band = fields.Nested(PriceBand(), required=True, allow_none=True)
    sustainability = fields.Nested(Sustainability(), required=True, allow_none=True)
    sources = fields.List(fields.Nested(SourceRef()), required=True)
    provenance = fields.Dict(
        keys=fields.Str(),
        values=fields.Str(),
        required=True,
        metadata=field_doc("Source of each descriptive field; keys are like `name` or `attributes.color`"),
    )
    members = fields.List(fields.Nested(ArticleMember()), required=True)
    matches = fields.List(
        fields.Nested(ArticleMatch()),
        required=True,
        metadata=field_doc("Links between its members; empty if the record has only one"),
    )
    version = fields.Int(required=True)
    first_seen_on = fields.Date(required=True)
    updated_at = fields.DateTime(required=True)
    links = fields.Nested(ItemLinks(), required=True)


class UnitPriceOfItem(Schema):
    """`price_band.median` for a kilogram, litre, piece or metre of what the item holds."""

    currency = fields.Str(required=True)
    per = fields.Str(required=True, validate=validate.OneOf([unit for unit, _ in PER.values()]))
    amount = fields.Str(required=True, metadata=MONEY)
