"""The samples of the reference page call methods that the clients have, for operations that there are."""

import ast
import functools
import json
import re
from pathlib import Path

import httpx
import pytest
from itemindex_client import Client

from edge.docs.client_samples import python_sample as python
from edge.docs.client_samples import samples
from edge.docs.client_samples import typescript_sample as typescript

PROJECT = Path(__file__).parents[3]

DOCUMENT = json.loads((PROJECT / "docs/openapi/v1.json").read_text())

COMPILED = "".join((PROJECT / "clients/typescript/dist" / name).read_text() for name in ("client.js", "reports.js"))


def path_of(operation: str) -> str:
    """Return the path of an operation, with any value for its parameters."""
    for path, operations in DOCUMENT["paths"].items():
        if any(one["operationId"] == operation for one in operations.values()):
            return re.sub(r"\{\w+\}", "[^/]+", path)
    raise KeyError(operation)


@pytest.mark.parametrize("operation", samples())
def test_a_sample_of_python_calls_the_operation(
    operation: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sent: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.path)
        manifest = {"dataset": "items", "data_version": 1, "files": []}
        state = {"id": "j", "state": "succeeded", "error": None}
        meta = {"cost_units": 0}
        return httpx.Response(200, json={"data": [], "meta": meta, "next_cursor": None, **manifest, **state})

    monkeypatch.setenv("ITEMINDEX_KEY", "k")
    http = httpx.Client(transport=httpx.MockTransport(handler))
    monkeypatch.setattr(Client, "__init__", functools.partialmethod(Client.__init__, http=http))
    monkeypatch.chdir(tmp_path)
    source = python(operation, "http://service/v1", "install it")
    assert source
    try:
        exec(compile(ast.parse(source), operation, "exec"), {})
    except AttributeError as missing:
        missing.add_note("`make clients` writes the methods of reports")
        raise
    assert re.fullmatch(path_of(operation), sent[0]), sent


def test_a_sample_of_typescript_calls_methods_that_there_are() -> None:
    for operation in samples():
        source = typescript(operation, "http://service/v1", "install it")
        assert source and source.count("(") == source.count(")"), operation
        for name in re.findall(r"client\.(?:report\.)?(\w+)\(", source):
            assert re.search(rf"^    (?:async )?\*?{name}\(", COMPILED, re.MULTILINE), (
                f"run `make clients`, which compiles {name}"
            )
