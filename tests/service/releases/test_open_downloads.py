"""Downloads that this process sends itself: as many of an organization at a time as its bound, however slow its readers."""

from contextlib import ExitStack

import pytest

from edge.app import SERVICES
from tests.service.releases.test_downloads import manifest, path_of
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.releases import released_shop
from tests.support.servers import Contents


@pytest.fixture(scope="module")
def contents() -> Contents:
    return released_shop


async def test_an_organization_has_so_many_downloads_at_a_time_and_others_have_theirs(edge: Edge) -> None:
    key, other = (api_key(edge.settings, "institutional") for _ in range(2))
    find = "SELECT organization_id::text FROM api_keys WHERE key_id = $1"
    [[organization]] = execute(edge.settings, find, key[10:20])
    [file, *_] = (await manifest(edge, key))["files"]
    path, signed = path_of(file["url"]), path_of(file["signed_url"])
    limit = edge.runner.app[SERVICES].open_downloads._limit
    for _ in range(2 * limit.most):  # each gives its place back at its end
        assert (await edge.get(path, key=key)).status == 200
    with ExitStack() as others:
        for _ in range(limit.most):
            others.enter_context(limit.hold(organization))
        for refused in (await edge.get(path, key=key), await edge.get(signed, anonymous=False)):
            assert (refused.status, refused.head["Retry-After"]) == (429, "5")
            assert refused.json["detail"].startswith("64 downloads of your organization are under way.")
        assert (await edge.get(path, key=other)).status == 200
    assert (await edge.get(path, key=key)).status == 200
    assert not limit.is_reached_in_all and not limit._under_way
