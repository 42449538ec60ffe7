"""The table of promises names tests that exist, and leaves no row without one or a reason."""

import ast
import re
from pathlib import Path

PROJECT = Path(__file__).parents[2]
TABLE = PROJECT / "deploy" / "guides" / "promises.md"
ROW = re.compile(r"^\| ([B-K]\d{1,2}) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"(tests/[\w/]+\.py)::(\w+)")


def test_every_promise_is_held_by_a_test_that_exists() -> None:
    rows = ROW.findall(TABLE.read_text(encoding="utf-8"))
    assert len(rows) == len({promise for promise, _ in rows}) > 75
    for promise, holder in rows:
        named = NAMED.match(holder)
        if named is None:
            assert re.match(r"not applicable: .{30,}", holder), promise
            continue
        tree = ast.parse((PROJECT / named[1]).read_text(encoding="utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert named[2] in functions, f"{promise}: {holder}"
