"""The middleware that validates parameters: strict by default, with every fault in one problem document."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import unquote_to_bytes

from aiohttp import web
from aiohttp.typedefs import Handler
from marshmallow import RAISE, Schema, ValidationError, fields
from webargs.aiohttpparser import AIOHTTPParser

from edge.http.faults import Fault, value_in
from edge.http.json import decode_json
from edge.http.problems import Problem, invalid_parameters, missing_parameters
from edge.http.routing import BODY_BYTES_MAX, rule_of
from shared.errors import InvalidParameter

_NAME_SHOWN_MAX = 40
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

Query: TypeAlias = dict[str, Any]
"""Parameters as a schema has read them: each has the type of its field."""
QUERY: web.RequestKey[dict[str, Any]] = web.RequestKey("query", dict)
PATH: web.RequestKey[dict[str, Any]] = web.RequestKey("path", dict)
BODY: web.RequestKey[dict[str, Any]] = web.RequestKey("body", dict)
_KEYS = {"querystring": QUERY, "match_info": PATH, "json": BODY}


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
        """Read a JSON body; a missing one is an empty object. Raises InvalidJson, and `unsupported-media-type`.

        A schema may take other forms too: `other_forms` are what turns a body of each media type into such an object.
        """
        bound = rule_of(req).body_bytes_max
        body = await (req if bound == BODY_BYTES_MAX else req.clone(client_max_size=bound)).read()
        others: Mapping[str, Callable[[bytes], Any]] = getattr(schema, "other_forms", {})
        if req.content_type in others:
            return others[req.content_type](body)
        if not body:
            return {}
        if req.content_type != "application/json":
            allowed = " or ".join(["application/json", *others])
            raise Problem("unsupported-media-type", f"Send the body as {allowed}.")
        return decode_json(body)

    def handle_error(self, error: ValidationError, req: web.Request, schema: Schema, **options: Any) -> Any:
        """Name every parameter that is wrong."""
        raise problem_of_validation(error, schema)


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
    for name, message in sorted(messages.items(), key=lambda entry: "" if entry[0] in declared else str(entry[0])):
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
