"""The members of a record about the sources whose items it is made of."""

from marshmallow import Schema, fields, validate

_IID = {"description": "Item identifier", "example": "IID-7Q0ZC-8KX2M-4VN1T"}


class Identifier(Schema):
    """An identifier that others gave the item."""

    scheme = fields.Str(required=True)
    value = fields.Str(required=True)


class SourceRef(Schema):
    """A source of the record's facts."""

    source = fields.Str(required=True)
    observed_at = fields.DateTime(required=True)
    license = fields.Str(required=True)


class ArticleMember(Schema):
    """An item of a source that is part of the article."""

    iid = fields.Str(required=True, metadata=_IID)
    source = fields.Str(required=True)
    id = fields.Str(required=True, metadata={"description": "Source's own id"})
    name = fields.Str(
        required=True,
        allow_none=True,
        metadata={"description": "Source's name for it; null if the source adds figures only"},
    )
    identifiers = fields.List(fields.Nested(Identifier()), required=True)


class MatchEvidence(Schema):
    """A field of two items, compared."""

    field = fields.Str(required=True)
    left = fields.Str(required=True, metadata={"description": "Value of the first of `iids`"})
    right = fields.Str(required=True)
    agrees = fields.Bool(required=True)


class ArticleMatch(Schema):
    """A link between two items; with its evidence."""

    iids = fields.List(fields.Str(metadata=_IID), required=True, validate=validate.Length(equal=2))
    kind = fields.Str(required=True, validate=validate.OneOf(["identifier", "likeness", "review", "merge"]))
    score = fields.Float(
        required=True, allow_none=True, metadata={"description": "Probability; null where a person decided"}
    )
    evidence = fields.List(fields.Nested(MatchEvidence()), required=True)
    since = fields.DateTime(required=True, allow_none=True)
