"""The samples of the reference page, and the tests of the TypeScript client."""

import ast
import functools
import json
import re
from pathlib import Path

import httpx
import pytest
from itemindex_client import Client

from edge.docs.files import SAMPLES
from edge.docs.files import python_sample as python
from edge.docs.files import typescript_sample as typescript
from tests.support.node import node

# The samples of the reference page call methods that the clients have, for operations that there are.


PROJECT = Path(__file__).parents[3]

DOCUMENT = json.loads((PROJECT / "deploy/openapi/v1.json").read_text())

COMPILED = (PROJECT / "deploy/clients/typescript/dist/client.js").read_text()


def path_of(operation: str) -> str:
    """Return the path of an operation, with any value for its parameters."""
    for path, operations in DOCUMENT["paths"].items():
        if any(one["operationId"] == operation for one in operations.values()):
            return re.sub(r"\{\w+\}", "[^/]+", path)
    raise KeyError(operation)


@pytest.mark.parametrize("operation", SAMPLES)
def test_a_sample_of_python_calls_the_operation(
    operation: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sent: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.path)
        manifest = {"dataset": "items", "data_version": 1, "files": []}
        state = {"id": "j", "state": "succeeded", "error": None}
        return httpx.Response(200, json={"data": [], "meta": {}, "next_cursor": None, **manifest, **state})

    monkeypatch.setenv("ITEMINDEX_KEY", "k")
    http = httpx.Client(transport=httpx.MockTransport(handler))
    monkeypatch.setattr(Client, "__init__", functools.partialmethod(Client.__init__, http=http))
    monkeypatch.chdir(tmp_path)
    source = python(operation, "http://service/v1", "install it")
    assert source
    exec(compile(ast.parse(source), operation, "exec"), {})
    assert re.fullmatch(path_of(operation), sent[0]), sent


@pytest.mark.parametrize("operation", SAMPLES)
def test_a_sample_of_typescript_calls_methods_that_there_are(operation: str) -> None:
    source = typescript(operation, "http://service/v1", "install it")
    assert source and source.count("(") == source.count(")")
    for name in re.findall(r"client\.(?:report\.)?(\w+)\(", source):
        assert re.search(rf"^    (?:async )?\*?{name}\(", COMPILED, re.MULTILINE), name


# The TypeScript client without a service: the tests are in typescript_client.mjs, where Node runs them.


TESTS = Path(__file__).with_name("typescript_client.mjs")


def test_every_test_in_node_passes() -> None:
    cleared = dict.fromkeys(("ITEMINDEX_URL", "ITEMINDEX_KEY", "ITEMINDEX_TOKEN"), "")
    shown = node("--test", "--test-reporter=tap", TESTS, **cleared)
    assert int(re.search(r"^# pass (\d+)$", shown, re.MULTILINE)[1]) >= 19  # type: ignore[index]
