"""Shortens the published document: details that the pages for people have, and repetitions, are left out. Pure."""

import re
from collections import Counter
from typing import Any

from edge.openapi.components import PROBLEM, Node, canonical, is_problem, operations_of

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
