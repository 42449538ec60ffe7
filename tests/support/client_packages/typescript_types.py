"""The OpenAPI document's schemas and the queries of its operations as a module of TypeScript. Pure."""

import json
import re
from typing import Any

from tests.support.client_packages.schemas import Operation, in_place, kinds_of, operations, whole

_HEAD = "/** Types of the API's documents and queries, made by `make clients`; answers may have more members. */\n"
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*", re.ASCII)
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def types(document: dict[str, Any]) -> str:
    """Return a module with an interface for each object of the document and for the query of each operation."""
    document = in_place(document)
    schemas = document["components"]["schemas"]
    made = {name: whole(one, schemas) for name, one in schemas.items()}
    listed = {name: _interface(name, one) if one["properties"] else _alias(name, one) for name, one in made.items()}
    for operation in operations(document):
        if operation.query:
            listed[operation.query_name] = _interface(operation.query_name, _query(operation))
    return "\n".join([_HEAD, *(listed[name] for name in sorted(listed))])


def parameters(document: dict[str, Any]) -> str:
    """Return a module with the names of the arguments of each call: of the query of one that reads, else of its body."""
    named = {
        one.id: [parameter["name"] for parameter in one.query] if one.method == "get" else list(one.body["properties"])
        for one in operations(document)
        if (one.query if one.method == "get" else one.body.get("properties"))
    }
    lines = "".join(f"  {id}: {json.dumps(names)},\n" for id, names in sorted(named.items()))
    head = "/** The arguments of each call, made by `make clients`. */"
    return f"{head}\nexport const PARAMETERS = {{\n{lines}}} as const;\n"


def _query(operation: Operation) -> dict[str, Any]:
    """Return the query of an operation as the schema of an object."""
    parameters = operation.query
    return {
        "description": f"Query of `{operation.id}`.",
        "properties": {one["name"]: {**one["schema"], "description": one["description"]} for one in parameters},
        "required": [one["name"] for one in parameters if one.get("required")],
    }


def _alias(name: str, schema: dict[str, Any]) -> str:
    return f"{_head(schema)}export type {name} = {_type(schema)};\n"


def _interface(name: str, schema: dict[str, Any]) -> str:
    lines = [f"{_head(schema)}export interface {name} {{"]
    for member, node in schema["properties"].items():
        if node.get("description"):
            lines.append(f"  /** {_comment(node['description'])} */")
        spelled = member if _NAME.fullmatch(member) else json.dumps(member)
        absent = "" if member in schema["required"] else "?"
        undefined = " | undefined" if absent else ""
        lines.append(f"  {spelled}{absent}: {_type(node)}{undefined};")
    return "\n".join([*lines, "}", ""])


def _head(schema: dict[str, Any]) -> str:
    return f"/** {_comment(schema['description'])} */\n" if schema.get("description") else ""


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("\n", " ")


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " | ".join(dict.fromkeys(_type(one) for one in schema[several]))
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    return " | ".join(dict.fromkeys(_of_kind(kind, schema) for kind in kinds_of(schema))) or "unknown"


def _of_kind(kind: str, schema: dict[str, Any]) -> str:
    if kind == "array":
        inner = _type(schema.get("items", {}))
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"Record<string, {_type(values) if isinstance(values, dict) and values else 'unknown'}>"
    return _PLAIN[kind]
