"""What generated clients rely on in the OpenAPI document."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from deploy.ctl.openapi import openapi

# Forms of Python's `re` that ECMA-262 reads as something else or refuses; JSON Schema's patterns are ECMA-262's.
ONLY_PYTHON = re.compile(r"\\[AZ]|\(\?(?:P[<=>]|[#(]|[aiLmsux-]+[:)]|>)|[*+?}]\+|\{,\d")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(CliRunner().invoke(openapi, []).stdout)
    return made


def patterns(node: Any) -> Iterator[str]:
    """Return every pattern below a node of the document."""
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            yield node["pattern"]
        for inner in node.values():
            yield from patterns(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from patterns(inner)


def test_every_pattern_is_one_of_ecma_262(document: dict[str, Any]) -> None:
    found = set(patterns(document))
    assert found
    assert {pattern for pattern in found if ONLY_PYTHON.search(pattern)} == set()
    for pattern in found:
        re.compile(pattern)


@pytest.mark.parametrize(
    "pattern", [r"\A[0-9]{1,4}\Z", "(?P<day>a)", "(?i)a", "(?i:a)", "a++", "a{,3}", "(?>a)", "(?#a)"]
)
def test_a_pattern_of_pythons_own_is_noticed(pattern: str) -> None:
    assert ONLY_PYTHON.search(pattern)


def test_each_429_documents_retry_after(document: dict[str, Any]) -> None:
    answers = {
        (method, path): operation["responses"]["429"]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "429" in operation["responses"]
    }
    assert len(answers) > 30
    wanted = {"type": "integer", "minimum": 1}
    assert [where for where, one in answers.items() if one["headers"]["Retry-After"]["schema"] != wanted] == []


def test_each_operation_has_a_summary_and_a_description(document: dict[str, Any]) -> None:
    operations = [operation for one in document["paths"].values() for operation in one.values()]
    assert [one["operationId"] for one in operations if not (one.get("summary") and one.get("description"))] == []
