"""A description for each parameter and each member of each schema: its own, or that of its name in members.toml."""

import copy
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from edge.docs.components import PROBLEM, Node, bytes_of, canonical, is_problem, operations_of, share, words
from edge.http.catalogue import CATALOGUE
from shared.analytics.footprint import INDICATORS

# `Schema.member` goes before `member`; `parameter.name` is of parameters.
SENTENCES: dict[str, str] = tomllib.loads(Path(__file__).with_name("members.toml").read_text(encoding="utf-8"))


def with_descriptions(document: Node) -> None:
    """Describe each parameter, and each member, that does not describe itself or refer to a schema that does.

    Raises KeyError for a parameter that nothing describes.
    """
    for operation in operations_of(document):
        for parameter in operation.get("parameters", ()):
            if not parameter.get("description"):
                parameter["description"] = SENTENCES[f"parameter.{parameter['name']}"]
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        for member, node in schema.get("properties", {}).items():
            sentence = sentence_for(name, member)
            if sentence and needs_description(node, schemas):
                node["description"] = sentence


def sentence_for(schema: str, member: str) -> str | None:
    """Return the sentence for a member of a schema, or None."""
    return SENTENCES.get(f"{schema}.{member}", SENTENCES.get(member))


def needs_description(node: Node, schemas: Node) -> bool:
    """Return whether neither a member nor the schema that it refers to is described."""
    if node.get("description"):
        return False
    referred = [node, node.get("items", {}), *node.get("anyOf", ())]
    names = [str(one["$ref"]).rpartition("/")[2] for one in referred if "$ref" in one]
    return not any(schemas[name].get("description") for name in names)


# Enumerations that several members and parameters share, as schemas with names of their own. Pure.


# The name of each, what it says, and its values.
ENUMERATIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "ObservationKind": ("Whether observations are offers seen or sales.", ("listing", "sale")),
    "StatisticKind": ("Observations that count.", ("listing", "sale", "both")),
    "CumulativeBasis": ("Basis of cumulative footprints.", ("sales", "assortment")),
    "FigureBasis": ("Origin of a footprint.", ("measured", "modelled", "category_average")),
    "Granularity": ("Length of a period.", ("day", "week", "month")),
    "JobState": (
        "State of a job; the last four are final.",
        ("queued", "running", "succeeded", "failed", "cancelled", "expired"),
    ),
    "OutlierMode": ("Whether outliers count in statistics.", ("exclude", "include")),
    "Effect": (
        "Code of the effect.",
        (
            "co2e_kg",
            "water_l",
            "waste_kg",
            "land_use_m2a",
            "acidification_kg_so2e",
            "freshwater_eutrophication_kg_pe",
            "marine_eutrophication_kg_ne",
        ),
    ),
    "WatchCondition": ("Condition of a watch.", ("below", "new-low", "returned", "index-moved")),
    "MemberRole": ("Role of a member in the organization.", ("owner", "admin", "member", "viewer")),
    "WatchTarget": ("Kind of object that is watched.", ("article", "brand", "category")),
}


def with_enumerations(document: Node) -> None:
    """Let members and parameters refer to the shared enumerations, and say apart that others may be null.

    Generators make one type of a reference, and several of a list of values with null among them.
    """
    names = {values: name for name, (_, values) in ENUMERATIONS.items()}
    _refer(document, names)
    for name, (sentence, values) in ENUMERATIONS.items():
        schema = {"type": "string", "description": sentence, "enum": list(values)}
        document["components"]["schemas"][name] = schema


def _refer(node: Any, names: dict[tuple[str, ...], str]) -> None:
    if isinstance(node, list):
        for one in node:
            _refer(one, names)
    elif isinstance(node, dict):
        for one in node.values():
            _refer(one, names)
        if isinstance(node.get("enum"), list) and "type" in node:
            _replace(node, names)


def _replace(schema: Node, names: dict[tuple[str, ...], str]) -> None:
    """Turn a schema with values into one that refers to them, in its place."""
    values = tuple(value for value in schema["enum"] if value is not None)
    nullable = len(values) < len(schema["enum"])
    name = names.get(values)
    if name is None and not nullable:
        return
    kinds = [kind for kind in schema.pop("type") if kind != "null"] if nullable else [schema.pop("type")]
    del schema["enum"]
    known = {"$ref": f"#/components/schemas/{name}"} if name else {"type": kinds[0], "enum": list(values)}
    schema |= {"anyOf": [known, {"type": "null"}]} if nullable else known


# Simple values that many members and parameters have, as schemas with names of their own. Pure.


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
    "Amount": {"type": "string", "format": "decimal", "description": "Decimal amount in `currency`"},
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
                _replace_value(place, short)


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
                _replace_value(one, reference)


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


def _replace_value(node: Node, other: Node) -> None:
    node.clear()
    node.update(other)


# Shortens the published document: details that the pages for people have, and repetitions, are left out. Pure.


_NOTE = (
    "Descriptions are shortened here, and errors are `default`: `/v1/docs/reference` has both in full for each call."
)
_SUCCESSES = {"200": "OK", "206": "The part", "304": "Unchanged"}
_CONDITION = re.compile(r"; |(?<=\.) (?=[A-Z`])")
_PRICE = re.compile(r" ?(?:Costs [^.]*|Needs no credential and costs nothing)\.$")


def with_note_on_reference(document: Node) -> None:
    """Say where the details are that the published document leaves out."""
    document["info"]["description"] += f" {_NOTE}"


def with_one_problem(document: Node) -> None:
    """Describe all errors as one answer, identified by its `type`; the pages for people list each."""
    listed = [operation["responses"] for operation in operations_of(document)]
    limited = next(responses["429"] for responses in listed if "429" in responses)
    for responses in listed:
        for status in [one for one in responses if one >= "400" and is_problem(responses[one])]:
            del responses[status]
        responses["default"] = {**limited, "description": PROBLEM}


def without_prices(document: Node) -> None:
    """Leave out sentences that repeat `x-units`, or say that a call costs nothing."""
    for operation in operations_of(document):
        rest = _PRICE.sub("", operation["description"])
        if rest:
            operation["description"] = rest
        elif not operation["x-units"]["units"]:
            operation["description"] = "Free."


def with_plain_successes(document: Node) -> None:
    """Describe successful answers by their status alone; the call's summary has the rest."""
    for operation in operations_of(document):
        for status, response in operation["responses"].items():
            response["description"] = _SUCCESSES.get(status, response["description"])


def first_sentence(text: str) -> str:
    """Return the first sentence of a description, without the conditions that follow it."""
    first = _CONDITION.split(text)[0]
    return f"{first.rstrip('.')}." if text.endswith(".") else first


def with_first_sentences(node: Any) -> None:
    """Keep the first sentence of each description: the pages for people have it whole."""
    if isinstance(node, dict):
        if isinstance(node.get("description"), str):
            node["description"] = first_sentence(node["description"])
        for inner in node.values():
            with_first_sentences(inner)
    elif isinstance(node, list):
        for inner in node:
            with_first_sentences(inner)


def without_implied_keywords(node: Any) -> None:
    """Leave out least lengths of 0, defaults that are null, and the types of objects that groups have already."""
    if isinstance(node, dict):
        if node.get("minItems") == 0:
            del node["minItems"]
        if "default" in node and node["default"] is None:
            del node["default"]
        if "allOf" in node:
            node.pop("type", None)
        for bound in ("minimum", "maximum"):
            if isinstance(node.get(bound), float) and node[bound].is_integer():
                node[bound] = int(node[bound])
        for inner in node.values():
            without_implied_keywords(inner)
    elif isinstance(node, list):
        for inner in node:
            without_implied_keywords(inner)


def with_usual_credential(document: Node) -> None:
    """Declare the credentials that most operations take once for the document."""
    counts = Counter(canonical(operation["security"]) for operation in operations_of(document))
    [(usual, _)] = counts.most_common(1)
    for operation in operations_of(document):
        if canonical(operation["security"]) == usual:
            document["security"] = operation.pop("security")


def without_descriptions_of_answers(document: Node) -> None:
    """Let a schema that only answers or bodies are made of have no description beside that of its answer or call."""
    members = references([operation.get("parameters") for operation in operations_of(document)])
    for schema in document["components"]["schemas"].values():
        members |= references(schema)
    for name, schema in document["components"]["schemas"].items():
        if name not in members:
            schema.pop("description", None)


def references(node: Any) -> set[str]:
    """Return the names of the schemas that a node refers to, directly."""
    if isinstance(node, list):
        return set().union(*map(references, node))
    if not isinstance(node, dict):
        return set()
    own = {str(node["$ref"]).rpartition("/")[2]} if "$ref" in node else set()
    return own.union(*map(references, node.values()))


# Schemas made of others: groups of members that many schemas have, and reports apart from their quotes. Pure.


# A group and what it begins with in each schema that has it. The longest that fits is taken.
_BASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "Page": ("One page of a list.", ("count", "total", "next_cursor", "query", "data_version")),
    "AnalysisMeta": (
        "Metadata of every analysis.",
        (
            "data_version",
            "result_sha256",
            "cached",
            "cost_units",
            "rows",
            "from",
            "to",
            "coverage",
            "units",
            "method",
            "rounding",
        ),
    ),
    "PriceStatistics": (
        "Members of every statistic of prices.",
        (
            "period",
            "currency",
            "original_currency",
            "kind",
            "items",
            "observations",
            "set_aside",
            "list_price_n",
            "promotion_share",
            "discount_mean",
            "discount_median",
        ),
    ),
    "PriceLevel": (
        "Prices of some days.",
        ("days", "kind", "currency", "original_currency", "low", "median", "high"),
    ),
    "BatchAnswer": (
        "Members of every batch answer.",
        ("kind", "format", "cached", "cost_units", "count", "data_version"),
    ),
    "EffectFigures": ("Figures of each effect.", tuple(one.code for one in INDICATORS)),
    "PriceChange": (
        "The change of prices of the same items, beside that of the median.",
        ("index_change", "index_change_low", "index_change_high", "share_matched", "median_disagrees"),
    ),
}
# Schemas of which others have every member.
_WHOLE = (
    "Job",
    "ReportMeta",
    "ReductionSummary",
    "BrandRef",
    "CategoryRef",
    "ChannelShare",
    "PageTotal",
    "Peer",
)
# What says the same as another one.
_SAME = {"JobError": "Problem"}
_QUOTE = ("kind", "cost_units", "cached", "format", "data_version")
_REPLY = "Reply"


def with_bases(document: Node) -> None:
    """Let each schema that has all members of a group refer to the group instead."""
    schemas = document["components"]["schemas"]
    for base, (sentence, names) in _BASES.items():
        having = [schema for schema in schemas.values() if set(names) <= schema.get("properties", {}).keys()]
        alike: dict[str, list[Node]] = {}
        for schema in having:
            alike.setdefault(json.dumps(_part(schema, names)["properties"], sort_keys=True), []).append(schema)
        if not alike:
            continue
        same = max(alike.values(), key=len)
        always = [name for name in names if all(name in schema.get("required", ()) for schema in same)]
        properties = _part(same[0], names)["properties"]
        schemas[base] = {"type": "object", "description": sentence, "properties": properties}
        if always:
            schemas[base]["required"] = always
        for schema in same:
            _refer_to_part(schema, base, names, always)
        _lift(schemas, base)
    for base in _WHOLE:
        _extend(schemas, base)
    for name in _SAME:
        del schemas[name]
    _rename(document)


def _extend(schemas: Node, base: str) -> None:
    """Let each schema that has all members of another one refer to that one instead."""
    known = schemas[base]
    names, groups = tuple(known["properties"]), known.get("allOf", [])
    part = _part(known, names)
    for schema in [one for one in schemas.values() if set(names) <= one.get("properties", {}).keys()]:
        if schema is not known and _part(schema, names) == part and schema.get("allOf", []) == groups:
            schema.pop("allOf", None)
            _refer_to_part(schema, base, names, names)
    _lift(schemas, base)


def _rename(node: Any) -> None:
    if isinstance(node, dict):
        name = str(node.get("$ref", "")).rpartition("/")[2]
        if name in _SAME:
            node["$ref"] = f"#/components/schemas/{_SAME[name]}"
        for inner in node.values():
            _rename(inner)
    elif isinstance(node, list):
        for inner in node:
            _rename(inner)


def _part(schema: Node, names: tuple[str, ...]) -> Node:
    """Return the members of a schema that have these names, and which of them it always has."""
    needed = [name for name in names if name in schema.get("required", ())]
    properties = {name: copy.deepcopy(schema["properties"][name]) for name in names}
    return {"properties": properties} | ({"required": needed} if needed else {})


def _lift(schemas: Node, base: str) -> None:
    """Give each object within a group a name: generators repeat what has none for each schema that has the group."""
    group = schemas[base]
    for member, node in list(group["properties"].items()):
        if node.get("type") == "object":
            name = f"{base}{words(member)}"
            schemas[name] = {"description": sentence_for(base, member), **node}
            group["properties"][member] = {"$ref": f"#/components/schemas/{name}"}


def _refer_to_part(schema: Node, base: str, names: Sequence[str], always: Sequence[str]) -> None:
    own = {name: member for name, member in schema.pop("properties").items() if name not in names}
    needed = [name for name in schema.pop("required", ()) if name not in always]
    schema.setdefault("allOf", []).append({"$ref": f"#/components/schemas/{base}"})
    if own:
        schema["properties"] = own
    if needed:
        schema["required"] = needed


def with_quotes(document: Node) -> None:
    """Describe an analysis and what `dry_run` says of it as two schemas, of which an answer has one.

    The exact document says of both in one schema that each member may be absent, and then nothing can be relied on.
    """
    schemas = document["components"]["schemas"]
    renamed: dict[str, str] = {}
    for name in [one for one in schemas if one.endswith(_REPLY)]:
        members = schemas[name]["properties"]
        if not {*_QUOTE, "data", "meta"} <= members.keys():
            continue
        quote = {one: members[one] for one in (*_QUOTE, "parameters") if one in members}
        empty = {"type": "object", "description": "Cost of a call.", "properties": {}}
        known = schemas.setdefault("Quote", empty)
        known["properties"] |= quote
        known["required"] = list(_QUOTE)
        renamed[name] = f"{name.removesuffix(_REPLY)}Report"
        report = {"data": members["data"], "meta": members["meta"]}
        schemas[renamed[name]] = {**schemas.pop(name), "properties": report, "required": ["data", "meta"]}
    for operation in operations_of(document):
        for response in operation["responses"].values():
            for content in response.get("content", {}).values():
                _offer_both(content.get("schema", {}), renamed)


def _offer_both(schema: dict[str, Any], renamed: dict[str, str]) -> None:
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name in renamed:
        del schema["$ref"]
        schema["oneOf"] = [{"$ref": f"#/components/schemas/{one}"} for one in (renamed[name], "Quote")]


# The document as it is published: made from the exact one, for programs that read it. Pure.


# Every call can meet these, whatever it does: one `default` stands for them.
EVERYWHERE = ("405", "414", "415", "417", "431", "500", "503")
# They are on every answer of a kind, and the document says so once, in its own description.
_SAID_ONCE = ("X-Request-Id", "RateLimit-Policy", "RateLimit")
_RATE_LIMIT = {
    "description": "Remaining calls of each limit, and the seconds until it is reset",
    "schema": {"type": "string"},
}
_REQUEST_HEADERS = {
    "206": ("Range", "The part of the file that is wanted (RFC 9110), like `bytes=0-1048575`"),
    "304": ("If-None-Match", "The ETag of the caller's copy; 304 if it is still current"),
    "202": ("Prefer", "How long to wait before it answers 202, like `wait=10`"),
}


def published(document: Node, *, examples: bool = False) -> Node:
    """Return the document as it is published.

    Repeated headers, parameters, responses, enumerations, simple values and groups of members are components; refusals
    are an operation's `default`; each member has a description; a query parameter is absent or has a value, and never
    null; an answer may have members that the document does not name, as the compatibility policy says; what costs
    nothing has no price. With `examples` it has the form for pages that people read: with links, whole descriptions,
    prices in words, and each problem that not every call can meet.
    """
    made = copy.deepcopy(document)
    _with_default(made)
    if not examples:
        without_prices(made)
        _without_examples(made)
        _without_free_prices(made)
    _without_null(made)
    _with_open_answers(made)
    _with_whole_responses(made)
    _with_request_headers(made)
    with_quotes(made)
    with_enumerations(made)
    with_bases(made)
    with_descriptions(made)
    _without_defaults(made)
    if not examples:
        with_note_on_reference(made)
        with_one_problem(made)
        with_plain_successes(made)
        with_first_sentences([made["paths"], made["components"]])
        without_implied_keywords(made)
    with_values(made)
    with_values_by_name(made)
    if not examples:
        with_usual_credential(made)
        without_descriptions_of_answers(made)
    share(made)
    return made


def _with_default(document: Node) -> None:
    for operation in operations_of(document):
        responses = operation["responses"]
        folded = [*EVERYWHERE, *(["403"] if _is_refused_credential(responses.get("403", {})) else [])]
        met = [responses.pop(status) for status in folded if is_problem(responses.get(status, {}))]
        if met:
            responses["default"] = {"description": PROBLEM, "content": met[0]["content"]}


def _is_refused_credential(response: Node) -> bool:
    return bool(response.get("description") == CATALOGUE["credential-not-accepted"].meaning)


def _without_examples(document: Node) -> None:
    for operation in operations_of(document):
        for parameter in operation["parameters"]:
            _without_example(parameter["schema"])
        for response in operation["responses"].values():
            response.pop("links", None)
            for content in response.get("content", {}).values():
                content.pop("example", None)
    for schema in document["components"]["schemas"].values():
        for member in schema.get("properties", {}).values():
            _without_example(member)


def _without_example(schema: Node) -> None:
    schema.pop("example", None)
    schema.get("items", {}).pop("example", None)


def _without_free_prices(document: Node) -> None:
    for operation in operations_of(document):
        if not operation["x-units"]["units"]:
            del operation["x-units"]
        elif operation["x-units"]["of"] == "call":
            del operation["x-units"]["of"]


def _without_null(document: Node) -> None:
    for operation in operations_of(document):
        for parameter in operation.get("parameters", ()):
            schema = parameter.get("schema", {})
            kinds = schema.get("type")
            if isinstance(kinds, list):
                kept = [kind for kind in kinds if kind != "null"]
                schema["type"] = kept[0] if len(kept) == 1 else kept
            if "default" in schema and schema["default"] is None:
                del schema["default"]
            if None in schema.get("enum", ()):
                schema["enum"] = [value for value in schema["enum"] if value is not None]


def _with_open_answers(document: Node) -> None:
    """Let every schema that no request has take members that it does not name."""
    requested = _request_schemas(document)
    for name, schema in document["components"]["schemas"].items():
        if name not in requested:
            _open(schema)
    for operation in operations_of(document):
        for response in operation["responses"].values():
            _open(response)


def _request_schemas(document: Node) -> set[str]:
    """Return the names of the schemas that requests have."""
    requested = set[str]()
    for operation in operations_of(document):
        _with_names(document, operation.get("requestBody", {}), requested)
    return requested


def _with_names(document: Node, node: Any, names: set[str]) -> None:
    if isinstance(node, dict):
        name = str(node.get("$ref", "")).removeprefix("#/components/schemas/")
        if name in document["components"]["schemas"] and name not in names:
            names.add(name)
            _with_names(document, document["components"]["schemas"][name], names)
        for value in node.values():
            _with_names(document, value, names)
    elif isinstance(node, list):
        for value in node:
            _with_names(document, value, names)


def _open(node: Any) -> None:
    if isinstance(node, dict):
        if node.get("additionalProperties") in (False, {}):
            del node["additionalProperties"]
        for value in node.values():
            _open(value)
    elif isinstance(node, list):
        for value in node:
            _open(value)


def _with_whole_responses(document: Node) -> None:
    """Give a part of a file the content of the whole, and each file a schema: generators need both to return bytes."""
    for operation in operations_of(document):
        responses = operation["responses"]
        for response in responses.values():
            for kind, content in response.get("content", {}).items():
                if not content and not kind.endswith(("json", "yaml")):
                    content["schema"] = {"type": "string"} | ({} if kind.startswith("text/") else {"format": "binary"})
        if "206" in responses and "content" not in responses["206"] and "content" in responses.get("200", {}):
            whole = responses["200"]["content"]
            # A part of a JSON document is no document, and where one may come its type must not be left out.
            if not any(kind.endswith("json") for kind in whole):
                responses["206"]["content"] = {kind: {"schema": one["schema"]} for kind, one in whole.items() if one}


def _with_request_headers(document: Node) -> None:
    for operation in operations_of(document):
        named = {one["name"] for one in operation.get("parameters", ())}
        for status, (name, sentence) in _REQUEST_HEADERS.items():
            if status in operation["responses"] and name not in named:
                schema = {"type": "string"}
                parameter = {"in": "header", "name": name, "description": sentence, "schema": schema}
                operation.setdefault("parameters", []).append(parameter)


def _without_defaults(document: Node) -> None:
    """Leave out what OpenAPI means anyway, and the headers that the document describes as those of every answer."""
    for operation in operations_of(document):
        for parameter in operation.get("parameters", ()):
            if not parameter.get("required"):
                parameter.pop("required", None)
            if parameter["in"] == "query" and parameter.get("style") == "form" and parameter.get("explode"):
                del parameter["style"], parameter["explode"]
        for status, response in operation["responses"].items():
            headers = {name: one for name, one in response.pop("headers", {}).items() if name not in _SAID_ONCE}
            if status == "429":
                headers["RateLimit"] = _RATE_LIMIT
            if headers:
                response["headers"] = headers
        if not operation.get("parameters"):
            operation.pop("parameters", None)
