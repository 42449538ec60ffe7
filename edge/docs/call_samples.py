"""A call in curl, Python and TypeScript for each operation of the OpenAPI document.

The samples are for the reference page only, under the member `x-codeSamples` that such pages read; the published
document stays small without them.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from edge.docs.client_samples import EXAMPLES, python_sample, report_examples, typescript_sample

_KEY = "$ITEMINDEX_KEY"
_FALLBACK = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    url: str
    header: tuple[str, str] | None
    body: Any


def with_samples(document: dict[str, Any], base_url: str, token: str, commands: Mapping[str, str]) -> dict[str, Any]:
    """Return a copy of the document in which every operation has samples against `base_url`.

    `commands` install the clients, by their languages.
    """
    origin = base_url.removesuffix("/v1")
    paths = {
        path: {
            method: {
                **operation,
                "x-codeSamples": _samples(
                    _call(document, origin, path, method, operation, token),
                    operation["operationId"],
                    base_url,
                    commands,
                ),
            }
            for method, operation in operations.items()
        }
        for path, operations in document["paths"].items()
    }
    readable: dict[str, Any] = _readable({**document, "paths": paths})
    return readable


def _readable(value: Any) -> Any:
    """Return the document as people read it: no regular expression, and a response's other media types in words.

    The page would show a select for them inside a button, which neither a keyboard nor a screen reader can use.
    """
    if isinstance(value, list):
        return [_readable(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    readable = {name: _readable(one) for name, one in value.items() if not (name == "pattern" and isinstance(one, str))}
    content, description = value.get("content"), value.get("description")
    if isinstance(content, dict) and isinstance(description, str) and len(content) > 1:
        first, *others = content
        readable["content"] = {first: readable["content"][first]}
        readable["description"] = f"{description.removesuffix('.')}. Also available as {', '.join(others)}."
    return readable


def _call(
    document: dict[str, Any], origin: str, path: str, method: str, operation: dict[str, Any], token: str
) -> _Call:
    example = report_examples().get(operation["operationId"], {})
    query: dict[str, Any] = {}
    for parameter in (_resolve(document, declared) for declared in operation.get("parameters", ())):
        name = parameter["name"]
        value = example[name] if name in example else _example(document, parameter)
        if parameter["in"] == "path":
            path = path.replace(f"{{{name}}}", str(value))
        elif parameter["in"] == "query" and (parameter.get("required") or name in (*example, "q", "limit")):
            query[name] = value
    url = f"{origin}{path}" + (f"?{urlencode(query, doseq=True)}" if query else "")
    return _Call(method.upper(), url, _credential(operation, token), _body(document, operation))


def _credential(operation: dict[str, Any], token: str) -> tuple[str, str] | None:
    schemes = {name for one in operation.get("security", ()) for name in one}
    if "PublicToken" in schemes:
        return "X-Service-Public-Token", token
    if "ApiKey" in schemes:
        return "Authorization", f"ApiKey {_KEY}"
    if schemes:
        return "Authorization", "Bearer $ID_TOKEN"
    return None


def _body(document: dict[str, Any], operation: dict[str, Any]) -> Any:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return None
    return content.get("example", _value(document, content["schema"], ""))


def _example(document: dict[str, Any], parameter: dict[str, Any]) -> Any:
    if "example" in parameter:
        return parameter["example"]
    return EXAMPLES.get(parameter["name"], _value(document, parameter.get("schema", {}), parameter["name"]))


def _value(document: dict[str, Any], schema: dict[str, Any], name: str) -> Any:
    """Return a value that the schema allows, as far as its members say."""
    schema = _resolve(document, schema)
    for member in ("example", "default", "const"):
        if schema.get(member) is not None:
            return schema[member]
    for chosen in (schema.get("examples"), schema.get("enum")):
        if chosen:
            return chosen[0]
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else next((option for option in kinds if option != "null"), "string")
    if kind == "object":
        needed = schema.get("required", ())
        return {one: _value(document, schema["properties"][one], one) for one in needed}
    if kind == "array":
        return [_value(document, schema.get("items", {}), name)]
    if schema.get("format") == "uuid":
        return "019abcde-0000-7000-8000-000000000000"
    if schema.get("format") == "date":
        return "2026-01-31"
    return _FALLBACK.get(kind, schema.get("minimum", EXAMPLES.get(name, name or "text")))


def _resolve(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    resolved = schema
    while "$ref" in resolved:
        target: Any = document
        for name in resolved["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        resolved = target
    return resolved


def _samples(call: _Call, operation: str, base_url: str, commands: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the samples; those in languages with a client of ours call it, where it has a method for the operation."""
    python = python_sample(operation, base_url, commands["Python"]) or _python(call)
    typescript = typescript_sample(operation, base_url, commands["TypeScript"]) or _typescript(call)
    return [
        {"lang": "Shell", "label": "curl", "source": _curl(call)},
        {"lang": "Python", "label": "Python", "source": python},
        {"lang": "TypeScript", "label": "TypeScript", "source": typescript},
    ]


def _curl(call: _Call) -> str:
    words = ["curl", *(["--request", call.method] if call.method != "GET" else [])]
    if call.header:
        # In double quotes, because a variable of the shell is filled in.
        words += ["--header", f'"{call.header[0]}: {call.header[1]}"']
    if call.body is not None:
        words += ["--json", shlex.quote(json.dumps(call.body, ensure_ascii=False))]
    return " ".join([*words, shlex.quote(call.url)])


def _python(call: _Call) -> str:
    lines = ["from os import environ\n" if _variable(call) else "", "import httpx", ""]
    arguments = [repr(call.method), repr(call.url)]
    if call.header:
        arguments.append(f"headers={{{call.header[0]!r}: {_in_python(call)}}}")
    if call.body is not None:
        arguments.append(f"json={call.body!r}")
    joined = ",\n    ".join(arguments)
    lines += [f"response = httpx.request(\n    {joined},\n)", "response.raise_for_status()", "print(response.text)"]
    return "\n".join(lines).lstrip("\n")


def _typescript(call: _Call) -> str:
    members = [f"method: {json.dumps(call.method)}"]
    if call.header:
        value = f"`{call.header[1].replace('$' + _variable(call), '${process.env.' + _variable(call) + '}')}`"
        more = ', "Content-Type": "application/json"' if call.body is not None else ""
        members.append(f"headers: {{ {json.dumps(call.header[0])}: {value}{more} }}")
    if call.body is not None:
        members.append(f"body: JSON.stringify({json.dumps(call.body, ensure_ascii=False)})")
    inner = ",\n  ".join(members)
    return (
        f"const response = await fetch({json.dumps(call.url)}, {{\n  {inner},\n}});\n"
        "if (!response.ok) throw new Error(await response.text());\n"
        "console.log(await response.text());"
    )


def _variable(call: _Call) -> str:
    """Name the environment variable that holds the credential; empty for the anonymous token, which is no secret."""
    if call.header is None or "$" not in call.header[1]:
        return ""
    return call.header[1].rpartition("$")[2]


def _in_python(call: _Call) -> str:
    assert call.header is not None
    name = _variable(call)
    if not name:
        return repr(call.header[1])
    scheme = call.header[1].partition(" ")[0]
    return f"f\"{scheme} {{environ['{name}']}}\""
