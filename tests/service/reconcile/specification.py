"""What the JSON schemas of the specification, version 0.2, require of the answers of a service."""

from typing import Any

_TEXT: dict[str, Any] = {"type": "string"}
_REFERENCE = {"type": "object", "required": ["id", "name"], "properties": {"id": _TEXT, "name": _TEXT}}
_TYPES = {
    "type": "array",
    "items": {"anyOf": [_TEXT, {"type": "object", "required": ["id"], "properties": {"id": _TEXT}}]},
}
_TEMPLATE = {"type": "string", "pattern": r".*\{\{id\}\}.*"}
_PLACE = {"type": "object", "properties": {"service_url": _TEXT, "service_path": _TEXT}}

MANIFEST: dict[str, Any] = {
    "type": "object",
    "required": ["versions", "name", "identifierSpace", "schemaSpace"],
    "properties": {
        "versions": {"type": "array", "items": _TEXT, "contains": {"enum": ["0.2"]}},
        **dict.fromkeys(("name", "identifierSpace", "schemaSpace", "documentation"), _TEXT),
        "view": {"type": "object", "required": ["url"], "properties": {"url": _TEMPLATE}},
        "defaultTypes": {"type": "array", "items": _REFERENCE, "uniqueItems": True},
        "suggest": {"type": "object", "properties": dict.fromkeys(("entity", "property", "type"), _PLACE)},
        "preview": {
            "type": "object",
            "required": ["url", "width", "height"],
            "properties": {"url": _TEMPLATE, "width": {"type": "integer"}, "height": {"type": "integer"}},
        },
        "extend": {"type": "object", "properties": {"propose_properties": _PLACE}},
        "batchSize": {"type": "integer"},
        "authentication": {"type": "object", "required": ["type", "name", "in"]},
    },
}
CANDIDATE = {
    "type": "object",
    "required": ["id", "name", "score"],
    "properties": {
        **dict.fromkeys(("id", "name", "description"), _TEXT),
        "score": {"type": "number"},
        "match": {"type": "boolean"},
        "type": _TYPES,
    },
}
RESULTS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "required": ["result"],
        "properties": {"result": {"type": "array", "items": CANDIDATE}},
    },
}
ENTITIES: dict[str, Any] = {
    "type": "object",
    "required": ["result"],
    "properties": {
        "result": {
            "type": "array",
            "items": {**_REFERENCE, "properties": {"id": _TEXT, "name": _TEXT, "notable": _TYPES}},
        }
    },
}
REFERENCES: dict[str, Any] = {
    "type": "object",
    "required": ["result"],
    "properties": {"result": {"type": "array", "items": _REFERENCE}},
}
PROPOSAL: dict[str, Any] = {
    "type": "object",
    "required": ["properties"],
    "properties": {"properties": {"type": "array", "items": _REFERENCE}, "type": _TEXT, "limit": {"type": "number"}},
}
_VALUE = {
    "oneOf": [
        {"type": "object", "required": [name], "properties": {name: {"type": kind}}, "additionalProperties": False}
        for name, kind in (("str", "string"), ("float", "number"), ("int", "integer"))
    ]
    + [
        {
            "type": "object",
            "required": ["id", "name"],
            "properties": {"id": _TEXT, "name": _TEXT},
            "additionalProperties": False,
        }
    ]
}
EXTENSION: dict[str, Any] = {
    "type": "object",
    "required": ["rows", "meta"],
    "properties": {
        "meta": {"type": "array", "items": _REFERENCE},
        "rows": {
            "type": "object",
            "additionalProperties": {"type": "object", "additionalProperties": {"type": "array", "items": _VALUE}},
        },
    },
}
