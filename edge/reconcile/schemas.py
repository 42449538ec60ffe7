"""Parameters and answers of reconciliation, declared once."""

from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

from marshmallow import INCLUDE, Schema, fields

from edge.http.parameters import OpenQueryParameters, Parameters, PathParameters, Utf8, WholeNumber, field_doc
from shared.errors import InvalidParameter
from shared.json_types import JsonValue

_FORM = "application/x-www-form-urlencoded"
_BATCH = "Reconciliation query batch of the specification: an object of queries by their ids"
_EXTEND = "Data extension query of the specification: `ids` and `properties`"


def _read_form(body: bytes) -> Mapping[str, JsonValue]:
    """Return a form as the object that a JSON body is; the first of equal names counts."""
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=True, errors="strict")
    except (UnicodeDecodeError, ValueError):
        raise InvalidParameter("body", "must be a form in UTF-8, percent-encoded") from None
    return dict(reversed(pairs))


class ManifestQuery(OpenQueryParameters):
    """Query of the service: none for the manifest. Parameters of other versions of the protocol are ignored."""

    queries = fields.Str(load_default=None, metadata=field_doc(f"{_BATCH}, as JSON"))
    extend = fields.Str(load_default=None, metadata=field_doc(f"{_EXTEND}, as JSON"))


class ReconcileBody(Parameters):
    """A batch of queries, or a data extension query; as a form each is JSON text."""

    other_forms: Mapping[str, Callable[[bytes], Mapping[str, JsonValue]]] = {_FORM: _read_form}

    queries = fields.Raw(load_default=None, metadata=field_doc(_BATCH, type="object"))
    extend = fields.Raw(load_default=None, metadata=field_doc(_EXTEND, type="object"))


class AddressPath(PathParameters):
    """Path of an address with its credential."""

    address = fields.Str(required=True)


class ReconcileAnswer(Schema):
    """The manifest, results by the ids of queries, or extended data, as the specification has them."""

    class Meta:
        """Marshmallow's option for it."""

        unknown = INCLUDE


class ReconcileAddress(Schema):
    """An address of the service for tools that send no headers."""

    url = fields.Url(required=True, metadata=field_doc("It opens the service as your key does: keep it secret"))


class SuggestQuery(OpenQueryParameters):
    """Query of suggestions. Parameters of other versions of the protocol are ignored."""

    prefix = Utf8(0, 200, load_default="", metadata=field_doc("What has been typed so far", pattern=r"^[^\u0000]*$"))
    cursor = WholeNumber(0, 1_000, load_default=0, metadata=field_doc("How many suggestions to skip"))


class ProposalQuery(OpenQueryParameters):
    """Query of the columns of a type."""

    type = fields.Str(load_default=None, metadata=field_doc("Id of a type", example="item"))
    limit = WholeNumber(1, 1_000, load_default=100, metadata=field_doc("Largest number of columns"))


class EntityReference(Schema):
    """A type, property or column."""

    id = fields.Str(required=True)
    name = fields.Str(required=True)
    description = fields.Str()


class SuggestedEntity(EntityReference):
    """An item, brand or category that may be meant."""

    notable = fields.List(fields.Nested(EntityReference()), required=True, metadata=field_doc("Its type"))


class SuggestedEntities(Schema):
    """Suggested entities, best first."""

    result = fields.List(fields.Nested(SuggestedEntity()), required=True)


class SuggestedReferences(Schema):
    """Suggested types or properties."""

    result = fields.List(fields.Nested(EntityReference()), required=True)


class ProposedColumns(Schema):
    """Columns that data extension offers."""

    properties = fields.List(fields.Nested(EntityReference()), required=True)
    type = fields.Str(required=True, allow_none=True)
    limit = fields.Int(required=True)
