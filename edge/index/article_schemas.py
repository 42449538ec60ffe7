"""What a record shows of the sources whose items it is made of."""

from marshmallow import Schema, fields, validate

_IID = {"description": "Item identifier", "example": "IID-7Q0ZC-8KX2M-4VN1T"}


class Identifier(Schema):
    """An identifier that others gave the item."""

    scheme = fields.Str(required=True)
    value = fields.Str(required=True)


class SourceRef(Schema):
    """Where the record's facts come from."""

    source = fields.Str(required=True)
    observed_at = fields.DateTime(required=True)
    license = fields.Str(required=True)


class ArticleMember(Schema):
    """What one source calls the item: each item of a source that is part of the article."""

    iid = fields.Str(required=True, metadata=_IID)
    source = fields.Str(required=True)
    id = fields.Str(required=True, metadata={"description": "The source's own id"})
    name = fields.Str(required=True, allow_none=True, metadata={"description": "Null: the source adds figures alone"})
    identifiers = fields.List(fields.Nested(Identifier()), required=True)


class MatchEvidence(Schema):
    """One thing that the two items say."""

    field = fields.Str(required=True)
    left = fields.Str(required=True, metadata={"description": "What the first of `iids` says"})
    right = fields.Str(required=True)
    agrees = fields.Bool(required=True)


class ArticleMatch(Schema):
    """Why two items are one article."""

    iids = fields.List(fields.Str(metadata=_IID), required=True, validate=validate.Length(equal=2))
    kind = fields.Str(required=True, validate=validate.OneOf(["identifier", "likeness", "review", "merge"]))
    score = fields.Float(
        required=True, allow_none=True, metadata={"description": "A probability; null where a person decided"}
    )
    evidence = fields.List(fields.Nested(MatchEvidence()), required=True)
    since = fields.DateTime(required=True, allow_none=True)
