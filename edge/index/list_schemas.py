"""Parameters and answers of the lists of brands, categories and channels."""

from marshmallow import Schema, fields

from edge.http.lists import list_of
from edge.http.parameters import CursorText, QueryParameters, Utf8, WholeNumber, field_doc, one_of


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


BrandList = list_of(BrandEntry, "BrandList", "One page of brands.")
CategoryList = list_of(CategoryEntry, "CategoryList", "One page of categories.")
ChannelList = list_of(ChannelEntry, "ChannelList", "One page of channels.")
