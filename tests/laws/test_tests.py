"""The tests' own order: what shares a stack stays together, and planted faults fit the code and name what exists."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.assurance.drills.__main__ import drill
from tests.assurance.judges import tools
from tests.assurance.sabotage.faults import FAULTS
from tests.assurance.sabotage.planted import planted
from tests.assurance.sabotage.run import PROJECT
from tests.conftest import LONGEST_GROUPS
from tests.rounds import ROUNDS


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
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 40
    for fault in FAULTS:
        text = planted(fault, (PROJECT / fault.file).read_text())
        if fault.file.endswith(".py"):
            compile(text, fault.file, "exec", dont_inherit=True)  # a quarter of the time that ast.parse takes
        assert bool(fault.tests) != bool(fault.drill), fault.name
        assert [test for test in fault.tests if not named(test)] == [], fault.name
        assert not fault.drill or fault.drill[0] in drill.commands, fault.name


# Each is started by another program of the tests, as a process of its own.
PARTS = {
    "tests.assurance.drills.attackers",
    "tests.assurance.drills.clock_skew",
    "tests.assurance.drills.fault_proxy",
    "tests.assurance.drills.ring",
    "tests.assurance.drills.webhook_receiver",
    "tests.assurance.drills.worker",
    "tests.assurance.judges.callers.first_calls",
    "tests.assurance.judges.matching_peers",
    "tests.assurance.judges.read_releases",
    "tests.assurance.perf.one_edge",
}
# It makes a Debian of 6 GB, and needs a program that a checkout cannot install.
WITHOUT_ROUND = {"images"}


def test_each_program_has_a_round() -> None:
    run = {command[0] for command in ROUNDS.values()}
    programs = set[str]()
    for folder in ("drills", "hostile", "judges", "perf", "sabotage", "truth"):
        for path in (PROJECT / "tests" / "assurance" / folder).rglob("*.py"):
            name = ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__main__")
            if path.name == "__main__.py" or 'if __name__ == "__main__":' in path.read_text():
                programs.add(name)
    assert programs - PARTS == run
    drills = {command[1] for command in ROUNDS.values() if command[0] == "tests.assurance.drills"}
    assert drills == set(drill.commands) - WITHOUT_ROUND
    judges = {command[-1] for command in ROUNDS.values() if command[0] == "tests.assurance.judges.run"}
    assert judges == set(tools.ALL)


def test_each_of_the_longest_groups_is_one() -> None:
    texts = [path.read_text() for path in (PROJECT / "tests").rglob("test_*.py")]
    assert set(LONGEST_GROUPS) <= {name for text in texts for name in re.findall(r'xdist_group\("(\w+)"\)', text)}


def asked_for(path: Path) -> dict[str, set[str]]:
    """Return the names that each function of a file asks for: as parameters, or by a mark."""
    return {
        node.name: {parameter.arg for parameter in node.args.args}
        | {
            name.value
            for mark in node.decorator_list
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.usefixtures"
            for name in mark.args
            if isinstance(name, ast.Constant)
        }
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_all_tests_with_the_shared_stack_or_browser_are_in_its_group() -> None:
    """A test outside of the group would start a second stack, or a second browser, on another worker."""
    for folder, shared, group in (("system", {"stack"}, "stack"), ("browser", {"stack", "browser"}, "browser")):
        by_all: dict[str, set[str]] = {}
        for path in (PROJECT / "tests" / folder).rglob("conftest.py"):
            by_all |= asked_for(path)
        sharing = []
        for path in (PROJECT / "tests" / folder).rglob("test_*.py"):
            asks = by_all | asked_for(path)
            for test in asks:
                found = {test}
                while more := {name for one in found for name in asks.get(one, ())} - found:
                    found |= more
                if test.startswith("test_") and found & shared:
                    sharing.append(test)
                    assert f'xdist_group("{group}")' in path.read_text(), f"{path.name}::{test}"
        assert len(sharing) > 20
