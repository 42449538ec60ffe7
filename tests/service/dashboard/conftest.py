"""A browser before an edge whose people sign in with a provider on loopback."""

import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser, running_browser
from tests.support.servers import Contents, Servers

_NUMBERS = itertools.count(1)


@pytest.fixture
async def browser(settings: Settings, tmp_path: Path) -> AsyncIterator[Browser]:
    """A browser in front of an edge whose provider is on loopback."""
    async with running_browser(settings, tmp_path) as browser:
        yield browser


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def _browser_of_module(
    servers: Servers, contents: Contents | None, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Browser]:
    with servers.fresh(contents=contents) as settings:
        async with running_browser(settings, tmp_path_factory.mktemp("edge")) as browser:
            yield browser


@pytest.fixture
def visitor(_browser_of_module: Browser) -> Browser:
    """A browser without cookies in front of the module's edge, whose people are those of this test alone."""
    number = next(_NUMBERS)
    _browser_of_module.issuer.people = f"-{number}"
    return Browser(
        _browser_of_module.edge, _browser_of_module.issuer, address=f"100.64.{1 + number // 250}.{number % 250}"
    )


@pytest.fixture
async def operator(browser: Browser) -> Browser:
    """Ada, signed in: an operator where the settings of a module say so."""
    await browser.sign_in()
    return browser
