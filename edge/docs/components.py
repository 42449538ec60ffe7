"""What many operations share, said once: headers, parameters, responses and enumerations as components. Pure."""

import copy
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

from edge.http.faults import CATALOGUE

Node = dict[str, Any]
_WORD = re.compile(r"[A-Za-z0-9]+")
# Which problem a response describes: its component has the problem's name, which says more than its status.
PROBLEM = "A problem, named by its `type`"
_SLUGS = {(str(one.status), one.meaning): one.slug for one in reversed(CATALOGUE.values())}


def share(document: Node) -> None:
    """Make a component of each header, parameter and response that occurs more than once."""
    _share(document, "responses", _responses, _response_name)
    _share(document, "headers", _headers, lambda name, header: words(name))
    _share(document, "parameters", _parameters, lambda name, one: words(one["name"]))


def expanded(document: Node) -> Node:
    """Return the document with every shared header, parameter and response in its place again."""
    made = copy.deepcopy(document)
    for operation in operations_of(made):
        if "security" in made:
            operation.setdefault("security", made["security"])
        operation["parameters"] = [_resolved(made, one) for one in operation.get("parameters", ())]
        responses = {status: _resolved(made, one) for status, one in operation["responses"].items()}
        for response in responses.values():
            if "headers" in response:
                response["headers"] = {name: _resolved(made, one) for name, one in response["headers"].items()}
        operation["responses"] = responses
    return made


def operations_of(document: Node) -> Iterator[Node]:
    """Return every operation of a document."""
    for operations in document["paths"].values():
        yield from operations.values()


def is_problem(response: Node) -> bool:
    """Return whether a response is a problem document and nothing else."""
    return set(response.get("content", ())) == {"application/problem+json"}


def words(text: str) -> str:
    """Return the words of a text as one name, each with a capital letter."""
    return "".join(word[:1].upper() + word[1:] for word in _WORD.findall(text))


def bytes_of(node: Node) -> int:
    """Return the size of a node as it is served."""
    return len(json.dumps(node, separators=(",", ":"), ensure_ascii=False).encode())


def _resolved(document: Node, node: Node) -> Node:
    if "$ref" not in node:
        return node
    _, _, kind, name = node["$ref"].split("/")
    return copy.deepcopy(document["components"][kind][name])


Location = tuple[Any, Any, str]
"""A dictionary or list, where in it a node is that others may share, and the tag of its operation."""


def _headers(document: Node) -> Iterator[Location]:
    for operation in operations_of(document):
        for response in operation["responses"].values():
            headers = response.get("headers", {})
            yield from ((headers, name, operation["tags"][0]) for name in headers)


def _parameters(document: Node) -> Iterator[Location]:
    for operation in operations_of(document):
        listed = operation.get("parameters", [])
        yield from ((listed, number, operation["tags"][0]) for number in range(len(listed)))


def _responses(document: Node) -> Iterator[Location]:
    for operation in operations_of(document):
        yield from ((operation["responses"], status, operation["tags"][0]) for status in operation["responses"])


def _share(
    document: Node, kind: str, locations: Callable[[Node], Iterator[Location]], name_of: Callable[[Any, Node], str]
) -> None:
    """Make a component of each node that references make shorter, and put a reference in each of its locations."""
    listed = list(locations(document))
    counts = Counter(canonical(holder[key]) for holder, key, _ in listed)
    components = document["components"].setdefault(kind, {})
    names: dict[str, str] = {}
    # The names are the shorter, the more often they are referred to.
    for holder, key, tag in sorted(listed, key=lambda one: -counts[canonical(one[0][one[1]])]):
        text = canonical(holder[key])
        name = names.get(text) or _unused(name_of(key, holder[key]), tag, components)
        reference = {"$ref": f"#/components/{kind}/{name}"}
        if bytes_of({name: holder[key]}) + counts[text] * bytes_of(reference) < counts[text] * bytes_of(holder[key]):
            names[text] = name
            components[name] = holder[key]
            holder[key] = reference
    if not components:
        del document["components"][kind]


def _response_name(status: str, response: Node) -> str:
    if response["description"] == PROBLEM:
        return "Problem"
    slug = _SLUGS.get((status, response["description"]))
    return words(slug or HTTPStatus(int(status)).phrase)


def canonical(node: Any) -> str:
    """Return a text that equal nodes have in common."""
    return json.dumps(node, sort_keys=True)


def _unused(name: str, tag: str, taken: Node) -> str:
    """Return a name that no component has: the wished one, else with the tag before it, else with a number too."""
    wished = name if name not in taken else f"{words(tag)}{name}"
    free, number = wished, 2
    while free in taken:
        free, number = f"{wished}{number}", number + 1
    return free
