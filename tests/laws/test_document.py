"""What generated clients rely on in the OpenAPI document."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from edge.docs.document import SENTENCES
from edge.http.catalogue import CATALOGUE
from edge.http.routing import BODY_BYTES_MAX
from tests.support import openapi
from tests.support.compatibility import breaking, expanded, operations_of

# Forms of Python's `re` that ECMA-262 reads as something else or refuses; JSON Schema's patterns are ECMA-262's.
ONLY_PYTHON = re.compile(r"\\[AZ]|\(\?(?:P[<=>]|[#(]|[aiLmsux-]+[:)]|>)|[*+?}]\+|\{,\d")

NGINX = (Path(__file__).parents[2] / "nginx.conf").read_text()
# The most IIDs in a batch of the largest plan that the service begins with.
IIDS_MAX = 1_000

# Clients of the Delta Sharing protocol send hints that this service does not know.
OPEN_REQUESTS = {"SharingQuery"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    made: dict[str, Any] = openapi.document()
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


def test_each_refusal_has_its_status_and_its_meaning(whole: dict[str, Any]) -> None:
    meanings = {one.meaning for one in CATALOGUE.values()}
    for operation in operations_of(whole):
        refusals = {status: one for status, one in operation["responses"].items() if status >= "400"}
        assert refusals.keys() >= {"400", "405", "414", "415", "417", "431", "500", "503"}, operation["operationId"]
        for status, refusal in refusals.items():
            if refusal["content"].keys() == {"application/problem+json"}:
                assert any(meaning in refusal["description"] for meaning in meanings), (operation, status)
            assert refusal["content"]["application/problem+json"]["schema"] == {"$ref": "#/components/schemas/Problem"}


def test_a_refusal_by_a_limit_documents_retry_after(whole: dict[str, Any]) -> None:
    limited = [one["responses"]["429"] for one in operations_of(whole) if "429" in one["responses"]]
    assert len(limited) > 60
    for refusal in limited:
        assert refusal["headers"]["Retry-After"]["schema"] == {"type": "integer", "minimum": 1}
        assert {"RateLimit", "RateLimit-Policy"} <= refusal["headers"].keys()


def test_each_operation_has_a_summary_and_a_description(document: dict[str, Any]) -> None:
    operations = [operation for one in document["paths"].values() for operation in one.values()]
    assert [one["operationId"] for one in operations if not (one.get("summary") and one.get("description"))] == []


def test_no_query_parameter_can_be_null(whole: dict[str, Any]) -> None:
    for operation in operations_of(whole):
        for parameter in operation["parameters"]:
            schema = parameter["schema"]
            assert "null" not in schema["type"], (operation["operationId"], parameter["name"])
            assert None not in (schema.get("default", ""), *schema.get("enum", ()))


def test_an_answer_may_grow_and_a_request_may_not(whole: dict[str, Any]) -> None:
    schemas = whole["components"]["schemas"]
    requested = references([one["requestBody"] for one in operations_of(whole) if "requestBody" in one], schemas)
    assert requested
    for name, schema in schemas.items():
        assert (schema.get("additionalProperties") is False) == (name in requested - OPEN_REQUESTS), name


def test_a_part_of_a_file_has_the_content_of_the_whole(whole: dict[str, Any]) -> None:
    parts = [one for one in operations_of(whole) if "206" in one["responses"]]
    assert parts
    for operation in parts:
        assert (
            operation["responses"]["206"].get("content", {}).keys() <= operation["responses"]["200"]["content"].keys()
        )
        assert "Range" in {one["name"] for one in operation["parameters"]}, operation["operationId"]


# What a request needs beside a list: its path, its other parameters, or the members of its body.
BESIDE = 512
# A name of a shop, a part number or a brand is seldom longer; longer texts are bounded by the body, as its sentence says.
USUAL_CHARACTERS_MAX = 80


def by_path(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return every operation with its path."""
    for path, operations in document["paths"].items():
        for operation in operations.values():
            yield path, operation


def longest_text(schema: dict[str, Any]) -> int:
    """Return the characters of the longest value that is allowed, without those that JSON or a URL escapes."""
    if "enum" in schema:
        return max(len(str(one)) for one in schema["enum"])
    repeated = re.search(r"\{0,(\d+)\}\$$", schema.get("pattern", ""))
    return int(schema["maxLength"]) if "maxLength" in schema else 1 + int(repeated[1]) if repeated else 0


def longest_json(schema: dict[str, Any], schemas: dict[str, Any], most: int) -> int:
    """Return the bytes of the longest JSON text, where no text is longer than `most`."""
    if "$ref" in schema:
        return longest_json(schemas[schema["$ref"].rpartition("/")[2]], schemas, most)
    if "anyOf" in schema:
        return max(longest_json(one, schemas, most) for one in schema["anyOf"])
    if schema.get("type") == "array" or "items" in schema:
        return int(schema.get("maxItems", IIDS_MAX)) * (longest_json(schema["items"], schemas, most) + len(", "))
    if "properties" in schema:
        members = {
            name: longest_json(one, schemas, most) + len(name) + len('"": , ')
            for name, one in schema["properties"].items()
        }
        # An identifier has one of its schemes, with the brand or the source that it requires.
        if {"gtin", "mpn", "sku"} <= members.keys():
            return max(members["mpn"] + members["brand"], members["sku"] + members["source"]) + len("{}")
        return sum(members.values()) + len("{}")
    return min(most, longest_text(schema)) + len('""')


def test_a_list_in_a_query_fits_or_its_sentence_names_the_bound(whole: dict[str, Any]) -> None:
    [line] = re.findall(r"large_client_header_buffers \d+ (\d+)k;", NGINX)
    bound = int(line) * 1024
    promised = 0
    for path, operation in by_path(whole):
        for one in operation.get("parameters", ()):
            most = one["schema"].get("maxItems")
            if one["in"] != "query" or most is None:
                continue
            promised += 1
            longest = most * (len(f"&{one['name']}=") + longest_text(one["schema"]["items"]))
            assert longest + BESIDE <= bound or f"{line} kB" in one["description"], (path, one["name"])
    assert promised > 20


def test_a_list_in_a_body_fits_within_the_bounds_of_nginx_and_edge(whole: dict[str, Any]) -> None:
    sizes = re.findall(r"location (/\S*) \{[^}]*?client_max_body_size (\d+)k;", NGINX)
    assert len(sizes) == 5
    lists = 0
    for path, operation in by_path(whole):
        if "requestBody" not in operation:
            continue
        bound = next((int(size) for at, size in sizes if path.startswith(at)), BODY_BYTES_MAX // 1024)
        assert operation["requestBody"]["description"] == f"At most {bound} kB.", path
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        longest = longest_json(schema, whole["components"]["schemas"], USUAL_CHARACTERS_MAX)
        lists += longest > 64_000
        assert longest <= bound * 1024, path
    assert lists == 3


def test_headers_that_change_an_answer_are_parameters(whole: dict[str, Any]) -> None:
    for operation in operations_of(whole):
        named = {one["name"] for one in operation["parameters"] if one["in"] == "header"}
        assert "304" not in operation["responses"] or "If-None-Match" in named, operation["operationId"]


def test_each_problem_is_declared_once(document: dict[str, Any]) -> None:
    for operation in operations_of(document):
        inline = [status for status, one in operation["responses"].items() if status >= "400" and "$ref" not in one]
        assert set(inline) <= {"503"}, (operation["operationId"], inline)


def test_each_tag_and_each_credential_is_described(document: dict[str, Any]) -> None:
    assert all(tag["description"] for tag in document["tags"])
    used = {tag for operation in operations_of(document) for tag in operation["tags"]}
    assert used == {tag["name"] for tag in document["tags"]}


def test_every_member_is_described_and_every_sentence_is_of_one(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    members = [node for one in schemas.values() for node in one.get("properties", {}).values()]
    assert len(members) > 700
    assert [node for node in members if not (node.get("description") or references(node, schemas))] == []
    parameters = [parameter for one in operations_of(expanded(document)) for parameter in one["parameters"]]
    used = {one["description"] for one in (*members, *parameters) if "description" in one}
    assert set(SENTENCES.values()) <= used
    assert [name for name, schema in schemas.items() if not schema.get("description")] == []


def test_names_of_schemas_are_those_of_the_index(document: dict[str, Any]) -> None:
    names = document["components"]["schemas"].keys()
    assert {"iid", "price_band"} <= document["components"]["schemas"]["Item"]["properties"].keys()
    assert {"Items", "Role", "Share", "File", "Column", "Window", "Total", "Created", "Reply"} & names == set()
    assert [name for name in names if name[-1].isdigit()] == []


def test_no_schema_has_a_member_of_its_own_name(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():  # generators use both as names in one function
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
        assert snake not in schema.get("properties", {}), name


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
                assert len(schemas[row]["properties"]) > 4
    assert "Quote" in schemas


def references(node: Any, schemas: dict[str, Any]) -> set[str]:
    """Return the names of the schemas that a node refers to, directly or by another one."""
    if isinstance(node, list):
        return set().union(*(references(one, schemas) for one in node))
    if not isinstance(node, dict):
        return set()
    name = str(node.get("$ref", "")).rpartition("/")[2]
    own = {name} | references(schemas[name], schemas) if name else set()
    return own.union(*(references(one, schemas) for one in node.values()))


RELEASED = Path(__file__).parents[2] / "docs" / "openapi" / "v1.json"


def test_nothing_that_was_released_is_broken(document: dict[str, Any]) -> None:
    validate(document)
    assert breaking(json.loads(RELEASED.read_text()), document) == []
