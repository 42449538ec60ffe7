"""Simple values that many members and parameters have, as schemas with names of their own. Pure."""

from collections.abc import Iterable, Iterator

from edge.openapi.components import Node, bytes_of, canonical, operations_of, words

# What has a form of its own is recognized by it, and what has none by its sentence. A form goes before its parts.
VALUES: dict[str, Node] = {
    "RequestedDay": {
        "type": "string",
        "format": "date",
        "pattern": "^(19|20|21)[0-9]{2}-[0-9]{2}-[0-9]{2}$",
        "description": "Day of 1900 to 2199",
    },
    "Day": {"type": "string", "format": "date", "description": "YYYY-MM-DD"},
    "Period": {"type": "string", "format": "date", "description": "First day of the period"},
    "Time": {"type": "string", "format": "date-time", "description": "RFC 3339, UTC"},
    "Url": {"type": "string", "format": "url", "description": "Address"},
    "Uuid": {"type": "string", "format": "uuid", "description": "UUID"},
    "Text": {
        "type": "string",
        "pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$",
        "minLength": 1,
        "description": "Text that is not blank",
    },
    "Count": {"type": "integer", "description": "How many there are"},
    "LowerBound": {"type": "number", "description": "Lower bound of the middle 95 %"},
    "UpperBound": {"type": "number", "description": "Upper bound of the middle 95 %"},
    "Amount": {"type": "string", "description": "Decimal amount in `currency`"},
}
_SIMPLE = {"string", "integer", "number", "boolean"}
_OR_NULL = "OrNull"
# A reference says less at its place than the schema itself: it must be worth so many bytes.
_WORTH_MIN = 8


def with_values(document: Node) -> None:
    """Let members, entries of lists and parameters refer to the shared values where that is shorter."""
    schemas = document["components"]["schemas"]
    places = list(_places(document))
    for name, value in _named():
        found = [(place, short) for place in places if (short := _referring(place, name, value))]
        saved = sum(bytes_of(value | place) - bytes_of(short) for place, short in found)
        if saved > bytes_of({name: value}):
            schemas[name] = value
            for place, short in found:
                _replace(place, short)


def with_values_by_name(document: Node) -> None:
    """Let members of one name that are the same in several schemas refer to a schema of that name."""
    schemas = document["components"]["schemas"]
    alike: dict[str, list[tuple[str, Node]]] = {}
    for schema in schemas.values():
        for member, node in schema.get("properties", {}).items():
            if _SIMPLE & set(_kinds(node)):
                alike.setdefault(canonical([member, node]), []).append((member, node))
    for group in sorted(alike.values(), key=len, reverse=True):
        member, node = group[0]
        name = words(member) + (_OR_NULL if "null" in _kinds(node) else "")
        reference = {"$ref": f"#/components/schemas/{name}"}
        saved = len(group) * (bytes_of(node) - bytes_of(reference))
        if name not in schemas and saved > bytes_of({name: node}):
            schemas[name] = dict(node)
            for _, one in group:
                _replace(one, reference)


def _named() -> Iterator[tuple[str, Node]]:
    for name, value in VALUES.items():
        yield name, value
        yield f"{name}{_OR_NULL}", {**value, "type": [value["type"], "null"]}


def _places(document: Node) -> Iterator[Node]:
    for schema in document["components"]["schemas"].values():
        yield from _with_entries(schema.get("properties", {}).values())
    for operation in operations_of(document):
        yield from _with_entries(one["schema"] for one in operation.get("parameters", ()))


def _with_entries(nodes: Iterable[Node]) -> Iterator[Node]:
    """Return nodes, and what those that are lists hold."""
    for node in nodes:
        yield node
        if "items" in node:
            yield node["items"]


def _referring(node: Node, name: str, value: Node) -> Node | None:
    """Return a node as one that refers to a value; None where it is another one, or would not become shorter."""
    form = {key: part for key, part in value.items() if key != "description"}
    if any(node.get(key) != part for key, part in form.items()):
        return None
    said = node.get("description")
    if said != value["description"] and (len(form) == 1 or said):
        return None
    rest = {key: part for key, part in node.items() if key not in value}
    short = {"$ref": f"#/components/schemas/{name}", **rest}
    return short if bytes_of(value | node) - bytes_of(short) >= _WORTH_MIN else None


def _kinds(node: Node) -> list[str]:
    kinds: str | list[str] = node.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def _replace(node: Node, other: Node) -> None:
    node.clear()
    node.update(other)
