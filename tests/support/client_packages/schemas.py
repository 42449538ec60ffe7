"""Schemas and calls of the OpenAPI document, read for the generators of types. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from edge.docs.client_samples import report_method

Node = dict[str, Any]
# What a client itself decides.
_LEFT_OUT = {"format", "dry_run"}
_PLAIN = ("string", "integer", "number", "boolean")


@dataclass(frozen=True, slots=True)
class Operation:
    """A call of the document, its parameters written out."""

    id: str
    method: str
    path: str
    summary: str
    parameters: list[Node]
    body: Node
    responses: Node

    @property
    def query(self) -> list[Node]:
        """The parameters of its query that a caller may choose."""
        return [one for one in self.parameters if one["in"] == "query" and one["name"] not in _LEFT_OUT]

    @property
    def query_name(self) -> str:
        """The name of the type of its query."""
        return f"{self.id[0].upper()}{self.id[1:]}Query"

    @property
    def answers(self) -> list[str]:
        """The names of the schemas that it answers with in JSON."""
        content = self.responses.get("200", {}).get("content", {}).get("application/json", {})
        schema = content.get("schema", {})
        return [one["$ref"].rpartition("/")[2] for one in schema.get("oneOf", [schema]) if "$ref" in one]

    @property
    def report(self) -> str:
        """The name of the schema that a report answers with beside its quote."""
        return next(name for name in self.answers if name != "Quote")


def operations(document: Node) -> Iterator[Operation]:
    """Return every operation of a document."""
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            parameters = [_resolved(document, parameter) for parameter in one.get("parameters", ())]
            responses = {status: _resolved(document, response) for status, response in one["responses"].items()}
            content = one.get("requestBody", {}).get("content", {}).get("application/json", {})
            body = _resolved(document, content.get("schema", {}))
            yield Operation(one["operationId"], method, path, one["summary"], parameters, body, responses)


def reports_of(document: Node) -> dict[str, list[Operation]]:
    """Return the calls of each paid report by its name, `categoryInsights`: one call, or that of all and that of one."""
    named: dict[str, list[Operation]] = {}
    for operation in operations(document):
        if "202" in operation.responses and "Quote" in operation.answers:
            named.setdefault(report_method(operation.id), []).append(operation)
    # Of two calls, that of all has no parameter in its path.
    return {name: sorted(several, key=lambda one: "{" in one.path) for name, several in named.items()}


def _resolved(document: Node, node: Node) -> Node:
    if "$ref" not in node:
        return node
    _, _, kind, name = node["$ref"].split("/")
    shared: Node = document["components"][kind][name]
    return shared


def in_place(document: Node) -> Node:
    """Return the document with every simple value that schemas share in its places: clients need no names for them."""
    schemas = document["components"]["schemas"]
    values = {name: one for name, one in schemas.items() if "enum" not in one and set(kinds_of(one)) & set(_PLAIN)}
    made: Node = _in_place(document, {f"#/components/schemas/{name}": one for name, one in values.items()})
    for name in values:
        del made["components"]["schemas"][name]
    return made


def _in_place(node: Any, values: Node) -> Any:
    if isinstance(node, list):
        return [_in_place(one, values) for one in node]
    if not isinstance(node, dict):
        return node
    inner = {key: _in_place(one, values) for key, one in node.items()}
    value = values.get(str(node.get("$ref")))
    return {**value, **{key: one for key, one in inner.items() if key != "$ref"}} if value else inner


def kinds_of(schema: Node) -> list[str]:
    """Return the JSON types of a schema; none where it allows any."""
    kinds = schema.get("type", [])
    return kinds if isinstance(kinds, list) else [kinds]
