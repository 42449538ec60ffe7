"""Parameters and answers of resolving identifiers, one or many in a call."""

from marshmallow import Schema, fields, validate

from edge.http.lists import SelfLink
from edge.http.parameters import Day, ObjectList, Parameters, QueryParameters, Utf8, field_doc
from edge.index.lookup_schemas import IID_PATTERN, LookupList
from edge.index.record_schemas import IID, BrandRef, Item
from shared.index.identifiers import CHARACTERS_MAX, URL_CHARACTERS_MAX
from shared.index.iid import IID_CHARACTERS_MAX

IDENTIFIERS_MAX = 1_000
_TEXT_MAX = 40


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
