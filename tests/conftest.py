"""Fixtures that every test may use: real servers from the wheels, a fresh database, an edge on a unix socket."""

import atexit
import gc
import itertools
import os
import tempfile
import time
from collections.abc import AsyncIterator, Generator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, Phase
from hypothesis import settings as hypothesis_settings

from shared.settings.settings import Settings
from tests.support.client import Edge, running_edge
from tests.support.servers import Contents, Servers, folder_in_memory

# Of this machine and of its databases: nothing may depend on it. No other time zone is further ahead of UTC.
os.environ["TZ"] = "Pacific/Kiritimati"
time.tzset()

# A busy machine makes a single example slow; pytest's own time-out bounds a test. The examples of each run are others.
hypothesis_settings.register_profile(
    "tests",
    max_examples=100 if os.environ.get("CI") else 40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
# For a run that only asks whether a test fails: a smaller example of it would cost more than all that was tried before.
hypothesis_settings.register_profile(
    "as-found", hypothesis_settings.get_profile("tests"), phases=(Phase.explicit, Phase.generate)
)
hypothesis_settings.load_profile("tests")


def _end_silently() -> None:
    with Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), 2)


if "PYTEST_XDIST_WORKER" in os.environ:
    # At the end of a process DuckDB lists on standard error what of it was never freed: a hundred lines below the result
    # of all tests. What a worker has to say of its tests it has sent by then.
    atexit.register(_end_silently)

_ADDRESSES = itertools.cycle(range(2, 255))


@pytest.fixture(scope="session", autouse=True)
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests, and programs that they kill, leave in the folder for temporary files goes with this process."""
    tmp_path_factory.getbasetemp()  # which pytest keeps, to look at what failed
    with (
        tempfile.TemporaryDirectory(prefix="iix-", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patched,
    ):
        Path(folder).chmod(0o1777)
        patched.setenv("TMPDIR", folder)
        patched.setattr(tempfile, "tempdir", None)
        yield


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """PostgreSQL and two Valkeys of this test process."""
    with folder_in_memory() as folder, Servers.running(folder) as running:
        yield running


@pytest.fixture(scope="module")
def contents() -> Contents | None:
    """What the database holds when a test begins: nothing. A module that begins with more names what brings it."""
    return None


@pytest.fixture
def settings(servers: Servers, contents: Contents | None) -> Iterator[Settings]:
    """Settings of a fresh, migrated database with these contents, and emptied stores."""
    # One that a fixture makes is another function for each test: an index would be filled for each, and none copied.
    assert contents is None or "<locals>" not in contents.__qualname__, (
        "let a function of the module bring the contents"
    )
    with servers.fresh(contents=contents) as fresh:
        yield fresh


@pytest.fixture
async def edge(settings: Settings, tmp_path: Path) -> AsyncIterator[Edge]:
    """A whole edge of one process behind no nginx."""
    async with running_edge(settings, tmp_path) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def _edge_of_module(
    servers: Servers, contents: Contents | None, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Edge]:
    with servers.fresh(contents=contents) as fresh:
        async with running_edge(fresh, tmp_path_factory.mktemp("edge")) as running:
            yield running


@pytest.fixture
def shared_edge(_edge_of_module: Edge) -> Edge:
    """One edge for the tests of a module that change no data; each calls it from an address of its own.

    `contents` of such a module is of the module's scope.
    """
    return replace(_edge_of_module, address=f"100.64.0.{next(_ADDRESSES)}")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without the collector of garbage: what is imported and collected stays until the end.

    Each full collection of it would take a third of a second, in every process, and find nothing.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# Stacks whose tests take longest, the longest first. One that began last would keep one worker busy after all others.
LONGEST_GROUPS = ("browser", "stack", "survival", "upgrade", "replica", "cluster")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest groups first, all else keeps its order; run tests of a shared edge in the loop that it runs in."""
    for item in items:
        if {"_edge_of_module", "_browser_of_module"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)
    turns = {group: turn for turn, group in enumerate(LONGEST_GROUPS)}
    groups = {item: mark.args[0] for item in items if (mark := item.get_closest_marker("xdist_group"))}
    items.sort(key=lambda item: turns.get(groups.get(item, ""), len(turns)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Distribute files and groups over the processes."""
    from tests.support.scheduling import scheduler  # only now: a run in one process may be without pytest-xdist

    return scheduler(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the random histories of loads and undos be longer than in everyday runs."""
    parser.addoption("--histories", default="6", help="How many random histories of loads, acts and undos to try.")
