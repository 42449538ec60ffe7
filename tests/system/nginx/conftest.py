"""nginx with the project's own nginx.conf, a stub behind it; nothing else of the house."""

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from deploy.local.paths import PROJECT
from tests.system.nginx.front import Front

MakeFront = Callable[..., Awaitable[Front]]


@pytest.fixture
async def make_front(tmp_path: Path) -> AsyncIterator[MakeFront]:
    """Start fronts with settings of their own."""
    fronts: list[Front] = []
    # People keep clones in folders with names like this one.
    folder = tmp_path / "my clone; {one} of #3 & naïve"
    folder.mkdir()
    (folder / "beside").symlink_to(PROJECT / "deploy" / "nginx")
    beside = {
        "PROBLEMS_JS": folder / "beside" / "problems.js",
        "PROBLEM_PAGES": folder / "beside" / "problem-pages.conf",
        "GUARDS": folder / "beside" / "guards.conf",
        "FORWARDED": folder / "beside" / "forwarded.conf",
        "SIGNED": folder / "beside" / "signed.conf",
    }
    # A unix socket's path may be 107 bytes long; pytest's folders can be longer.
    with tempfile.TemporaryDirectory(prefix="front-") as sockets:

        async def make(conf: Callable[[str], str] | None = None, **values: str) -> Front:
            front = Front(folder, Path(sockets), **beside, **values)
            fronts.append(front)
            await front.start(conf(front.conf()) if conf else None)
            return front

        yield make
        for front in fronts:
            await front.stop()


@pytest.fixture
async def front(make_front: MakeFront) -> Front:
    """A front whose time limits a busy machine does not reach."""
    return await make_front()


@pytest.fixture
async def hasty_front(make_front: MakeFront) -> Front:
    """A front with short time limits, which are what is tested."""
    short = dict.fromkeys(("HEADER_TIMEOUT", "BODY_TIMEOUT", "UPSTREAM_TIMEOUT", "FREE_READ_TIMEOUT"), "1s")
    return await make_front(**short, RETRY_TIMEOUT="10s")
