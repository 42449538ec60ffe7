"""Schemas made of others: groups of members that many schemas have, and reports apart from their quotes. Pure."""

import copy
import json
from collections.abc import Sequence
from typing import Any

from edge.openapi.components import Node, operations_of, words
from edge.openapi.members import sentence_for
from shared.indicators import INDICATORS

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
            _refer(schema, base, names, always)
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
            _refer(schema, base, names, names)
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


def _refer(schema: Node, base: str, names: Sequence[str], always: Sequence[str]) -> None:
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
