"""Arguments of tools are checked against their schema as JSON Schema means it."""

from typing import Any

import pytest

from edge.http.problems import Problem
from edge.mcp.calls import check_arguments
from edge.mcp.tools import RestCall, Tool

TOOL = Tool(
    "t",
    "T",
    "",
    {"limit": {"type": "integer", "minimum": 1, "maximum": 50}},
    lambda _: RestCall("/"),
    lambda body: body,
)


def test_a_number_without_a_fraction_is_an_integer() -> None:
    found = check_arguments(TOOL, {"limit": 5.0})["limit"]
    assert (found, type(found)) == (5, int)


@pytest.mark.parametrize("value", [5.5, 51.0, 0.0, True, "5", float("inf"), float("nan")])
def test_all_else_is_refused(value: Any) -> None:
    with pytest.raises(Problem):
        check_arguments(TOOL, {"limit": value})
