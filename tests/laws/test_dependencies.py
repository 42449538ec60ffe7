"""What is installed is what was locked, byte for byte, and nothing of it is known to be bad.  A list of advisories needs a network that the tests do not have; people keep these floors, from the advisories that concern what this service is built of."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.version import Version

from tests.laws.sources import FOLDERS, PROJECT, trees

LOCKS = sorted((PROJECT / "requirements").glob("*.lock"))

OURS = {*FOLDERS, "itemindex_client"}

PACKAGE = re.compile(
    r"^(?P<name>[A-Za-z0-9_.-]+)(?:\[[^\]]*\])?==(?P<version>[^\s;\\]+)(?P<rest>[^\n]*(?:\n    [^\n]*)*)", re.MULTILINE
)

# The first version without the hole, and what the hole was.
FLOORS = {
    "aiohttp": ("3.14.5", "request smuggling, unbounded pipelining and headers in what came before"),
    "pyjwt": ("2.15", "an unknown `crit` accepted; the key's algorithm not held against the token's"),
    "gunicorn": ("26.1", "framing faults, and restarts that drop connections"),
    "celery": ("5.6", "the broker's password in its own log"),
    "jinja2": ("3.1.6", "a way out of the sandbox"),
    "cryptography": ("44.0.1", "an OpenSSL that was vulnerable inside the wheel"),
    "urllib3": ("2.5", "redirects followed where they were switched off"),
    "requests": ("2.32.4", "credentials of .netrc sent to another host"),
    "h11": ("0.16", "chunked bodies read loosely: request smuggling"),
    "h2": ("4.3", "header values with line ends: request splitting"),
    "werkzeug": ("3.1.4", "multipart bodies without a bound; device names as file names"),
    "setuptools": ("78.1.1", "a path that leaves its folder"),
}


def locked(path: Path) -> dict[str, tuple[str, str]]:
    """Return each package of a lock file with its version and what follows it."""
    found = PACKAGE.finditer(path.read_text(encoding="utf-8"))
    return {re.sub(r"[-_.]+", "-", m["name"]).lower(): (m["version"], m["rest"]) for m in found}


def imported(tree: ast.Module) -> set[str]:
    """Return the names of the top-level packages that a source file imports, at any depth of its code."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def test_the_product_imports_nothing_that_its_own_lock_file_does_not_install() -> None:
    """What only the tests' environment holds, the tests themselves among it, fails to be imported at a user's."""
    packages = locked(PROJECT / "requirements" / "service.lock")
    sources = packages_distributions()
    checked, missing = 0, []
    for path, tree in trees().items():
        for name in imported(tree) - sys.stdlib_module_names - OURS:
            checked += 1
            installed = {re.sub(r"[-_.]+", "-", package).lower() for package in sources.get(name, ())}
            if name == "tests" or not installed & set(packages):  # some packages bring tests of their own
                missing.append(f"{path.relative_to(PROJECT)}: {name}")
    assert checked > 100
    assert missing == []


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_package_is_pinned_by_version_and_hash(path: Path) -> None:
    packages = locked(path)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert len(packages) > 50
    assert len([line for line in lines if "==" in line]) == len(lines)
    assert [name for name, (_, rest) in packages.items() if "--hash=sha256:" not in rest] == []


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_no_package_is_older_than_its_last_known_hole(path: Path) -> None:
    packages = locked(path)
    bad = {
        name: why
        for name, (floor, why) in FLOORS.items()
        if name in packages and Version(packages[name][0]) < Version(floor)
    }
    assert bad == {}


def test_every_minimum_version_is_of_a_package_in_use() -> None:
    everything = {name for path in LOCKS for name in locked(path)}
    assert set(FLOORS) - everything == set()
