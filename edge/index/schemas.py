"""Parameters and answers of the free index, declared once: validation and the OpenAPI document are made from them."""

from marshmallow import Schema, fields, validate

from edge.http.lists import SelfLink, list_of
from edge.http.parameters import (
    Choices,
    CursorText,
    Day,
    Flag,
    Members,
    ObjectList,
    Parameters,
    PathParameters,
    QueryParameters,
    Texts,
    Utf8,
    WholeNumber,
    field_doc,
    one_of,
)
from shared.analytics.footprint import INDICATORS, Indicator
from shared.errors import InvalidIid
from shared.index.identifiers import CHARACTERS_MAX, URL_CHARACTERS_MAX
from shared.index.iid import IID_CHARACTERS_MAX, canonical_iid
from shared.units.names import PER

IID = {"description": "Item identifier", "example": "IID-7Q0ZC-8KX2M-4VN1T"}
IID_PATTERN = "^[Ii][Ii][Dd](-[0-9A-Za-z]{1,16}){1,8}$"
_MORE = "Members that entries have besides the record"
_DRY_RUN = {"description": "Return the cost without charging"}
MONEY = {"format": "decimal", "description": "Decimal amount in `currency`", "example": "10.90"}

IDENTIFIERS_MAX = 1_000
_TEXT_MAX = 40


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


class IidField(fields.String):
    """An IID in its canonical form; anything else is the problem `invalid-iid`, not one of parameters."""

    def _deserialize(self, value: object, attr: str | None, data: Members, **options: object) -> str:
        iid = canonical_iid(str(value))
        if iid is None:
            raise InvalidIid
        return iid


class IidPath(PathParameters):
    """Path of one item."""

    iid = IidField(required=True, metadata={**IID, "pattern": IID_PATTERN, "maxLength": IID_CHARACTERS_MAX})


class IidList(QueryParameters):
    """Query of a batch lookup."""

    iid = Texts(
        IID_CHARACTERS_MAX,
        required=True,
        validate=validate.Length(1, 1000),
        metadata=field_doc(
            "Item identifiers; repeat the parameter. A URL holds 8 kB, some 300 of them: send more by `POST`",
            explode=True,
        ),
    )
    dry_run = Flag(load_default=False, metadata=_DRY_RUN)
    members = Choices(["unit_price"], _MORE, data_key="fields")


class BatchQuery(QueryParameters):
    """Query of a batch whose IIDs or identifiers are in the body."""

    dry_run = Flag(load_default=False, metadata=_DRY_RUN)


class LookupBatchQuery(BatchQuery):
    """Query of a batch whose IIDs are in the body."""

    members = Choices(["unit_price"], _MORE, data_key="fields")


class IidBody(Parameters):
    """Body of a batch lookup."""

    iids = Texts(
        IID_CHARACTERS_MAX,
        required=True,
        validate=validate.Length(1),
        metadata=field_doc(
            "Item identifiers; as many as the plan allows and the body's 256 kB hold", example=["IID-7Q0ZC-8KX2M-4VN1T"]
        ),
    )


class BrandsQuery(QueryParameters):
    """Query of the list of brands."""

    q = Utf8(1, 200, load_default=None, metadata=field_doc("Beginning of the brand's name", example="ka"))
    sort = one_of(
        ["name", "items"], "Sort order; `name`: by name; `items`: brands with the most items first", load_default="name"
    )
    limit = WholeNumber(1, 500, load_default=100)
    cursor = CursorText()


class CategoriesQuery(QueryParameters):
    """Query of the list of categories."""

    parent = Utf8(1, 400, load_default=None, metadata=field_doc("Only direct children of this category (code)"))
    level = WholeNumber(1, 8, load_default=None, metadata=field_doc("Only this level; 1 is the top"))
    q = Utf8(1, 200, load_default=None, metadata=field_doc("Beginning of the category's own name"))
    limit = WholeNumber(1, 500, load_default=100)
    cursor = CursorText()


class ChannelsQuery(QueryParameters):
    """Query of the list of channels."""

    q = Utf8(1, 200, load_default=None, metadata=field_doc("Beginning of the channel's code"))
    limit = WholeNumber(1, 500, load_default=100)
    cursor = CursorText()


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


class LookupEntry(Schema):
    """Result of one IID of a batch."""

    iid = fields.Str(required=True)
    status = fields.Int(required=True, metadata=field_doc("Status that a separate lookup would return"))
    record = fields.Nested(Item(), required=True, allow_none=True)
    survivor = fields.Str(required=True, allow_none=True)
    problem = fields.Str(required=True, allow_none=True, metadata=field_doc("Slug of the problem"))
    unit_price = fields.Nested(
        UnitPriceOfItem(), allow_none=True, metadata=field_doc("With `fields`; null where the content is unknown")
    )


class LookupList(Schema):
    """Response to a batch lookup."""

    data = fields.List(fields.Nested(LookupEntry()), required=True, metadata=field_doc("Empty with `dry_run`"))
    count = fields.Int(required=True)
    kind = fields.Str(metadata=field_doc("Only with `dry_run`, as are the members below", example="lookup-batch"))
    cost_units = fields.Int()
    cached = fields.Bool()
    format = fields.Str()
    data_version = fields.Int()


class BrandEntry(Schema):
    """One brand."""

    id = fields.Int(required=True)
    name = fields.Str(required=True)
    slug = fields.Str(required=True)
    item_count = fields.Int(required=True)
    top_categories = fields.List(fields.Str(), required=True)
    channels = fields.List(fields.Str(), required=True)
    first_seen_on = fields.Date(required=True, allow_none=True)
    updated_at = fields.DateTime(required=True)


class CategoryEntry(Schema):
    """One category of the tree."""

    code = fields.Str(required=True)
    name = fields.Str(required=True, metadata=field_doc("Last part of `path`"))
    path = fields.List(fields.Str(), required=True)
    parent = fields.Str(required=True, allow_none=True, metadata=field_doc("Code of the parent category"))
    level = fields.Int(required=True, metadata=field_doc("1 at the top"))
    item_count = fields.Int(required=True, metadata=field_doc("Items of the category itself"))
    item_count_total = fields.Int(required=True, metadata=field_doc("Items of the category and its subcategories"))
    children = fields.Int(required=True, metadata=field_doc("Number of its direct children"))


class ChannelEntry(Schema):
    """One channel."""

    code = fields.Str(required=True)
    observations = fields.Int(required=True, metadata=field_doc("Prices observed in this channel; listings and sales"))
    last_seen_on = fields.Date(required=True, metadata=field_doc("Day of the newest observation"))


def _number(sentence: str, example: str) -> fields.String:
    metadata = {"description": sentence, "example": example}
    return fields.Str(load_default=None, validate=validate.Length(1, _TEXT_MAX), metadata=metadata)


def as_of_field() -> Day:
    """Declare the day for which a number is resolved."""
    sentence = "Item that had the number on this day, of those to which it was given at different times; with a GTIN"
    return Day(load_default=None, metadata=field_doc(sentence, example="2026-07-01"))


class IdentifierFields(Parameters):
    """Exactly one identifier: gtin, ean, upc, isbn, mpn (with brand), sku (with source) or url."""

    gtin = _number("GTIN of 8, 12, 13 or 14 digits; spaces and hyphens between digits are ignored", "4006381333931")
    ean = _number("The same as `gtin`", "4006381333931")
    upc = _number("UPC-A (12 digits) or UPC-E (8 digits), with number system and check digit", "036000291452")
    isbn = _number("ISBN of 10 or 13 digits", "978-0-306-40615-7")
    mpn = Utf8(1, CHARACTERS_MAX, load_default=None, metadata=field_doc("Manufacturer part number; requires `brand`"))
    brand = Utf8(1, 200, load_default=None, metadata=field_doc("Brand of `mpn`, by name or slug"))
    sku = Utf8(
        1, CHARACTERS_MAX, load_default=None, metadata=field_doc("Number assigned by a source; requires `source`")
    )
    url = Utf8(1, URL_CHARACTERS_MAX, load_default=None, metadata=field_doc("Address of the item's page at a source"))
    source = fields.Str(
        load_default=None,
        validate=validate.Regexp(r"\A[a-z][a-z0-9_]{0,62}\Z", error="must be the name of a source"),
        metadata=field_doc(
            "Only this source; required for codes that shops assign themselves", pattern="^[a-z][a-z0-9_]{0,62}$"
        ),
    )
    as_of = as_of_field()


class ResolveQuery(IdentifierFields, QueryParameters):
    """Query of one identifier, or of an IID that may have been merged."""

    iid = fields.Str(
        load_default=None, validate=validate.Length(1, IID_CHARACTERS_MAX), metadata={**IID, "pattern": IID_PATTERN}
    )


class ResolveBody(Parameters):
    """Body of a batch."""

    identifiers = ObjectList(
        fields.Nested(IdentifierFields()),
        required=True,
        validate=validate.Length(1, IDENTIFIERS_MAX),
        metadata=field_doc(
            "Identifiers; as many as the plan allows (`batch_iids_max` at `GET /v1/`) and the body's 256 kB hold",
            example=[{"gtin": "4006381333931"}, {"mpn": "WH-1000XM4", "brand": "Sony"}],
        ),
    )


class IdentifierRef(Schema):
    """An identifier in its normalized form."""

    scheme = fields.Str(required=True, validate=validate.OneOf(["gtin", "mpn", "sku", "url"]))
    value = fields.Str(required=True, metadata=field_doc("Number or text; a GTIN has 14 digits"))


class Candidate(Schema):
    """One of several items that have an identifier."""

    iid = fields.Str(required=True, metadata=IID)
    name = fields.Str(required=True)
    brand = fields.Nested(BrandRef(), required=True, allow_none=True)
    sources = fields.List(fields.Str(), required=True)
    links = fields.Nested(SelfLink(), required=True)


class ResolveEntry(Schema):
    """Result of one identifier of a batch."""

    identifier = fields.Nested(IdentifierRef(), required=True, allow_none=True)
    status = fields.Int(required=True, metadata=field_doc("Status that a separate call would return"))
    record = fields.Nested(Item(), required=True, allow_none=True)
    candidates = fields.List(fields.Nested(Candidate()), required=True, metadata=field_doc("With status 300"))
    problem = fields.Str(required=True, allow_none=True, metadata=field_doc("Slug of the problem"))
    detail = fields.Str(required=True, allow_none=True, metadata=field_doc("Explanation of the problem"))


class ResolveList(LookupList):
    """Response to a batch; with `dry_run` only its price."""

    data = fields.List(fields.Nested(ResolveEntry()), required=True, metadata=field_doc("Empty with `dry_run`"))


BrandList = list_of(BrandEntry, "BrandList", "One page of brands.")
CategoryList = list_of(CategoryEntry, "CategoryList", "One page of categories.")
ChannelList = list_of(ChannelEntry, "ChannelList", "One page of channels.")
