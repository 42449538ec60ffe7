"""What many operations share, said once: responses, headers and parameters as components of the document. Pure."""

import copy
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

_WORD = re.compile(r"[A-Za-z0-9]+")
Node = dict[str, Any]


# Every call can meet these, whatever it does: one `default` stands for them.
_EVERYWHERE = ("405", "414", "415", "417", "431", "500")


def with_components(document: Node, *, examples: bool = False) -> Node:
    """Return the document as it is published.

    Repeated headers, parameters and responses are components; problems that every call can meet are its `default`; a
    query parameter is absent or has a value, and never null; an answer may have members that the document does not
    name, as the compatibility policy says. Whole answers as `examples` are for pages that people read.
    """
    made = copy.deepcopy(document)
    _with_default(made)
    if not examples:
        _without_examples(made)
    _without_null(made)
    _with_open_answers(made)
    _with_whole_responses(made)
    _with_request_headers(made)
    _share(made, "headers", _headers, lambda name, header: _words(name))
    _share(made, "parameters", _parameters, lambda name, one: _words(one["in"]) + _words(one["name"]))
    _share(made, "responses", _responses, _response_name)
    return made


def expanded(document: Node) -> Node:
    """Return the document with every shared header, parameter and response in its place again."""
    made = copy.deepcopy(document)
    for operation in _operations(made):
        operation["parameters"] = [_resolved(made, one) for one in operation.get("parameters", ())]
        responses = {status: _resolved(made, one) for status, one in operation["responses"].items()}
        for response in responses.values():
            if "headers" in response:
                response["headers"] = {name: _resolved(made, one) for name, one in response["headers"].items()}
        operation["responses"] = responses
    return made


def _resolved(document: Node, node: Node) -> Node:
    if "$ref" not in node:
        return node
    _, _, kind, name = node["$ref"].split("/")
    return copy.deepcopy(document["components"][kind][name])


def _operations(document: Node) -> Iterator[Node]:
    for operations in document["paths"].values():
        yield from operations.values()


def _with_default(document: Node) -> None:
    for operation in _operations(document):
        responses = operation["responses"]
        met = [responses.pop(status) for status in _EVERYWHERE if status in responses]
        if met:
            responses["default"] = {
                "description": "Another problem; its `type` says which.",
                "content": met[0]["content"],
            }


def _without_examples(document: Node) -> None:
    for operation in _operations(document):
        for response in operation["responses"].values():
            for content in response.get("content", {}).values():
                content.pop("example", None)


def _without_null(document: Node) -> None:
    for operation in _operations(document):
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
    asked = set[str]()
    for operation in _operations(document):
        _named(document, operation.get("requestBody", {}), asked)
    for name, schema in document["components"]["schemas"].items():
        if name not in asked:
            _open(schema)
    for operation in _operations(document):
        for response in operation["responses"].values():
            _open(response)


def _named(document: Node, node: Any, found: set[str]) -> None:
    if isinstance(node, dict):
        name = str(node.get("$ref", "")).removeprefix("#/components/schemas/")
        if name in document["components"]["schemas"] and name not in found:
            found.add(name)
            _named(document, document["components"]["schemas"][name], found)
        for value in node.values():
            _named(document, value, found)
    elif isinstance(node, list):
        for value in node:
            _named(document, value, found)


def _open(node: Any) -> None:
    if isinstance(node, dict):
        if node.get("additionalProperties") is False:
            del node["additionalProperties"]
        for value in node.values():
            _open(value)
    elif isinstance(node, list):
        for value in node:
            _open(value)


def _with_whole_responses(document: Node) -> None:
    """Give a part of a file the content of the whole, and each file a schema: generators need both to return bytes."""
    for operation in _operations(document):
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


_REQUEST_HEADERS = {
    "206": ("Range", "The part of the file that is wanted (RFC 9110), like `bytes=0-1048575`"),
    "304": ("If-None-Match", "The ETag of what the caller has; 304 if it is still current"),
    "202": ("Prefer", "How long the call may wait for the result before it answers 202, like `wait=10`"),
}


def _with_request_headers(document: Node) -> None:
    for operation in _operations(document):
        named = {one["name"] for one in operation.get("parameters", ())}
        for status, (name, sentence) in _REQUEST_HEADERS.items():
            if status in operation["responses"] and name not in named:
                schema = {"type": "string"}
                parameter = {"in": "header", "name": name, "required": False, "description": sentence, "schema": schema}
                operation.setdefault("parameters", []).append(parameter)


Place = tuple[Any, Any]
"""A dictionary or list, and where in it a shared node is."""


def _headers(document: Node) -> Iterator[Place]:
    for operation in _operations(document):
        for response in operation["responses"].values():
            headers = response.get("headers", {})
            yield from ((headers, name) for name in headers)


def _parameters(document: Node) -> Iterator[Place]:
    for operation in _operations(document):
        listed = operation.get("parameters", [])
        yield from ((listed, number) for number in range(len(listed)))


def _responses(document: Node) -> Iterator[Place]:
    for operation in _operations(document):
        yield from ((operation["responses"], status) for status in operation["responses"])


def _share(
    document: Node, kind: str, places: Callable[[Node], Iterator[Place]], name_of: Callable[[Any, Node], str]
) -> None:
    """Make a component of each node that occurs more than once, and put references in its places."""
    listed = list(places(document))
    counts = Counter(_canonical(holder[key]) for holder, key in listed)
    components = document["components"].setdefault(kind, {})
    names: dict[str, str] = {}
    for holder, key in listed:
        text = _canonical(holder[key])
        if counts[text] < 2:
            continue
        if text not in names:
            names[text] = _unused(name_of(key, holder[key]), components)
            components[names[text]] = holder[key]
        holder[key] = {"$ref": f"#/components/{kind}/{names[text]}"}
    if not components:
        del document["components"][kind]


def _response_name(status: str, response: Node) -> str:
    return "Problem" if status == "default" else _words(HTTPStatus(int(status)).phrase)


def _canonical(node: Node) -> str:
    return json.dumps(node, sort_keys=True)


def _unused(name: str, taken: Node) -> str:
    number = 2
    found = name
    while found in taken:
        found = f"{name}{number}"
        number += 1
    return found


def _words(text: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in _WORD.findall(text))
