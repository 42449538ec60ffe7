"""Two organizations in one database."""

from collections.abc import Iterator

import pytest

from shared.config import Settings
from shared.db.connect import connect
from tests.service.db.tenants import TwoOrganizations, populate


@pytest.fixture
def two(settings: Settings) -> Iterator[TwoOrganizations]:
    """Acme of Ada, and Other of Eve."""
    with connect(settings.database_url, application="tests") as owner:
        acme, ada = populate(owner, "ada")
        other, eve = populate(owner, "eve")
    with connect(settings.edge_database_url, application="tests") as edge:
        yield TwoOrganizations(settings, acme, ada, other, eve, edge)
        edge.rollback()
