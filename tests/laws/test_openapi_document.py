"""What generated clients rely on in the OpenAPI document."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from deploy.ctl.openapi import application, openapi
from edge.app import DOCUMENT
from edge.docs.components import expanded
from edge.docs.published import (
    ENUMERATIONS,
    EVERYWHERE,
    SENTENCES,
    first_sentence,
    needs_description,
    references,
    sentence_for,
)

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


def test_each_refusal_is_the_default_and_documents_retry_after(whole: dict[str, Any]) -> None:
    wanted = {"type": "integer", "minimum": 1}
    for operation in operations_of(whole):
        refused = operation["responses"]["default"]
        assert refused["content"].keys() == {"application/problem+json"}, operation["operationId"]
        assert refused["headers"]["Retry-After"]["schema"] == wanted, operation["operationId"]
        assert "RateLimit" in refused["headers"], operation["operationId"]


def test_the_reference_names_each_refusal_by_its_status() -> None:
    described = application()[DOCUMENT]
    named, exact = expanded(described.with_examples()), described.exact()
    for path, operations in exact["paths"].items():
        for method, operation in operations.items():
            refusals = {status for status in operation["responses"] if status >= "400"}
            shown = named["paths"][path][method]["responses"]
            assert refusals - shown.keys() <= {*EVERYWHERE, "403"}, operation["operationId"]
            assert "default" in shown


def test_each_operation_has_a_summary_and_a_description(document: dict[str, Any]) -> None:
    operations = [operation for one in document["paths"].values() for operation in one.values()]
    assert [one["operationId"] for one in operations if not (one.get("summary") and one.get("description"))] == []


def test_no_query_parameter_can_be_null(whole: dict[str, Any]) -> None:
    for operation in operations_of(whole):
        for parameter in operation["parameters"]:
            schema = parameter["schema"]
            named = str(schema.get("$ref", "")).rpartition("/")[2]
            kind = whole["components"]["schemas"][named]["type"] if named else schema["type"]
            assert "null" not in kind, (operation["operationId"], parameter["name"])
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
    assert len(json.dumps(document["paths"])) < 0.5 * len(json.dumps(whole["paths"]))
    for operation in operations_of(document):
        inline = [
            status for status, one in operation["responses"].items() if "400" <= status <= "599" and "$ref" not in one
        ]
        assert set(inline) <= {"503"}, (operation["operationId"], inline)


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
    used = {sentence_for(name, member) for name, member, node in members if node.get("description")} - {None}
    parameters = [parameter for one in operations_of(expanded(document)) for parameter in one["parameters"]]
    used |= {one["description"] for one in (*parameters, *schemas.values()) if "description" in one}
    assert {first_sentence(one) for one in SENTENCES.values()} <= {first_sentence(one) for one in used}
    # An answer or a body as a whole is described by its operation, and every other schema by itself.
    parts = references([schemas, [one.get("parameters") for one in operations_of(expanded(document))]])
    assert [name for name in parts if not schemas[name].get("description")] == []


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
    reports = [one for one in operations_of(document) if "DryRun" in str(one) and "reports" in one["tags"]]
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


def test_each_shared_value_is_shorter_than_its_places(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    for name, one in document["components"]["schemas"].items():
        if "properties" not in one and "enum" not in one and one.get("type") not in (None, "object"):
            assert text.count(f'"#/components/schemas/{name}"') > 1, name


def members_of(name: str, schemas: dict[str, Any]) -> set[str]:
    """Return the members of a schema and of those that it extends."""
    bases = [one["$ref"].rpartition("/")[2] for one in schemas[name].get("allOf", ())]
    return set(schemas[name].get("properties", ())).union(*(members_of(base, schemas) for base in bases))


def operations_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every operation of a document."""
    return [operation for one in document["paths"].values() for operation in one.values()]
