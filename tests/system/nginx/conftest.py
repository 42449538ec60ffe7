"""nginx with the project's own nginx.conf, a stub behind it; nothing else of the house."""

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.system.nginx.front import Front

MakeFront = Callable[..., Awaitable[Front]]


@pytest.fixture
async def make_front(tmp_path: Path) -> AsyncIterator[MakeFront]:
    """Start fronts with settings of their own."""
    fronts: list[Front] = []
    # A unix socket's path may be 107 bytes long; pytest's folders can be longer.
    with tempfile.TemporaryDirectory(prefix="front-") as sockets:

        async def make(conf: Callable[[str], str] | None = None, **values: str) -> Front:
            front = Front(tmp_path, Path(sockets), **values)
            fronts.append(front)
            await front.start(conf(front.conf()) if conf else None)
            return front

        yield make
        for front in fronts:
            await front.stop()


@pytest.fixture
async def front(make_front: MakeFront) -> Front:
    """A front with short time limits."""
    return await make_front()
