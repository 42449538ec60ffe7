"""The document as it is published: made from the exact one, for programs that read it. Pure."""

import copy
from typing import Any

from edge.http.catalogue import CATALOGUE
from edge.openapi.brief import (
    with_first_sentences,
    with_note_on_reference,
    with_one_problem,
    with_plain_successes,
    with_usual_credential,
    without_descriptions_of_answers,
    without_implied_keywords,
    without_prices,
)
from edge.openapi.components import PROBLEM, Node, is_problem, operations_of, share
from edge.openapi.composition import with_bases, with_quotes
from edge.openapi.enumerations import with_enumerations
from edge.openapi.members import with_descriptions
from edge.openapi.values import with_values, with_values_by_name

# Every call can meet these, whatever it does: one `default` stands for them.
EVERYWHERE = ("405", "414", "415", "417", "431", "500", "503")
# They are on every answer of a kind, and the document says so once, in its own description.
_SAID_ONCE = ("X-Request-Id", "RateLimit-Policy", "RateLimit")
_RATE_LIMIT = {
    "description": "Remaining calls of each limit, and the seconds until it is reset",
    "schema": {"type": "string"},
}
_REQUEST_HEADERS = {
    "206": ("Range", "The part of the file that is wanted (RFC 9110), like `bytes=0-1048575`"),
    "304": ("If-None-Match", "The ETag of the caller's copy; 304 if it is still current"),
    "202": ("Prefer", "How long the call may wait for the result before it answers 202, like `wait=10`"),
}


def published(document: Node, *, examples: bool = False) -> Node:
    """Return the document as it is published.

    Repeated headers, parameters, responses, enumerations, simple values and groups of members are components; refusals
    are an operation's `default`; each member has a description; a query parameter is absent or has a value, and never
    null; an answer may have members that the document does not name, as the compatibility policy says; what costs
    nothing has no price. With `examples` it has the form for pages that people read: with links, whole descriptions,
    prices in words, and each problem that not every call can meet.
    """
    made = copy.deepcopy(document)
    _with_default(made)
    if not examples:
        without_prices(made)
        _without_examples(made)
        _without_free_prices(made)
    _without_null(made)
    _with_open_answers(made)
    _with_whole_responses(made)
    _with_request_headers(made)
    with_quotes(made)
    with_enumerations(made)
    with_bases(made)
    with_descriptions(made)
    _without_defaults(made)
    if not examples:
        with_note_on_reference(made)
        with_one_problem(made)
        with_plain_successes(made)
        with_first_sentences([made["paths"], made["components"]])
        without_implied_keywords(made)
    with_values(made)
    with_values_by_name(made)
    if not examples:
        with_usual_credential(made)
        without_descriptions_of_answers(made)
    share(made)
    return made


def _with_default(document: Node) -> None:
    for operation in operations_of(document):
        responses = operation["responses"]
        folded = [*EVERYWHERE, *(["403"] if _is_refused_credential(responses.get("403", {})) else [])]
        met = [responses.pop(status) for status in folded if is_problem(responses.get(status, {}))]
        if met:
            responses["default"] = {"description": PROBLEM, "content": met[0]["content"]}


def _is_refused_credential(response: Node) -> bool:
    return bool(response.get("description") == CATALOGUE["credential-not-accepted"].meaning)


def _without_examples(document: Node) -> None:
    for operation in operations_of(document):
        for parameter in operation["parameters"]:
            _without_example(parameter["schema"])
        for response in operation["responses"].values():
            response.pop("links", None)
            for content in response.get("content", {}).values():
                content.pop("example", None)
    for schema in document["components"]["schemas"].values():
        for member in schema.get("properties", {}).values():
            _without_example(member)


def _without_example(schema: Node) -> None:
    schema.pop("example", None)
    schema.get("items", {}).pop("example", None)


def _without_free_prices(document: Node) -> None:
    for operation in operations_of(document):
        if not operation["x-units"]["units"]:
            del operation["x-units"]
        elif operation["x-units"]["of"] == "call":
            del operation["x-units"]["of"]


def _without_null(document: Node) -> None:
    for operation in operations_of(document):
        for parameter in operation.get("parameters", ()):
            schema = parameter.get("schema", {})
            kinds = schema.get("type")
            if isinstance(kinds, list):
                kept = [kind for kind in kinds if kind != "null"]
                schema["type"] = kept[0] if len(kept) == 1 else kept
            if "default" in schema and schema["default"] is None:
                del schema["default"]
            if None in schema.get("enum", ()):
                schema["enum"] = [value for value in schema["enum"] if value is not None]


def _with_open_answers(document: Node) -> None:
    """Let every schema that no request has take members that it does not name."""
    requested = _request_schemas(document)
    for name, schema in document["components"]["schemas"].items():
        if name not in requested:
            _open(schema)
    for operation in operations_of(document):
        for response in operation["responses"].values():
            _open(response)


def _request_schemas(document: Node) -> set[str]:
    """Return the names of the schemas that requests have."""
    requested = set[str]()
    for operation in operations_of(document):
        _named(document, operation.get("requestBody", {}), requested)
    return requested


def _named(document: Node, node: Any, names: set[str]) -> None:
    if isinstance(node, dict):
        name = str(node.get("$ref", "")).removeprefix("#/components/schemas/")
        if name in document["components"]["schemas"] and name not in names:
            names.add(name)
            _named(document, document["components"]["schemas"][name], names)
        for value in node.values():
            _named(document, value, names)
    elif isinstance(node, list):
        for value in node:
            _named(document, value, names)


def _open(node: Any) -> None:
    if isinstance(node, dict):
        if node.get("additionalProperties") in (False, {}):
            del node["additionalProperties"]
        for value in node.values():
            _open(value)
    elif isinstance(node, list):
        for value in node:
            _open(value)


def _with_whole_responses(document: Node) -> None:
    """Give a part of a file the content of the whole, and each file a schema: generators need both to return bytes."""
    for operation in operations_of(document):
        responses = operation["responses"]
        for response in responses.values():
            for kind, content in response.get("content", {}).items():
                if not content and not kind.endswith(("json", "yaml")):
                    content["schema"] = {"type": "string"} | ({} if kind.startswith("text/") else {"format": "binary"})
        if "206" in responses and "content" not in responses["206"] and "content" in responses.get("200", {}):
            whole = responses["200"]["content"]
            # A part of a JSON document is no document, and where one may come its type must not be left out.
            if not any(kind.endswith("json") for kind in whole):
                responses["206"]["content"] = {kind: {"schema": one["schema"]} for kind, one in whole.items() if one}


def _with_request_headers(document: Node) -> None:
    for operation in operations_of(document):
        named = {one["name"] for one in operation.get("parameters", ())}
        for status, (name, sentence) in _REQUEST_HEADERS.items():
            if status in operation["responses"] and name not in named:
                schema = {"type": "string"}
                parameter = {"in": "header", "name": name, "description": sentence, "schema": schema}
                operation.setdefault("parameters", []).append(parameter)


def _without_defaults(document: Node) -> None:
    """Leave out what OpenAPI means anyway, and the headers that the document describes as those of every answer."""
    for operation in operations_of(document):
        for parameter in operation.get("parameters", ()):
            if not parameter.get("required"):
                parameter.pop("required", None)
            if parameter["in"] == "query" and parameter.get("style") == "form" and parameter.get("explode"):
                del parameter["style"], parameter["explode"]
        for status, response in operation["responses"].items():
            headers = {name: one for name, one in response.pop("headers", {}).items() if name not in _SAID_ONCE}
            if status == "429":
                headers["RateLimit"] = _RATE_LIMIT
            if headers:
                response["headers"] = headers
        if not operation.get("parameters"):
            operation.pop("parameters", None)
