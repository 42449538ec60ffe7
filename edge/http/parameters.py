"""Validation of parameters: strict by default, with every fault in one problem document."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

from aiohttp import web
from aiohttp.typedefs import Handler
from marshmallow import RAISE, Schema, ValidationError, fields, validate
from webargs.aiohttpparser import AIOHTTPParser

from edge.http.json import decode_json
from edge.http.problems import Fault, Problem, invalid_parameters, missing_parameters, value_in
from edge.http.routing import BODY_BYTES_MAX, rule_of
from shared.errors import InvalidParameter
from shared.money import CODES

_WHOLE = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)
_DECIMAL = re.compile(r"[-+]?([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})([eE][-+]?[0-9]{1,3})?", re.ASCII)
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)
_NAME_SHOWN_MAX = 40
# A list of this length may be longer than a URL.
_VALUES_MANY = 100
_STORED_FROM = 10**12
REQUIRED = "is required"
# Of a parameter that should not be there, or is not there, the value says nothing.
_OF_NAMES = (REQUIRED, "cannot be combined", "is only allowed with", "belongs to")
# A webhook's address may hold a password; a signature opens what it signs.
_SECRET = frozenset({"url", "signature"})
_WORDS = {
    "Missing data for required field": "Required",
    "Field may not be null": "must not be null",
    "Not a valid string": "must be a string",
    "Not a valid list": "must be a list",
    "Not a valid": "is not a valid",
    "Must be": "must be",
    "Length must be": "must have a length",
    "Shorter than minimum length": "must have a length of at least",
    "Longer than maximum length": "must have a length of at most",
    "Invalid input type": "must be an object",
    "Invalid": "is an invalid",
    "String does not match expected pattern": "must have the documented form",
}
_OF_OBJECT = "_schema"
"""Where marshmallow puts what is wrong with an object as a whole."""


Declared = TypeVar("Declared", bound=Schema)


def whole_number(text: str, digits: int) -> int | None:
    """Return a whole number of so many digits at most; None if the text is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


class Parameters(Schema):
    """Base of every set of parameters: an unknown name is an error, so that a typing error never widens a query."""

    class Meta:
        """Marshmallow's option for it."""

        unknown = RAISE

    location = "json"
    """Where the parameters are: in the body unless a schema says otherwise."""


class PathParameters(Parameters):
    """Base of the parameters of a path."""

    location = "match_info"


class QueryParameters(Parameters):
    """Base of the parameters of a query."""

    location = "querystring"


class WholeNumber(fields.Integer):
    """A whole number in plain ASCII digits. Python's int() would also take `+5`, `1_0` and digits of other scripts."""

    def __init__(self, least: int, most: int, **options: Any) -> None:
        if most < _STORED_FROM:
            allowed = f"from {least:,} to {most:,}"
        else:  # a bound that only the storage sets says nothing to a reader; the digits that are always taken do
            allowed = f"of at most {len(str(most + 1)) - 1} digits, at least {least:,}"
        self._fault = f"must be a whole number {allowed}"
        super().__init__(validate=validate.Range(least, most, error=self._fault), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> int:
        if not isinstance(value, str) or not _WHOLE.fullmatch(value):
            raise ValidationError(self._fault)
        return int(value)


class DecimalNumber(fields.Float):
    """A number in plain ASCII digits. Python's float() would also take `0_5`, as 5, and digits of other scripts."""

    def __init__(self, least: float, most: float, **options: Any) -> None:
        self._fault = f"must be a number from {least:,} to {most:,}"
        super().__init__(validate=validate.Range(least, most, error=self._fault), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> float:
        if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
            raise ValidationError(self._fault)
        return float(value)


class JsonInteger(WholeNumber):
    """A whole number of a JSON body. `1.0` is one too, as JSON Schema has it; `true` and `"1"` are none."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is not int:
            raise ValidationError(self._fault)
        return value


class JsonNumber(fields.Float):
    """A number of a JSON body above `least`, and at most `most`; `true` and `"1"` are none."""

    def __init__(self, least: float, most: float, *, metadata: Mapping[str, Any], **options: Any) -> None:
        super().__init__(metadata={"exclusiveMinimum": least, "maximum": most, **metadata}, **options)
        self._least, self._most = least, most

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> float:
        if type(value) not in (int, float) or not self._least < value <= self._most:
            raise ValidationError(f"must be a number above {self._least:,} and at most {self._most:,}")
        return float(value)


class JsonFlag(fields.Boolean):
    """`true` or `false` of a JSON body; `0`, `1` and texts are neither."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> bool:
        if not isinstance(value, bool):
            raise ValidationError("must be true or false")
        return value


class Flag(fields.Boolean):
    """`true` or `false`, and nothing that only looks like it."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> bool:
        if value not in ("true", "false"):
            raise ValidationError("must be true or false")
        return bool(value == "true")


class Utf8(fields.String):
    """Text of bounded length, counted in code points after NFC and trimming; no NUL, no lone surrogate."""

    def __init__(self, least: int, most: int, **options: Any) -> None:
        # As much of the rule as JSON Schema can say: no NUL, and something that is no space.
        pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"
        metadata = {"pattern": pattern, **options.pop("metadata", {}), "minLength": least, "maxLength": most}
        super().__init__(metadata=metadata, **options)
        self._least, self._most = least, most

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> str:
        text = unicodedata.normalize("NFC", str(super()._deserialize(value, attr, data, **options))).strip()
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise ValidationError("must be valid UTF-8 without NUL")
        if not self._least <= len(text) <= self._most:
            raise ValidationError(f"must have {self._least} to {self._most} characters after trimming")
        return text


class Texts(fields.List[Any]):
    """A list of texts of bounded length. A list of a thousand that are right is accepted in one pass."""

    def __init__(self, most: int, **options: Any) -> None:
        super().__init__(fields.Str(validate=validate.Length(1, most)), **options)
        self._most = most

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> list[Any]:
        if type(value) is list and all(type(text) is str and 0 < len(text) <= self._most for text in value):
            return value
        return super()._deserialize(value, attr, data, **options)


class Entries(fields.List[Any]):
    """A list of objects. Its length is checked first: each entry that is wrong has a fault, and takes its time."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> list[Any]:
        if type(value) is list:
            self._validate(value)
        return super()._deserialize(value, attr, data, **options)


class CursorText(fields.String):
    """A cursor; its signature protects its content."""

    def __init__(self, least: int = 1) -> None:
        metadata = {"description": "`next_cursor` of the previous page", "pattern": "^[A-Za-z0-9_-]*$"}
        super().__init__(load_default=None, validate=validate.Length(least or None, 800), metadata=metadata)


class CurrencyCode(fields.String):
    """A currency's three letters (ISO 4217), current or withdrawn; loads take no other, so another is a mistake."""

    def __init__(self, sentence: str | None = "Only this currency; an ISO 4217 code") -> None:
        # The document's own pattern: JSON Schema has no \A and \Z, and Python's $ would let a newline in.
        described = {"description": sentence} if sentence else {}
        metadata = {**described, "example": "HKD", "pattern": "^[A-Z]{3}$"}
        super().__init__(load_default=None, validate=_check_currency, metadata=metadata)


def described(sentence: str, **more: Any) -> dict[str, Any]:
    """Return what the document says of a field: a sentence, and members of its JSON Schema."""
    return {"description": sentence, **more}


def one_of(allowed: Iterable[str], sentence: str, **options: Any) -> fields.Str:
    """Declare a text that is one of several; it may be absent unless it is required or has a default."""
    absent = {} if "required" in options else {"load_default": None}
    return fields.Str(validate=validate.OneOf(list(allowed)), metadata=described(sentence), **absent | options)


def listed(field: fields.Field[Any], sentence: str, most: int = 100, example: str | None = None) -> fields.List[Any]:
    """Declare a parameter of a query that may be repeated, many times where a URL holds the values."""
    sentence = f"{sentence}, within the 8 kB of a URL" if most >= _VALUES_MANY else sentence
    shown = {"example": [example]} if example else {}
    metadata = described(sentence, explode=True, **shown)
    too_many = f"must be repeated at most {most} times" if most > 1 else "must be sent once"
    return fields.List(field, load_default=list, validate=validate.Length(0, most, error=too_many), metadata=metadata)


def with_members(base: type[Declared], name: str, sentence: str, **members: fields.Field[Any]) -> type[Declared]:
    """Declare a schema that has members besides those of its base, by its name and its sentence in the document."""
    made: type[Declared] = type(name, (base,), {"__doc__": sentence, **members})
    return made


class LinkQuery(QueryParameters):
    """The query of a signed URL."""

    expires = WholeNumber(1, 10**12, required=True, metadata=described("Expiry, in seconds since 1970-01-01 UTC"))
    organization = fields.Str(
        required=True,
        validate=validate.Length(1, 64),
        metadata=described("Organization for which it was created"),
    )
    signature = fields.Str(required=True, validate=validate.Length(1, 200), metadata=described("Signature of the URL"))


class StrictParser(AIOHTTPParser):
    """Turns webargs' errors into the problems of the contract."""

    def load_querystring(self, req: web.Request, schema: Schema) -> Any:
        """Read the query; a parameter that comes twice is an error unless it is a list."""
        declared = fields_by_name(schema)
        single = [
            name
            for name in dict.fromkeys(req.query)
            if not isinstance(declared.get(name), fields.List) and (name in declared or schema.unknown == RAISE)
        ]
        twice = [name for name in single if len(req.query.getall(name)) > 1]
        if twice:
            raise invalid_parameters([Fault(shown_name(name), "is repeated; send it once") for name in twice])
        return super().load_querystring(req, schema)

    async def load_json(self, req: web.Request, schema: Schema) -> Any:
        """Read a JSON body; a missing one is an empty object. Raises InvalidJson, and `unsupported-media-type`."""
        bound = rule_of(req).body_bytes_max
        body = await (req if bound == BODY_BYTES_MAX else req.clone(client_max_size=bound)).read()
        if not body:
            return {}
        if req.content_type != "application/json":
            raise Problem("unsupported-media-type", "Send the body as application/json.")
        return decode_json(body)

    def handle_error(self, error: ValidationError, req: web.Request, schema: Schema, **options: Any) -> Any:
        """Name every parameter that is wrong."""
        raise problem_of_validation(error, schema)


def _check_currency(text: str) -> None:
    if not _CURRENCY.fullmatch(text):
        raise ValidationError("must be a three-letter currency code in capitals, such as HKD")
    if text not in CODES:
        raise ValidationError("is not an ISO 4217 currency code, such as HKD")


def problem_of_validation(error: ValidationError, schema: Schema) -> Problem:
    """Return the problem that names each missing or invalid parameter with the reason."""
    named = [fault for names in _by_location(error).values() for fault in _faults(names, schema, error.data)]
    faults = [fault._replace(parameter="body") if fault.parameter == _OF_OBJECT else fault for fault in named]
    if faults and all(fault.detail == REQUIRED or fault.detail.startswith(f"{REQUIRED} with `") for fault in faults):
        return missing_parameters(faults)
    return invalid_parameters(faults)


def load(schema: Schema, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as a schema reads them. Raises the problem that names each missing or invalid parameter."""
    try:
        loaded: dict[str, Any] = schema.load(values)
    except ValidationError as error:
        raise problem_of_validation(ValidationError({"json": error.messages}, data=values), schema) from None
    return loaded


def _faults(messages: Mapping[str, Any], schema: Schema, given: Any) -> list[Fault]:
    declared = fields_by_name(schema)
    of_names = {
        "Missing data for required field.": REQUIRED,
        "Unknown field.": f"is unknown; allowed: {', '.join(sorted(declared)) or 'none'}",
    }
    faults: list[Fault] = []
    # Unknown names come from a set, in another order in each process.
    for name, message in sorted(messages.items(), key=lambda one: "" if one[0] in declared else str(one[0])):
        field, text, value = declared.get(str(name)), _first(message), value_in(given, name, message)
        if isinstance(message, Mapping) and isinstance(field, fields.Nested):
            faults += _faults_below(str(name), message, field.schema, value)
        elif isinstance(message, Mapping) and isinstance(inner := getattr(field, "inner", None), fields.Nested):
            for place, entry in message.items():
                of_entry = entry if isinstance(entry, Mapping) else {_OF_OBJECT: entry}
                faults += _faults_below(f"{name}.{place}", of_entry, inner.schema, given[name][place])
        elif text in of_names or text.startswith(_OF_NAMES):
            faults.append(Fault(shown_name(str(name)), of_names.get(text, text)))
        else:
            faults.append(Fault(shown_name(str(name)), in_our_words(text), None if name in _SECRET else value))
    return faults


def _faults_below(path: str, messages: Mapping[str, Any], schema: Schema, given: Any) -> list[Fault]:
    """Return the faults of an object inside another one, each under its whole path."""
    return [
        fault._replace(parameter=path if fault.parameter == _OF_OBJECT else f"{path}.{fault.parameter}")
        for fault in _faults(messages, schema, given)
    ]


def in_our_words(text: str) -> str:
    """Return a sentence of marshmallow as one of ours, which continues a parameter's name."""
    for theirs, ours in _WORDS.items():
        if text.startswith(theirs):
            return f"{ours}{text.removeprefix(theirs)}".rstrip(".")
    return text


def fields_by_name(schema: Schema) -> dict[str, fields.Field[Any]]:
    """Return the fields by the names that callers use; `from` is `from_` in Python only."""
    return {field.data_key or name: field for name, field in schema.fields.items()}


def shown_name(name: str) -> str:
    """Return a parameter's name for a response; a name too long to be ours is shortened, as it may be a secret."""
    return name if len(name) <= _NAME_SHOWN_MAX else f"{name[:8]}…"


def _by_location(error: ValidationError) -> dict[str, Mapping[str, Any]]:
    # webargs puts the location around marshmallow's messages: {"querystring": {"limit": ["…"]}}
    messages = error.messages
    return messages if isinstance(messages, dict) else {"request": {"request": messages}}


def _first(messages: Any) -> str:
    while not isinstance(messages, str):
        messages = next(iter(messages.values() if isinstance(messages, Mapping) else messages))
    return messages


def _check_utf8(request: web.Request) -> None:
    """Refuse a query that is not UTF-8; decoded leniently, it would search for a replacement character."""
    try:
        unquote_to_bytes(request.rel_url.raw_query_string).decode()
    except UnicodeDecodeError:
        raise InvalidParameter("query", "must be UTF-8, percent-encoded") from None


PARSER = StrictParser()
QUERY: web.RequestKey[dict[str, Any]] = web.RequestKey("query", dict)
PATH: web.RequestKey[dict[str, Any]] = web.RequestKey("path", dict)
BODY: web.RequestKey[dict[str, Any]] = web.RequestKey("body", dict)
_KEYS = {"querystring": QUERY, "match_info": PATH, "json": BODY}


@web.middleware
async def validation(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Validate what the handler declares by aiohttp-apispec's decorators; refuse a query where it declares none.

    The package's own middleware does the same with string keys, which aiohttp deprecates, and with one global parser.
    """
    # Pages as well: aiohttp would raise while it decompresses a body that is not what its header says.
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Problem("unsupported-media-type", "Send the body without Content-Encoding.")
    if rule_of(request).page:
        return await handler(request)
    _check_utf8(request)
    declared = getattr(request.match_info.handler, "__schemas__", ())
    takes_query = any(entry["location"] == "querystring" for entry in declared)
    if request.query and not takes_query and request.match_info.http_exception is None:
        raise InvalidParameter(shown_name(next(iter(request.query))), "is unknown; this call takes no query parameters")
    for entry in declared:
        location = entry["location"]
        request[_KEYS[location]] = await PARSER.parse(entry["schema"], request, location=location, unknown=None)
    return await handler(request)
