"""Parameters and answers of resolving identifiers, declared once."""

from marshmallow import Schema, fields, validate

from edge.http.envelope import SelfLink
from edge.http.parameters import Flag, Parameters, Utf8
from edge.index.schemas import IID, IID_PATTERN, BrandRef, Item, LookupList
from shared.identifiers import CHARACTERS_MAX, URL_CHARACTERS_MAX
from shared.ids import IID_CHARACTERS_MAX

IDENTIFIERS_MAX = 1_000
_TEXT_MAX = 40


def _number(sentence: str, example: str) -> fields.String:
    metadata = {"description": sentence, "example": example}
    return fields.Str(load_default=None, validate=validate.Length(1, _TEXT_MAX), metadata=metadata)


class IdentifierFields(Parameters):
    """Exactly one identifier; gtin, ean, upc, isbn, mpn (with brand), sku (with source) and url."""

    gtin = _number("GTIN of 8, 12, 13 or 14 digits; spaces and hyphens between digits are ignored", "4006381333931")
    ean = _number("The same as `gtin`", "4006381333931")
    upc = _number("UPC-A of 12 digits, or UPC-E of 8; with number system and check digit", "036000291452")
    isbn = _number("ISBN of 10 or 13 digits", "978-0-306-40615-7")
    mpn = Utf8(1, CHARACTERS_MAX, load_default=None, metadata={"description": "Maker's part number; needs `brand`"})
    brand = Utf8(1, 200, load_default=None, metadata={"description": "Brand of `mpn`, by name or slug"})
    sku = Utf8(1, CHARACTERS_MAX, load_default=None, metadata={"description": "Source's own number; needs `source`"})
    url = Utf8(
        1,
        URL_CHARACTERS_MAX,
        load_default=None,
        metadata={"description": "Address at which a source shows the article"},
    )
    source = fields.Str(
        load_default=None,
        validate=validate.Regexp(r"\A[a-z][a-z0-9_]{0,62}\Z", error="must be the name of a source"),
        metadata={
            "description": "Only by this source; codes that shops assign themselves need it",
            "pattern": "^[a-z][a-z0-9_]{0,62}$",
        },
    )


class ResolveQuery(IdentifierFields):
    """Query of one identifier, or of an IID that may have been merged."""

    iid = fields.Str(
        load_default=None, validate=validate.Length(1, IID_CHARACTERS_MAX), metadata={**IID, "pattern": IID_PATTERN}
    )


class ResolveBatchQuery(Parameters):
    """Query of a batch whose identifiers are in the body."""

    dry_run = Flag(load_default=False, metadata={"description": "Return the cost and charge nothing"})


class ResolveBody(Parameters):
    """Body of a batch."""

    identifiers = fields.List(
        fields.Nested(IdentifierFields()),
        required=True,
        validate=validate.Length(1, IDENTIFIERS_MAX),
        metadata={
            "description": "Identifiers; as many as the plan allows (`batch_iids_max` at `GET /v1/`)",
            "example": [{"gtin": "4006381333931"}, {"mpn": "WH-1000XM4", "brand": "Sony"}],
        },
    )


class IdentifierRef(Schema):
    """An identifier in the form in which it is compared."""

    scheme = fields.Str(required=True, validate=validate.OneOf(["gtin", "mpn", "sku", "url"]))
    value = fields.Str(required=True, metadata={"description": "Number or text; a GTIN has 14 digits"})


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
    status = fields.Int(required=True, metadata={"description": "Status that a call of its own would have had"})
    record = fields.Nested(Item(), required=True, allow_none=True)
    candidates = fields.List(fields.Nested(Candidate()), required=True, metadata={"description": "With status 300"})
    problem = fields.Str(required=True, allow_none=True, metadata={"description": "Slug of the problem"})
    detail = fields.Str(required=True, allow_none=True, metadata={"description": "Problem in a sentence"})


class ResolveList(LookupList):
    """The answer of a batch; with `dry_run` only its price."""

    data = fields.List(fields.Nested(ResolveEntry()), required=True, metadata={"description": "Empty with `dry_run`"})
