"""The document's examples are answers that the document allows."""

import pytest
from jsonschema import Draft202012Validator

from edge.docs.document import EXAMPLES
from tests.support.client import Edge


@pytest.mark.parametrize("operation", EXAMPLES)
async def test_an_example_is_valid_and_says_something(edge: Edge, operation: str) -> None:
    [reported] = [
        method["responses"]["200"]["content"]["application/json"]
        for path in edge.document["paths"].values()
        for method in path.values()
        if method["operationId"] == operation
    ]
    assert reported["example"] == EXAMPLES[operation]
    assert reported["example"]["data"], "an example without rows shows nothing"
    Draft202012Validator({**reported["schema"], "components": edge.document["components"]}).validate(
        reported["example"]
    )
