"""Fixtures that every test may use: real servers from the wheels, a fresh database, an edge on a unix socket."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from shared.config import Settings
from tests.support.client import Edge, running_edge
from tests.support.servers import Servers

# Set before anything imports Celery's application, which reads the environment as a worker does.
os.environ.setdefault("BROKER_URL", "memory://")


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """PostgreSQL and two Valkeys of this test process."""
    with Servers.running(tmp_path_factory.mktemp("servers")) as running:
        yield running


@pytest.fixture
def settings(servers: Servers, tmp_path: Path) -> Iterator[Settings]:
    """Settings of a fresh, migrated database and emptied stores."""
    with servers.fresh(tmp_path) as fresh:
        yield fresh


@pytest.fixture
async def edge(settings: Settings, tmp_path: Path) -> AsyncIterator[Edge]:
    """A whole edge of one process behind no nginx, on an empty index."""
    async with running_edge(settings, tmp_path) as running:
        yield running
