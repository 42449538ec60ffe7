"""The OpenAPI document as modules of Python: a TypedDict for what the client uses, a method for each report. Pure."""

import keyword
import re
from collections.abc import Iterator
from typing import Any

from edge.docs.client_samples import snake
from tests.support.client_packages.schemas import Operation, in_place, kinds_of, operations, reports_of

_HEAD = '''"""Types of what the client takes and returns, made by `make clients`; answers may have more members."""

# ruff: noqa: E501 - the sentences are those of the document

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any, Literal, NotRequired, Required, TypeAlias, TypedDict, TypeVar

T = TypeVar("T")
Several: TypeAlias = T | Sequence[T]
DecimalText = Annotated[str, "decimal"]
DateText = Annotated[str, "date"]
TimeText = Annotated[str, "date-time"]
'''
_REPORTS_HEAD = '''"""The paid reports by their names, made by `make clients`; `from_` stands for `from`."""

from typing import Any, Generic, Unpack, overload

from itemindex_client import schemas
from itemindex_client.orders import Caller, ReportCall, at


class Reports(Generic[Caller]):
    """The reports of a client; each call returns its ReportCall."""

    def __init__(self, client: Caller) -> None:
        self._client = client
'''
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
# A column of a table is what such a text stands for.
_FORMS = {"decimal": "DecimalText", "date": "DateText", "date-time": "TimeText"}
# An integer that JSON could round: answers have it as text, which a query takes as well.
_EXACT_MAX = 2**53


def types(document: dict[str, Any], used: set[str]) -> str:
    """Return a module with the types that `used` names and those that they refer to, in the order of their names."""
    document = in_place(document)
    schemas = document["components"]["schemas"]
    wanted, waiting = set[str](), used & schemas.keys()
    while waiting:
        wanted |= waiting
        waiting = {name for one in waiting for name in _references(schemas[one])} - wanted
    chosen = {name: schemas[name] for name in sorted(wanted)}
    listed = [f"{name} = {_type(one)}" for name, one in chosen.items() if "properties" not in one]
    made = [_typed(name, one) for name, one in chosen.items() if "properties" in one]
    return "\n".join([_HEAD, *listed, *made, *_queries(document, used)])


def _references(node: Any) -> Iterator[str]:
    """Return the names of all schemas that a schema refers to."""
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].rpartition("/")[2]
        node = list(node.values())
    if isinstance(node, list):
        for one in node:
            yield from _references(one)


def reports(document: dict[str, Any]) -> str:
    """Return a module with the class of the paid reports, a method for each."""
    document = in_place(document)
    named = {snake(name): several for name, several in reports_of(document).items()}
    schemas = document["components"]["schemas"]
    rows = {name: _row(several[0], schemas) for name, several in named.items()}
    return _REPORTS_HEAD + "".join(_method(name, several, rows[name]) for name, several in named.items())


def _method(name: str, several: list[Operation], row: str) -> str:
    """Return a method; of a report that is of all or of one by its name, with a signature for each of the two."""
    returned, summary = f"ReportCall[schemas.{row}, Caller]", several[0].summary.rstrip(".")
    head = f"\n    def {name}(self, "
    if len(several) == 1:
        [one] = several
        body = f"ReportCall(self._client, {_path(one)}, schemas.{row}, schemas.{one.query_name}, query)"
        signature = f"{head}**query: Unpack[schemas.{one.query_name}]) -> {returned}:"
        return f'{signature}\n        """{summary}."""\n        return {body}\n'
    chosen = name.partition("_")[0]
    every, one = several
    signatures = (
        (f"{chosen}: None = None", f"Unpack[schemas.{every.query_name}]"),
        (f"{chosen}: str", f"Unpack[schemas.{one.query_name}]"),
    )
    overloads = "".join(
        f"\n    @overload{head}{argument}, **query: {query}) -> {returned}: ...\n" for argument, query in signatures
    )
    return (
        f"{overloads}{head}{chosen}: str | None = None, **query: Any) -> {returned}:\n"
        f'        """{summary}; of one {chosen} where it is named."""\n'
        f"        if {chosen} is None:\n"
        f"            return ReportCall(self._client, {_path(every)}, schemas.{row}, schemas.{every.query_name}, query)\n"
        f"        path = at({_path(one)}, {chosen})\n"
        f"        return ReportCall(self._client, path, schemas.{row}, schemas.{one.query_name}, query)\n"
    )


def _path(operation: Operation) -> str:
    path = re.sub(r"\{\w+\}", "{}", operation.path.removeprefix("/v1"))
    return f'"{path}"'


def _row(operation: Operation, schemas: dict[str, Any]) -> str:
    return str(schemas[operation.report]["properties"]["data"]["items"]["$ref"]).rpartition("/")[2]


def _queries(document: dict[str, Any], used: set[str]) -> Iterator[str]:
    """Return a TypedDict for each query that `used` names, or another name for that of an equal one.

    What is required is an argument of its own, but of reports, whose arguments are all in their query.
    """
    schemas, made = document["components"]["schemas"], dict[str, str]()
    of_reports = {one.query_name for several in reports_of(document).values() for one in several}
    for operation in sorted(operations(document), key=lambda one: one.query_name):
        name = operation.query_name
        offered = [one for one in operation.query if name in of_reports or not one.get("required")]
        if name in used and offered:
            lines = "".join(f"    {_argument(one['name'])}: {_required(one, schemas)}\n" for one in offered)
            equal = made.setdefault(lines, name)
            yield f"\nclass {name}(TypedDict, total=False):\n{lines}" if equal == name else f"\n{name} = {equal}\n"


def _required(parameter: dict[str, Any], schemas: dict[str, Any]) -> str:
    kind = _parameter(parameter, schemas)
    return f"Required[{kind}]" if parameter.get("required") else kind


def _argument(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _parameter(parameter: dict[str, Any], schemas: dict[str, Any]) -> str:
    """Return the type of a parameter, annotated with what it is and what it allows."""
    schema = parameter["schema"]
    schema = schemas.get(schema.get("$ref", "").rpartition("/")[2], {}) | schema
    inner = schema.get("items", schema)
    kind = _type({key: value for key, value in inner.items() if key not in ("format", "$ref")})
    if inner.get("format") == "date":
        kind = "str | date"
    if inner.get("maximum", 0) > _EXACT_MAX:
        kind = "int | str"
    if "items" in schema:
        kind = f"Several[{kind}]"
    said = "; ".join([parameter["description"], *_allowed(schema, inner)])
    if "default" in schema and "default:" not in said:
        said += f"; default: {str(schema['default']).lower()}"
    return f"Annotated[{kind}, {said!r}]"


def _allowed(schema: dict[str, Any], inner: dict[str, Any]) -> Iterator[str]:
    if inner.get("format") == "date":
        yield "YYYY-MM-DD"
    elif inner.get("type") == "boolean":
        yield "true or false"
    if inner.get("maximum", _EXACT_MAX) < _EXACT_MAX:
        yield f"{inner['minimum']} to {inner['maximum']}"
    if "items" in schema:
        yield f"up to {schema['maxItems']} values" if schema["maxItems"] > 1 else "one value"


def _typed(name: str, schema: dict[str, Any]) -> str:
    members = {
        member: inner if member in schema.get("required", ()) else f"NotRequired[{inner}]"
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
    return _union([_of_kind(kind, schema) for kind in kinds_of(schema)]) or "Any"


def _of_kind(kind: str, schema: dict[str, Any]) -> str:
    if kind == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {_type(values) if isinstance(values, dict) and values else 'Any'}]"
    return _FORMS.get(schema.get("format", ""), "str") if kind == "string" else _PLAIN[kind]


def _union(kinds: list[str]) -> str:
    """Join types; one string holds them all where a name is not defined yet, because `"A" | None` is no type."""
    if len(kinds) == 1:
        return kinds[0]
    plain = [kind.strip("'") for kind in kinds]
    joined = " | ".join(dict.fromkeys(plain))
    return repr(joined) if any(kind.startswith("'") for kind in kinds) else joined
