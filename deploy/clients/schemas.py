"""Schemas of the OpenAPI document, read for the generators of types. Pure."""

from typing import Any

_PLAIN = ("string", "integer", "number", "boolean")


def in_place(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with every simple value that schemas share in its places: clients need no names for them."""
    schemas = document["components"]["schemas"]
    values = {name: one for name, one in schemas.items() if "enum" not in one and set(kinds_of(one)) & set(_PLAIN)}
    made: dict[str, Any] = _in_place(document, {f"#/components/schemas/{name}": one for name, one in values.items()})
    for name in values:
        del made["components"]["schemas"][name]
    return made


def _in_place(node: Any, values: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_in_place(one, values) for one in node]
    if not isinstance(node, dict):
        return node
    inner = {key: _in_place(one, values) for key, one in node.items()}
    value = values.get(str(node.get("$ref")))
    return {**value, **{key: one for key, one in inner.items() if key != "$ref"}} if value else inner


def whole(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with the members of the groups that it refers to, those first."""
    references = [one["$ref"] for one in schema.get("allOf", ()) if "$ref" in one]
    groups = [whole(schemas[reference.rpartition("/")[2]], schemas) for reference in references]
    merged: dict[str, Any] = {"properties": {}, "required": []}
    for part in (*groups, schema):
        merged["properties"] |= part.get("properties", {})
        merged["required"] += part.get("required", [])
    return {**schema, **merged}


def kinds_of(schema: dict[str, Any]) -> list[str]:
    """Return the JSON types of a schema; none where it allows any."""
    kinds = schema.get("type", [])
    return kinds if isinstance(kinds, list) else [kinds]
