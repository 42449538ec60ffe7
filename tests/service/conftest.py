"""An S3 service that all tests share, each of which finds its bucket empty; the command line."""

from collections.abc import Iterator

import pytest

from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.command import Run, runner
from tests.support.s3 import BUCKET, client, s3_server


@pytest.fixture(scope="session")
def _s3_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with s3_server(tmp_path_factory.mktemp("s3")) as address:
        yield address


@pytest.fixture
def s3(_s3_service: str) -> str:
    """The service's address."""
    everything = client(_s3_service)
    for found in everything.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        everything.delete_object(Bucket=BUCKET, Key=found["Key"])
    return _s3_service


@pytest.fixture
def run(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command on the test's database."""
    return runner(settings, capsys)


@pytest.fixture
def key(settings: Settings) -> str:
    """A key of an organization with the plan Brand."""
    return api_key(settings)


@pytest.fixture
def shared_key(shared_edge: Edge) -> str:
    """A key of another organization with the plan Brand, for a test of the edge that its module shares."""
    return api_key(shared_edge.settings)
