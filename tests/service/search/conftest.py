"""A database of the search tests' own."""

from collections.abc import Iterator

import psycopg
import pytest

from shared.settings.settings import Settings


@pytest.fixture
def database(settings: Settings) -> str:
    """The address of an empty, migrated database, for its owner."""
    return settings.database_url


@pytest.fixture
def owner(database: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A connection of the owner, to tables without items."""
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection
