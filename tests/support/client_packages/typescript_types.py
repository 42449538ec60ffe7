"""The OpenAPI document's schemas and the queries of its operations as a module of TypeScript. Pure."""

import json
import re
from typing import Any

from edge.docs.client_samples import snake
from tests.support.client_packages.schemas import Operation, in_place, kinds_of, operations, reports_of

_HEAD = "/** Types of the API's documents and queries, made by `make clients`; answers may have more members. */\n"
_REPORTS_HEAD = """/** The paid reports by their names, made by `make clients`. */

import type { Http } from "./http.ts";
import { ReportCall } from "./jobs.ts";
import type {
%s
} from "./schemas.ts";

/** The reports of a client; each call returns its ReportCall. */
export class Reports {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }
%s}
"""
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*", re.ASCII)
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def types(document: dict[str, Any]) -> str:
    """Return a module with an interface for each object of the document and for the query of each operation."""
    document = in_place(document)
    schemas = document["components"]["schemas"]
    listed = {name: (_interface if one.get("properties") else _alias)(name, one) for name, one in schemas.items()}
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


def reports(document: dict[str, Any]) -> str:
    """Return a module with the class of the paid reports, a method for each."""
    found = reports_of(in_place(document))
    used = {name for several in found.values() for one in several for name in (one.query_name, one.report)}
    methods = (_method(name, several) for name, several in found.items())
    return _REPORTS_HEAD % ("\n".join(f"  {name}," for name in sorted(used)), "".join(methods))


def _method(name: str, several: list[Operation]) -> str:
    """Return a method; of a report that is of all or of one by its name, with a signature for each of the two."""
    every, *one = several
    returned, summary = f"ReportCall<{every.report}>", every.summary.rstrip(".")
    if not one:
        default = "" if any(parameter.get("required") for parameter in every.query) else " = {}"
        return (
            f"\n  /** {summary}. */\n  {name}(query: {every.query_name}{default}): {returned} {{\n"
            f"    return {_call(every)};\n  }}\n"
        )
    chosen, [single] = snake(name).partition("_")[0], one
    return (
        f"\n  /** {summary}; of one {chosen} where it is named. */\n"
        f"  {name}({chosen}?: null, query?: {every.query_name}): {returned};\n"
        f"  {name}({chosen}: string, query?: {single.query_name}): {returned};\n"
        f"  {name}({chosen}: string | null = null, query: {every.query_name} | {single.query_name} = {{}}): {returned} {{\n"
        f"    if ({chosen} === null) return {_call(every)};\n"
        f"    return {_call(single, chosen)};\n  }}\n"
    )


def _call(operation: Operation, chosen: str = "") -> str:
    path = re.sub(r"\{\w+\}", f"${{encodeURIComponent({chosen})}}", operation.path.removeprefix("/v1"))
    quote = "`" if chosen else '"'
    return f'new ReportCall(this.#http, {quote}{path}{quote}, "{operation.id}", query)'


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
        absent = "" if member in schema.get("required", ()) else "?"
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
