"""Tests that tables of the documents name by their file and function."""

import ast
import re
from functools import cache

from tests.laws.sources import PROJECT

TEST = re.compile(r"(tests/[\w/]+\.py)::(\w+)")


@cache
def functions_of(path: str) -> frozenset[str]:
    """Return the names of the test functions in a file of the project; none where there is no such file."""
    file = PROJECT / path
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = (node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(name for name in names if name.startswith("test_"))
