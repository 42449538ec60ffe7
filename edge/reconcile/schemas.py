"""Parameters and answers of reconciliation, declared once."""

from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

from marshmallow import EXCLUDE, INCLUDE, Schema, fields

from edge.http.parameters import Parameters, PathParameters, QueryParameters, field_doc
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


class ManifestQuery(QueryParameters):
    """Query of the service: none for the manifest. Parameters of other versions of the protocol are ignored."""

    class Meta:
        """Marshmallow's option for it."""

        unknown = EXCLUDE

    queries = fields.Str(load_default=None, metadata=field_doc(f"{_BATCH}, as JSON"))
    extend = fields.Str(load_default=None, metadata=field_doc(f"{_EXTEND}, as JSON"))


class ReconcileBody(Parameters):
    """A batch of queries, or a data extension query; as a form each is JSON text."""

    class Meta:
        """Marshmallow's option for it."""

        unknown = EXCLUDE

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
