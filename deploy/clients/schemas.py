"""Schemas of the OpenAPI document, read for the generators of types. Pure."""

from typing import Any


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
