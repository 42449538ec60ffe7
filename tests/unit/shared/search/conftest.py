"""A small catalogue in a real index."""

from pathlib import Path

import pytest

from shared.search.directory import publish
from shared.search.index import SearchIndex
from shared.search.layout import Manifest
from tests.support.search_catalogue import catalogue, opened
from workers.search.build import build, update


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    """The catalogue's index."""
    return opened(catalogue(), tmp_path_factory.mktemp("search"))


@pytest.fixture(scope="module")
def with_deletions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Manifest]:
    """The folder of an index that a worker built, with deletions."""
    folder, changed = tmp_path_factory.mktemp("worker"), [catalogue()[3]]
    segments = update(build(catalogue(), folder, 1).segments, changed, [changed[0].item.iid, "IID-D0006"], folder)
    return folder, publish(folder, 2, "", segments)
