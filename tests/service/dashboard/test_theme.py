"""The switch of the theme: by a form, kept in a cookie without an id, and never a way to another host."""

import pytest

from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_billing import contents

__all__ = ["contents"]
_DARK = 'href="/static/dark.css" media='


async def test_a_theme_is_chosen_kept_and_left_to_the_system_again(browser: Browser) -> None:
    await browser.ask("GET", "/")
    assert f'{_DARK}"(prefers-color-scheme: dark)"' in browser.text
    assert await browser.ask("POST", "/dashboard/theme", {"theme": "dark", "next": "/search?q=soy"}) == 303
    assert browser.last.headers["Location"] == "/search?q=soy" and browser.cookies == {"theme": "dark"}
    await browser.ask("GET", "/")
    assert f'{_DARK}"all"' in browser.text and 'name="color-scheme" content="dark"' in browser.text
    assert await browser.ask("POST", "/dashboard/theme", {"theme": "light", "next": "/"}) == 303
    await browser.ask("GET", "/")
    assert "dark.css" not in browser.text
    assert await browser.ask("POST", "/dashboard/theme", {"theme": "", "next": "/"}) == 303
    assert browser.cookies == {}
    await browser.ask("GET", "/")
    assert f'{_DARK}"(prefers-color-scheme: dark)"' in browser.text


@pytest.mark.parametrize(
    "page", ["//evil.example", "/\\evil.example", "https://evil.example", "", "/a\r\nSet-Cookie: x=y"]
)
async def test_the_form_leads_to_no_other_host(browser: Browser, page: str) -> None:
    assert await browser.ask("POST", "/dashboard/theme", {"theme": "dark", "next": page}) == 303
    assert browser.last.headers["Location"] == "/dashboard"
    browser.cookies["theme"] = '"><script>'
    await browser.ask("GET", "/")
    assert "<script>" not in browser.text
