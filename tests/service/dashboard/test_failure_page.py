"""A page that fails on the service's side says in plain words what happened and what to quote."""

import re

import pytest

from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_billing import contents, visit

__all__ = ["contents"]


async def test_an_unexpected_failure_says_which_number_to_tell_support(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*given: object) -> None:
        raise RuntimeError("a fault of ours")

    await browser.sign_in()
    monkeypatch.setattr("edge.dashboard.catalogue.Catalogue.brand", broken)
    assert await browser.ask("GET", "/dashboard/brands/vita", head={"Accept": "text/html"}) == 500
    assert re.search(r"tell support this number: <code>urn:uuid:[0-9a-f-]{36}</code>", browser.text)
    assert "<code>instance</code>" not in browser.text and "`instance`" not in browser.text
    assert await visit(browser, "/dashboard/categories/drinks") == 200
