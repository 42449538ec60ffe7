"""The changes between two OpenAPI documents that break a client. Within a version only additions are allowed. Pure."""

import copy
from collections.abc import Iterator
from typing import Any

Document = dict[str, Any]
_METHODS = ("get", "post", "put", "patch", "delete")
_DEPTH_MAX = 12
# A bound, and the direction in which it may move: up for the longest, down for the least.
_BOUNDS = (("maximum", 1), ("maxLength", 1), ("maxItems", 1), ("minimum", -1), ("minLength", -1), ("minItems", -1))

_NEVER_BELOW_NOTHING = ("minLength", "minItems")  # a length of at least 0 is no bound


def breaking(old: Document, new: Document) -> list[str]:
    """Return one sentence for each change that can break a client which follows the old document."""
    return list(_paths(expanded(old), expanded(new)))


def operations_of(document: Document) -> Iterator[Document]:
    """Return every operation of a document."""
    for operations in document["paths"].values():
        yield from operations.values()


def expanded(document: Document) -> Document:
    """Return the document with every shared header, parameter and response in its place."""
    made = copy.deepcopy(document)
    for operation in operations_of(made):
        if "security" in made:
            operation.setdefault("security", made["security"])
        operation["parameters"] = [_shared(made, one) for one in operation.get("parameters", ())]
        responses = {status: _shared(made, one) for status, one in operation["responses"].items()}
        for response in responses.values():
            if "headers" in response:
                response["headers"] = {name: _shared(made, one) for name, one in response["headers"].items()}
        operation["responses"] = responses
    return made


def _shared(document: Document, node: Document) -> Document:
    if "$ref" not in node:
        return node
    _, _, kind, name = node["$ref"].split("/")
    component: Document = copy.deepcopy(document["components"][kind][name])
    return component


def _paths(old: Document, new: Document) -> Iterator[str]:
    for path, operations in old["paths"].items():
        for method in _METHODS:
            if method not in operations:
                continue
            where = f"{method.upper()} {path}"
            now = new["paths"].get(path, {}).get(method)
            if now is None:
                yield f"{where} is gone"
                continue
            yield from _parameters(where, operations[method], now, old, new)
            yield from _body(where, operations[method], now, old, new)
            yield from _responses(where, operations[method], now, old, new)
            yield from _security(where, operations[method], now)


def _parameters(where: str, was: Document, now: Document, old: Document, new: Document) -> Iterator[str]:
    before = {(p["in"], p["name"]): p for p in was.get("parameters", [])}
    after = {(p["in"], p["name"]): p for p in now.get("parameters", [])}
    for key, parameter in before.items():
        if key not in after:
            yield f"{where}: the parameter {key[1]} is gone"
        else:
            if after[key].get("required") and not parameter.get("required"):
                yield f"{where}: the parameter {key[1]} is now needed"
            yield from _narrowed(
                f"{where}, {key[1]}", parameter.get("schema", {}), after[key].get("schema", {}), old, new
            )
    for key, parameter in after.items():
        if key not in before and parameter.get("required"):
            yield f"{where}: the new parameter {key[1]} is needed"


def _body(where: str, was: Document, now: Document, old: Document, new: Document) -> Iterator[str]:
    before, after = _json_schema(was.get("requestBody")), _json_schema(now.get("requestBody"))
    if now.get("requestBody", {}).get("required") and not was.get("requestBody", {}).get("required"):
        yield f"{where}: a body is now needed"
    if before and after:
        yield from _narrowed(f"{where}, body", before, after, old, new)


def _responses(where: str, was: Document, now: Document, old: Document, new: Document) -> Iterator[str]:
    for status, response in was["responses"].items():
        if not status.startswith("2"):
            continue  # which problems a call can meet may grow and shrink
        if status not in now["responses"]:
            yield f"{where}: the answer {status} is gone"
            continue
        kinds = now["responses"][status].get("content", {})
        for kind, content in response.get("content", {}).items():
            if kind not in kinds:
                yield f"{where}, {status}: {kind} is gone"
            elif content.get("schema"):
                yield from _shrunk(f"{where}, {status}", content["schema"], kinds[kind].get("schema", {}), old, new)


def _security(where: str, was: Document, now: Document) -> Iterator[str]:
    after = {name for entry in now.get("security", []) for name in entry}
    for name in {name for entry in was.get("security", []) for name in entry} - after:
        if after or "security" in now:
            yield f"{where}: the credential {name} is not taken any more"


def _narrowed(where: str, was: Document, now: Document, old: Document, new: Document, depth: int = 0) -> Iterator[str]:
    """Return where what a client may send has become less."""
    was, now = _resolved(was, old), _resolved(now, new)
    if depth > _DEPTH_MAX:
        return
    yield from _types(where, was, now, "does not take")
    choices: list[Any] = was.get("enum", [])
    for value in [one for one in choices if one not in now.get("enum", choices)]:
        yield f"{where}: {value!r} is not allowed any more"
    for name, sign in _BOUNDS:
        before = was.get(name, 0 if name in _NEVER_BELOW_NOTHING else None)
        if name in now and (before is None or sign * now[name] < sign * before):
            yield f"{where}: {name} is now {now[name]}"
    for name in set(now.get("required", [])) - set(was.get("required", [])):
        yield f"{where}: {name} is now needed"
    for name, inner in was.get("properties", {}).items():
        if name not in now.get("properties", {}):
            yield f"{where}: {name} is not taken any more"
        else:
            yield from _narrowed(f"{where}.{name}", inner, now["properties"][name], old, new, depth + 1)


def _shrunk(where: str, was: Document, now: Document, old: Document, new: Document, depth: int = 0) -> Iterator[str]:
    """Return where what a client may rely on has become less."""
    was, now = _resolved(was, old), _resolved(now, new)
    if depth > _DEPTH_MAX:
        return
    yield from _types(where, now, was, "may now be")
    for name in set(was.get("required", [])) - set(now.get("required", [])):
        yield f"{where}: {name} may now be absent"
    for name, inner in was.get("properties", {}).items():
        if name not in now.get("properties", {}):
            yield f"{where}: {name} is gone"
        else:
            yield from _shrunk(f"{where}.{name}", inner, now["properties"][name], old, new, depth + 1)
    if "items" in was and "items" in now:
        yield from _shrunk(f"{where}[]", was["items"], now["items"], old, new, depth + 1)


def _types(where: str, wide: Document, narrow: Document, verb: str) -> Iterator[str]:
    """Each type of `wide` must be one of `narrow`; a schema that names none allows all."""
    if "type" in wide and "type" in narrow:
        for name in _listed(wide["type"]) - _listed(narrow["type"]):
            if not (name == "integer" and "number" in _listed(narrow["type"])):
                yield f"{where}: {verb} {name}"


def _listed(value: Any) -> set[str]:
    return {value} if isinstance(value, str) else set(value)


def _resolved(schema: Document, document: Document) -> Document:
    """Return a schema with the members of what it refers to: of all of `allOf`, and of any one of `oneOf`."""
    reference = schema.get("$ref")
    if reference is not None:
        value: Any = document
        for part in reference.removeprefix("#/").split("/"):
            value = value[part]
        beside = {name: part for name, part in schema.items() if name != "$ref"}
        return {**_resolved(value, document), **beside} if isinstance(value, dict) else {}
    if "anyOf" in schema:
        return _perhaps_null([_resolved(one, document) for one in schema["anyOf"]])
    if "oneOf" in schema:
        return _any_of([_resolved(one, document) for one in schema["oneOf"]])
    whole = {**schema, "properties": dict(schema.get("properties", {})), "required": list(schema.get("required", []))}
    for part in (_resolved(one, document) for one in schema.get("allOf", ())):
        whole["properties"] = {**part.get("properties", {}), **whole["properties"]}
        whole["required"] += part.get("required", [])
    return whole


def _perhaps_null(schemas: list[Document]) -> Document:
    """Return the one of several schemas that is not null, with null among its types and values."""
    [schema] = [one for one in schemas if one.get("type") != "null"]
    if len(schemas) == 1 or "type" not in schema:
        return schema
    values = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, **values, "type": [*sorted(_listed(schema["type"])), "null"]}


def _any_of(schemas: list[Document]) -> Document:
    """Return what can be relied on where one of several schemas holds: only what all need is needed."""
    members = {name: member for one in reversed(schemas) for name, member in one.get("properties", {}).items()}
    needed = set.intersection(*(set(one.get("required", [])) for one in schemas))
    return {"type": "object", "properties": members, "required": sorted(needed)}


def _json_schema(body: Document | None) -> Document:
    schema: Document = (body or {}).get("content", {}).get("application/json", {}).get("schema", {})
    return schema
