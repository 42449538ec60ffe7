"""The OpenAPI document's schemas as a module of Python, a TypedDict for each. Pure."""

import keyword
from typing import Any

from deploy.clients.schemas import in_place, whole

_HEAD = '''"""Types of the API's documents, made by `make clients`; answers may have more members."""

from typing import Any, Literal, NotRequired, TypedDict

'''
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def types(document: dict[str, Any]) -> str:
    """Return a module with a TypedDict for each object of the document, in the order of their names."""
    schemas = in_place(document)["components"]["schemas"]
    listed = [f"{name} = {_type(one)}" for name, one in sorted(schemas.items()) if "properties" not in one]
    made = [_typed(name, whole(schemas[name], schemas)) for name in sorted(schemas) if "properties" in schemas[name]]
    return _HEAD + "\n".join([*listed, *made])


def _typed(name: str, schema: dict[str, Any]) -> str:
    members = {
        member: inner if member in schema["required"] else f"NotRequired[{inner}]"
        for member, inner in ((one, _type(value)) for one, value in schema["properties"].items())
    }
    if all(member.isidentifier() and not keyword.iskeyword(member) for member in members):
        lines = "".join(f"    {member}: {inner}\n" for member, inner in members.items())
        return f"\nclass {name}(TypedDict):\n{lines}"
    lines = "".join(f"        {member!r}: {inner},\n" for member, inner in members.items())
    return f"\n{name} = TypedDict(\n    {name!r},\n    {{\n{lines}    }},\n)\n"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return repr(schema["$ref"].rpartition("/")[2])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return _union([_type(one) for one in schema[several]])
    if "enum" in schema:
        return f"Literal[{', '.join(repr(value) for value in schema['enum'])}]"
    kinds = schema.get("type")
    if kinds is None:
        return "Any"
    listed = kinds if isinstance(kinds, list) else [kinds]
    return _union([_of_kind(kind, schema) for kind in listed])


def _of_kind(kind: str, schema: dict[str, Any]) -> str:
    if kind == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {_type(values) if isinstance(values, dict) and values else 'Any'}]"
    return _PLAIN[kind]


def _union(kinds: list[str]) -> str:
    """Join types; one string holds them all where a name is not defined yet, because `"A" | None` is no type."""
    if len(kinds) == 1:
        return kinds[0]
    plain = [kind.strip("'") for kind in kinds]
    joined = " | ".join(dict.fromkeys(plain))
    return repr(joined) if any(kind.startswith("'") for kind in kinds) else joined
