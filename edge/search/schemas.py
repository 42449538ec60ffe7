"""Parameters and answer of the search, declared once."""

from marshmallow import Schema, fields, validate

from edge.http.envelope import ListEnvelope, PageTotalSchema, SelfLink
from edge.http.parameters import CursorText, Parameters, Utf8, WholeNumber
from edge.index.schemas import IID, BrandRef, CategoryRef


class SearchQuery(Parameters):
    """Query of a search."""

    q = Utf8(
        1,
        200,
        required=True,
        metadata={
            "description": "Brand, product type, category, name, identifier, or the beginning of an IID",
            "example": "soy milk",
        },
    )
    limit = WholeNumber(1, 50, load_default=20)
    brand = Utf8(1, 200, load_default=None, metadata={"description": "Only this brand (slug)"})
    category = Utf8(1, 400, load_default=None, metadata={"description": "Only this category (code) and those below it"})
    product_type = Utf8(1, 200, load_default=None, metadata={"description": "Only this product type"})
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
        required=True, metadata={"description": "Whether it has all words; of the last word, its beginning suffices"}
    )
    links = fields.Nested(SelfLink(), required=True)


class SearchTotal(PageTotalSchema):
    """Number of hits, and of those with all words."""

    all_words = fields.Int(
        required=True,
        metadata={"description": "Hits with all words; they come first; a lower bound if the relation is `gte`"},
    )


class SearchList(ListEnvelope):
    """One page of hits, best first; equal scores in the order of their IIDs."""

    total = fields.Nested(SearchTotal(), required=True)
    data = fields.List(fields.Nested(SearchHit()), required=True)
