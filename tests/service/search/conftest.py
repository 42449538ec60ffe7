"""A PostgreSQL of its own for the search tests, with the schema of the migrations."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from deploy.local import postgres
from deploy.local.child import Child
from deploy.local.places import Places
from shared.db.connect import connect
from shared.db.migrate import migrate

_PASSWORDS = {"owner_password": "owner", "edge_password": "edge", "worker_password": "worker"}


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """The address of an empty, migrated database, for its owner."""
    with tempfile.TemporaryDirectory(prefix="iisearch-") as folder:
        places = Places.below(Path(folder))
        server = Child(postgres.program(places, _PASSWORDS["owner_password"], {"fsync": "off"}))
        server.start()
        assert server.wait_ready(30), places.log("postgres").read_text()
        try:
            postgres.prepare(places, _PASSWORDS)
            url = postgres.url(places, postgres.OWNER, _PASSWORDS["owner_password"])
            with connect(url, application="tests") as connection:
                migrate(connection)
            yield url
        finally:
            server.stop()


@pytest.fixture
def owner(database: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A connection of the owner, to tables without items."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("TRUNCATE data_versions, items, brands, categories RESTART IDENTITY CASCADE")
        yield connection
