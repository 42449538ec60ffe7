"""A module that says it is pure decides without I/O: no driver in it, nor in anything that it imports to run."""

import ast
import re

import grimp
import pytest

from tests.laws.sources import FOLDERS, PROJECT, trees

DRIVERS = ("aiohttp", "asyncpg", "billiard", "celery", "gunicorn", "kombu", "obstore", "psycopg", "redis", "uvloop")


def pure_modules() -> list[str]:
    """Return the modules whose docstring ends a sentence with the one word Pure."""
    found = []
    for path, tree in trees().items():
        text = ast.get_docstring(tree) or ""
        if re.search(r"(^|[.:;] )Pure\b", text):
            found.append(".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__"))
    return found


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    """What imports what; imports for annotations alone do not count."""
    return grimp.build_graph(*FOLDERS, include_external_packages=True, exclude_type_checking_imports=True)


def chains(imports: grimp.ImportGraph, modules: list[str]) -> list[str]:
    """Return how each of these modules reaches a driver."""
    return [
        " -> ".join(chain)
        for module in modules
        for driver in DRIVERS
        if driver in imports.modules and (chain := imports.find_shortest_chain(module, driver))
    ]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_driver_in_a_pure_module(imports: grimp.ImportGraph) -> None:
    modules = pure_modules()
    assert len(modules) > 40
    assert chains(imports, modules) == []
