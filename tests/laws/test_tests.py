"""The planted faults of `make sabotage` still fit the code and name what exists: a fault without a judge shows nothing."""

import ast
from functools import cache

from tests.drills.__main__ import drill
from tests.sabotage.faults import FAULTS
from tests.sabotage.run import PROJECT, planted


@cache
def functions_of(file: str) -> frozenset[str]:
    """Return the names of the functions in a file of tests; none where there is no such file."""
    path = PROJECT / file
    if not path.is_file():
        return frozenset()
    nodes = ast.walk(ast.parse(path.read_text()))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def named(test: str) -> bool:
    """Whether a test, or a module of tests, of this node id exists."""
    file, _, name = test.partition("::")
    return name in functions_of(file) if name else bool(functions_of(file))


def test_each_planted_fault_has_its_place_and_its_judge() -> None:
    for fault in FAULTS:
        text = planted(fault, (PROJECT / fault.file).read_text())
        if fault.file.endswith(".py"):
            ast.parse(text)
        assert bool(fault.tests) != bool(fault.drill), fault.name
        assert [test for test in fault.tests if not named(test)] == [], fault.name
        assert not fault.drill or fault.drill[0] in drill.commands, fault.name
