"""A market of invented prices, which every report must describe as its judge does."""

from collections.abc import Iterator

import pytest

from shared.db.connect import Connection, connect
from shared.settings.settings import Settings
from tests.assurance.truth.index import Index
from tests.service.reports.market import index_of, opened
from tests.support.servers import Servers


@pytest.fixture(scope="module")
def market(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A database with the market, which no test changes."""
    with opened(servers, tmp_path_factory.mktemp("market")) as settings:
        yield settings


@pytest.fixture(scope="module")
def judge(market: Settings) -> Index:
    """The judge of `make truth`, with the raw rows of the market."""
    with connect(market.worker_database_url, application="tests") as opened_connection:
        return index_of(opened_connection)


@pytest.fixture
def connection(market: Settings) -> Iterator[Connection]:
    """A connection of the workers' role to the market."""
    with connect(market.worker_database_url, application="tests", autocommit=True) as opened_connection:
        yield opened_connection
