"""The tests' own order: what shares a stack stays together, and planted faults fit the code and name what exists."""

import ast
import re
from functools import cache

from tests.conftest import LONGEST_GROUPS
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
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 20
    for fault in FAULTS:
        text = planted(fault, (PROJECT / fault.file).read_text())
        if fault.file.endswith(".py"):
            ast.parse(text)
        assert bool(fault.tests) != bool(fault.drill), fault.name
        assert [test for test in fault.tests if not named(test)] == [], fault.name
        assert not fault.drill or fault.drill[0] in drill.commands, fault.name


def test_each_of_the_longest_groups_is_one() -> None:
    texts = [path.read_text() for path in (PROJECT / "tests").rglob("test_*.py")]
    assert set(LONGEST_GROUPS) <= {name for text in texts for name in re.findall(r'xdist_group\("(\w+)"\)', text)}


def test_all_tests_with_the_shared_stack_or_browser_are_in_its_group() -> None:
    """A test outside of the group would start a second stack, or a second browser, on another worker."""
    for folder, fixtures, group in (
        ("system", "stack: Running|buyer: Buyer", "stack"),
        ("browser", "(visitor|member|reader): Visitor|browser: Browser", "browser"),
    ):
        for path in (PROJECT / "tests" / folder).rglob("test_*.py"):
            for test, parameters in re.findall(r"^def (test_\w+)\((.*?)\) -> None", path.read_text(), re.M | re.S):
                if re.search(fixtures, parameters):
                    assert f'xdist_group("{group}")' in path.read_text(), f"{path.name}::{test}"
