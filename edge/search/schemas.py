"""Parameters and answers of a search."""

from marshmallow import Schema, fields, validate

from edge.http.lists import ListEnvelope, PageTotalSchema, SelfLink
from edge.http.parameters import (
    Choices,
    CurrencyCode,
    CursorText,
    Day,
    DecimalNumber,
    Flag,
    QueryParameters,
    Utf8,
    WholeNumber,
    field_doc,
    one_of,
)
from edge.index.record_schemas import (
    IID,
    MONEY,
    BrandRef,
    CategoryRef,
    ChannelSeen,
    Identifier,
    PriceBand,
    UnitPriceOfItem,
)

MEMBERS = ("price_band", "unit_price", "identifiers", "attributes", "channels")
"""What hits may have besides what the index stores of them."""
_PRICE_MAX = 10**12


class SearchParameters(QueryParameters):
    """Query of a search."""

    q = Utf8(
        1,
        200,
        required=True,
        metadata=field_doc(
            "Brand, product type, category, name, identifier, or the beginning of an IID", example="soy milk"
        ),
    )
    limit = WholeNumber(1, 50, load_default=20)
    brand = Utf8(1, 200, load_default=None, metadata=field_doc("Only this brand (slug)"))
    category = Utf8(
        1, 400, load_default=None, metadata=field_doc("Only this category (code), including its subcategories")
    )
    product_type = Utf8(1, 200, load_default=None, metadata=field_doc("Only this product type"))
    channel = Utf8(1, 200, load_default=None, metadata=field_doc("Only items observed in this channel (code)"))
    currency = CurrencyCode("Only items with a price in this currency; bounds and orders of prices require it")
    price_min = DecimalNumber(
        0, _PRICE_MAX, load_default=None, metadata=field_doc("Lowest `price_band.median`, in units of `currency`")
    )
    price_max = DecimalNumber(
        0, _PRICE_MAX, load_default=None, metadata=field_doc("Highest `price_band.median`, in units of `currency`")
    )
    seen_since = Day(load_default=None, metadata=field_doc("Only items observed on this day or later"))
    sort = one_of(
        ["relevance", "price", "unit_price", "-seen"],
        "Order; all but `relevance` list the items with all words: the cheapest first, by `price_band.median` or by "
        "that for a kilogram or litre, or the last observed first",
        load_default="relevance",
    )
    facets = Choices(["brand", "category", "channel"], "Count the hits with all words by these, 20 values of each")
    members = Choices(MEMBERS, "Members of the record that hits have too", data_key="fields")
    verbatim = Flag(load_default=False, metadata=field_doc("Whether all of `q` is words: no price or quantity is read"))
    cursor = CursorText()


class SearchHit(Schema):
    """One hit of a search."""

    iid = fields.Str(required=True, metadata=IID)
    name = fields.Str(required=True)
    brand = fields.Nested(BrandRef(), required=True, allow_none=True)
    product_type = fields.Str(required=True, allow_none=True)
    category = fields.Nested(CategoryRef(), required=True, allow_none=True)
    score = fields.Float(required=True, validate=validate.Range(0, 1))
    matched_on = fields.List(
        fields.Str(validate=validate.OneOf(["brand", "product_type", "category", "name", "iid_prefix", "identifier"])),
        required=True,
    )
    all_words = fields.Bool(
        required=True, metadata=field_doc("Whether it has all words; for the last word, a prefix suffices")
    )
    links = fields.Nested(SelfLink(), required=True)
    price_band = fields.Nested(PriceBand(), allow_none=True, metadata=field_doc("With `fields`, as the members below"))
    unit_price = fields.Nested(
        UnitPriceOfItem(), allow_none=True, metadata=field_doc("Null where the content is unknown or ambiguous")
    )
    identifiers = fields.List(fields.Nested(Identifier()), allow_none=True)
    attributes = fields.Dict(allow_none=True)
    channels = fields.List(fields.Nested(ChannelSeen()), allow_none=True)


class FacetValue(Schema):
    """A value and how many hits have it."""

    value = fields.Str(required=True, metadata=field_doc("What the filter takes: slug or code"))
    name = fields.Str(required=True)
    count = fields.Int(required=True)


class Facets(Schema):
    """Numbers of hits with all words, the most frequent values first."""

    brand = fields.List(fields.Nested(FacetValue()))
    category = fields.List(fields.Nested(FacetValue()), metadata=field_doc("Each including its subcategories"))
    channel = fields.List(fields.Nested(FacetValue()))


class UnderstoodQuestion(Schema):
    """What was read of `q`."""

    q = fields.Str(required=True, metadata=field_doc("The words that were searched"))
    currency = fields.Str()
    price_min = fields.Str(metadata=MONEY)
    price_max = fields.Str(metadata=MONEY)
    quantities = fields.List(fields.Str(), metadata=field_doc("Quantities in base units; items may state them in any"))


class SearchMeta(Schema):
    """Remarks on a search."""

    understood = fields.Nested(UnderstoodQuestion())
    unpriced = fields.Int(
        metadata=field_doc("With `currency`: items with all words that it leaves out, having no price in it")
    )


class SearchTotal(PageTotalSchema):
    """Number of hits, in total and with all words."""

    all_words = fields.Int(
        required=True,
        metadata=field_doc("Hits that have all words, which come first; a lower bound if the relation is `gte`"),
    )


class SearchList(ListEnvelope):
    """One page of hits, best first; equal scores are sorted by IID."""

    total = fields.Nested(SearchTotal(), required=True)
    data = fields.List(fields.Nested(SearchHit()), required=True)
    facets = fields.Nested(Facets(), metadata=field_doc("With the parameter `facets`"))
    meta = fields.Nested(SearchMeta(), metadata=field_doc("Where there is something to remark"))
