"""What generated clients rely on in the OpenAPI document."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from deploy.ctl.openapi import openapi
from edge.openapi.components import expanded
from edge.openapi.enumerations import ENUMERATIONS
from edge.openapi.members import SENTENCES, needs_description, sentence_for
from edge.openapi.published import published

# Forms of Python's `re` that ECMA-262 reads as something else or refuses; JSON Schema's patterns are ECMA-262's.
ONLY_PYTHON = re.compile(r"\\[AZ]|\(\?(?:P[<=>]|[#(]|[aiLmsux-]+[:)]|>)|[*+?}]\+|\{,\d")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(CliRunner().invoke(openapi, []).stdout)
    return made


@pytest.fixture(scope="module")
def whole(document: dict[str, Any]) -> dict[str, Any]:
    """The document with every shared part in its place."""
    return expanded(document)


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


def test_each_429_documents_retry_after(whole: dict[str, Any]) -> None:
    answers = {
        (method, path): operation["responses"]["429"]
        for path, operations in whole["paths"].items()
        for method, operation in operations.items()
        if "429" in operation["responses"]
    }
    assert len(answers) > 30
    wanted = {"type": "integer", "minimum": 1}
    assert [where for where, one in answers.items() if one["headers"]["Retry-After"]["schema"] != wanted] == []


def test_each_operation_has_a_summary_and_a_description(document: dict[str, Any]) -> None:
    operations = [operation for one in document["paths"].values() for operation in one.values()]
    assert [one["operationId"] for one in operations if not (one.get("summary") and one.get("description"))] == []


def test_no_query_parameter_can_be_null(whole: dict[str, Any]) -> None:
    for operation in operations_of(whole):
        for parameter in operation["parameters"]:
            schema = parameter["schema"]
            assert "null" not in schema.get("type", ""), (operation["operationId"], parameter["name"])
            assert schema.get("default", "") is not None


def test_an_answer_may_grow_and_a_request_may_not(whole: dict[str, Any]) -> None:
    for operation in operations_of(whole):
        assert '"additionalProperties": false' not in json.dumps(operation["responses"]), operation["operationId"]
    assert whole["components"]["schemas"]["NewExport"]["additionalProperties"] is False


def test_a_part_of_a_file_has_the_content_of_the_whole(whole: dict[str, Any]) -> None:
    parts = [one for one in operations_of(whole) if "206" in one["responses"]]
    assert parts
    for operation in parts:
        assert (
            operation["responses"]["206"].get("content", {}).keys() <= operation["responses"]["200"]["content"].keys()
        )
        assert "Range" in {one["name"] for one in operation["parameters"]}, operation["operationId"]


def test_headers_that_change_an_answer_are_parameters(whole: dict[str, Any]) -> None:
    for operation in operations_of(whole):
        named = {one["name"] for one in operation["parameters"] if one["in"] == "header"}
        assert "304" not in operation["responses"] or "If-None-Match" in named, operation["operationId"]


def test_common_parts_of_operations_are_declared_once(document: dict[str, Any], whole: dict[str, Any]) -> None:
    assert published(whole)["components"].keys() == document["components"].keys()
    assert len(json.dumps(document["paths"])) < 0.5 * len(json.dumps(whole["paths"]))
    for operation in operations_of(document):
        inline = [
            status for status, one in operation["responses"].items() if "400" <= status <= "599" and "$ref" not in one
        ]
        assert len(inline) <= 2, (operation["operationId"], inline)


def test_each_operation_has_a_default_problem(whole: dict[str, Any]) -> None:
    for operation in operations_of(whole):
        assert "application/problem+json" in operation["responses"]["default"]["content"], operation["operationId"]


def test_each_tag_and_each_credential_is_described(document: dict[str, Any]) -> None:
    assert all(tag["description"] for tag in document["tags"])
    used = {tag for operation in operations_of(document) for tag in operation["tags"]}
    assert used == {tag["name"] for tag in document["tags"]}


def test_every_member_is_described_and_every_sentence_is_of_one(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    members = [
        (name, member, node) for name, one in schemas.items() for member, node in one.get("properties", {}).items()
    ]
    assert len(members) > 700
    assert [(name, member) for name, member, node in members if needs_description(node, schemas)] == []
    used = {sentence_for(name, member) for name, member, node in members if node.get("description")}
    parameters = [parameter for one in operations_of(expanded(document)) for parameter in one["parameters"]]
    used |= {one["description"] for one in (*parameters, *schemas.values())}
    assert set(SENTENCES.values()) <= used
    assert [name for name, one in schemas.items() if not one.get("description")] == []


def test_names_of_schemas_are_those_of_the_index(document: dict[str, Any]) -> None:
    names = document["components"]["schemas"].keys()
    assert {"iid", "price_band"} <= document["components"]["schemas"]["Item"]["properties"].keys()
    assert {"Items", "Role", "Share", "File", "Column", "Window", "Total", "Created", "Reply"} & names == set()
    assert [name for name in names if name[-1].isdigit()] == []


def test_no_schema_has_a_member_of_its_own_name(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():  # generators use both as names in one function
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
        assert snake not in schema.get("properties", {}), name


def test_nothing_with_values_may_be_null_among_them(document: dict[str, Any]) -> None:
    assert '"enum"' in json.dumps(document)
    assert not re.search(r'"enum": \[[^\]]*\bnull\b', json.dumps(document))


def test_each_shared_enumeration_is_referred_to(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    for name in ENUMERATIONS:
        assert text.count(f'"#/components/schemas/{name}"') > 1, name


def test_a_report_is_its_typed_rows_or_a_quote(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    reports = [one for one in operations_of(document) if "dry_run" in str(one) and "reports" in one["tags"]]
    assert reports
    for operation in operations_of(expanded(document)):
        schema = operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema", {})
        for one in schema.get("oneOf", ()):
            name = one["$ref"].rpartition("/")[2]
            assert set(schemas[name]["required"]) >= ({"cost_units"} if name == "Quote" else {"data", "meta"})
            if name != "Quote":
                row = schemas[name]["properties"]["data"]["items"]["$ref"].rpartition("/")[2]
                assert len(members_of(row, schemas)) > 4
    assert "Quote" in schemas


def test_the_document_stays_small_for_what_it_describes(document: dict[str, Any]) -> None:
    count = sum(1 for _ in operations_of(document))
    assert len(json.dumps(document, separators=(",", ":"), ensure_ascii=False)) < 2_400 * count


def members_of(name: str, schemas: dict[str, Any]) -> set[str]:
    """Return the members of a schema and of those that it extends."""
    bases = [one["$ref"].rpartition("/")[2] for one in schemas[name].get("allOf", ())]
    return set(schemas[name].get("properties", ())).union(*(members_of(base, schemas) for base in bases))


def operations_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every operation of a document."""
    return [operation for one in document["paths"].values() for operation in one.values()]
