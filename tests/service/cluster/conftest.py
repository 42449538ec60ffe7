"""One cluster for all tests here; each gets it whole, with every shard's replica in step."""

from collections.abc import Iterator

import pytest

from tests.support.valkey_cluster import ValkeyCluster, running_cluster


@pytest.fixture(scope="session")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyCluster]:
    """Six processes, for the whole session."""
    with running_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def cluster(nodes: ValkeyCluster) -> ValkeyCluster:
    """The cluster, healed of what the test before has done to it."""
    nodes.heal()
    return nodes
