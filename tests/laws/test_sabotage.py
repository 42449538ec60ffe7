"""The planted faults of `make sabotage` still fit the code, name what exists, and a few of them are tried each time."""

import ast
import shutil
from pathlib import Path

import pytest

from tests.drills.__main__ import drill
from tests.sabotage.faults import FAULTS
from tests.sabotage.planted import PlantedFault
from tests.sabotage.run import LEFT_OUT, PROJECT, planted, try_fault

# Quick ones: their tests need no server.
TRIED = (
    "signatures of ID tokens are not checked",
    "cursors are not signed",
    "a table on the terminal reads cells as markup",
)


def named(test: str) -> bool:
    """Whether a test, or a module of tests, of this node id exists."""
    file, _, name = test.partition("::")
    path = PROJECT / file
    if not path.is_file():
        return False
    tree = ast.parse(path.read_text())
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return not name or name in functions


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_planted_fault_has_its_place_and_its_judge(fault: PlantedFault) -> None:
    text = planted(fault, (PROJECT / fault.file).read_text())
    if fault.file.endswith(".py"):
        ast.parse(text)
    assert bool(fault.tests) != bool(fault.drill)
    assert [test for test in fault.tests if not named(test)] == []
    assert not fault.drill or fault.drill[0] in drill.commands


def test_there_are_enough_of_them_and_each_has_its_own_name() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 20


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project to plant faults in."""
    copy = tmp_path_factory.mktemp("sabotage") / "tree"
    shutil.copytree(PROJECT, copy, ignore=LEFT_OUT)
    return copy


@pytest.mark.parametrize("name", TRIED)
def test_a_planted_fault_is_noticed(tree: Path, name: str) -> None:
    [fault] = [fault for fault in FAULTS if fault.name == name]
    verdict = try_fault(fault, tree)
    assert verdict.noticed, verdict.found


def test_a_harmless_change_is_not_called_noticed(tree: Path) -> None:
    """Else the run would call everything noticed, such as tests that cannot even be run."""
    [fault] = [fault for fault in FAULTS if fault.name == TRIED[1]]
    harmless = PlantedFault("harmless", fault.file, fault.old, f"{fault.old}  # harmless", fault.tests)
    assert not try_fault(harmless, tree).noticed
    broken = PlantedFault("broken", fault.file, fault.old, "if (:", fault.tests)
    assert not try_fault(broken, tree).noticed
    lost = PlantedFault("lost", fault.file, "no such place", "", fault.tests)
    assert not try_fault(lost, tree).noticed
