"""Enumerations that several members and parameters share, as schemas with names of their own. Pure."""

from typing import Any

from edge.openapi.components import Node

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
