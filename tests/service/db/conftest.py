"""Two organizations in one database."""

from collections.abc import Iterator

import pytest

from shared.db.connect import connect
from tests.service.db.tenants import TwoOrganizations, both_of, populate_both
from tests.support.servers import Servers


@pytest.fixture
def two(servers: Servers) -> Iterator[TwoOrganizations]:
    """Acme of Ada, and Other of Eve."""
    with (
        servers.fresh(contents=populate_both) as settings,
        connect(settings.edge_database_url, application="tests") as edge,
        connect(settings.database_url, application="tests", autocommit=True) as owner,
    ):
        yield TwoOrganizations(*both_of(owner), edge, owner)
        edge.rollback()
