"""Parameters and answers of look-ups by IID, one or many in a call."""

from marshmallow import Schema, fields, validate

from edge.http.parameters import Choices, Flag, Members, Parameters, PathParameters, QueryParameters, Texts, field_doc
from edge.index.record_schemas import IID, Item, UnitPriceOfItem
from shared.errors import InvalidIid
from shared.index.iid import IID_CHARACTERS_MAX, canonical_iid

IID_PATTERN = "^[Ii][Ii][Dd](-[0-9A-Za-z]{1,16}){1,8}$"
_MORE = "Members that entries have besides the record"
_DRY_RUN = {"description": "Return the cost without charging"}


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
