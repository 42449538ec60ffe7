"""Pages for everybody: counted by network under a limit of their own, for people and for search engines."""

import json
import re
from pathlib import Path
from typing import Any

from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser, running_browser
from tests.service.dashboard.test_billing import MERGED, SOY, contents, used, visit
from tests.support.database import execute

__all__ = ["contents"]


async def test_the_front_page_is_open_and_shows_what_there_is_and_the_plans(visitor: Browser) -> None:
    for _ in range(40):
        assert await visit(visitor, "/") == 200
    assert 'action="/search"' in visitor.text
    assert "Free sign-up" in visitor.text and "On request" in visitor.text
    assert "Whose data this is" in visitor.text
    assert 'href="/dashboard/sign-up">Sign up<' in visitor.text
    assert 'href="/dashboard/sign-up?next=/dashboard/organizations/new">Sign up and request it<' in visitor.text


async def test_where_nobody_can_register_the_front_page_leads_to_the_sign_in(
    settings: Settings, tmp_path: Path
) -> None:
    async with running_browser(settings, tmp_path, oidc_sign_up="none") as browser:
        assert await visit(browser, "/") == 200
        assert "Sign up" not in browser.text and "/sign-up" not in browser.text
        assert 'href="/dashboard">Sign in and request it<' in browser.text


async def test_pages_are_counted_by_network_apart_from_calls(settings: Settings, tmp_path: Path) -> None:
    async with running_browser(settings, tmp_path, public_pages_a_day=3) as browser:
        pages = (f"/items/{SOY}", "/brands", "/search?q=soy")
        assert [await visit(browser, page) for page in pages] == [200, 200, 200]
        assert await visit(browser, "/categories") == 429
        assert "Daily limit of 3 pages reached" in browser.text and "Sign in or sign up" in browser.text
        assert "Retry-After" in browser.last.headers
        assert await used(browser) == 0, "no unit of the API"
        elsewhere = Browser(browser.edge, browser.issuer, address="192.0.2.77")
        assert await visit(elsewhere, "/brands") == 200


async def test_a_page_that_fails_is_not_counted(settings: Settings, tmp_path: Path) -> None:
    async with running_browser(settings, tmp_path, public_pages_a_day=1) as browser:
        assert await visit(browser, "/brands/no-such-brand") == 404
        assert await visit(browser, "/items/nonsense") == 404
        assert await visit(browser, "/search?q=soy&price_min=cheap") == 400
        assert await visit(browser, "/brands") == 200


async def test_the_same_page_sent_again_by_nginx_is_counted_once(settings: Settings, tmp_path: Path) -> None:
    async with running_browser(settings, tmp_path, public_pages_a_day=1) as browser:
        again = {"X-Charge-Id": "a" * 32}
        assert [await browser.ask("GET", "/brands", head=again) for _ in range(3)] == [200] * 3
        assert await visit(browser, "/brands") == 429


async def test_without_public_pages_the_front_page_leads_to_the_documentation(
    settings: Settings, tmp_path: Path
) -> None:
    async with running_browser(settings, tmp_path, public_pages_a_day=0) as browser:
        assert await browser.ask("GET", "/") == 302
        assert browser.last.headers["Location"] == "/v1/docs"
        assert await visit(browser, f"/items/{SOY}") == 404


async def test_an_item_is_a_product_of_schema_org_whatever_its_name(browser: Browser, settings: Settings) -> None:
    hostile = "</script><script>alert(1)</script>"
    execute(settings, "UPDATE items SET name = $1 WHERE iid = $2", hostile, SOY)
    assert await visit(browser, f"/items/{SOY}") == 200
    [text] = re.findall(r'<script type="application/ld\+json">(.*?)</script>', browser.text, re.DOTALL)
    product: dict[str, Any] = json.loads(text)
    assert product["@type"] == "Product" and product["name"] == hostile
    assert product["url"].endswith(f"/items/{SOY}")
    assert product["offers"]["@type"] == "AggregateOffer"
    assert float(product["offers"]["lowPrice"]) <= float(product["offers"]["highPrice"])
    assert "<script>alert" not in browser.text


async def test_search_engines_list_pages_only_where_the_operator_allows_it(settings: Settings, tmp_path: Path) -> None:
    for indexed in (False, True):
        async with running_browser(settings, tmp_path, public_pages_indexed=indexed) as browser:
            await visit(browser, f"/items/{SOY}")
            assert (browser.last.headers.get("X-Robots-Tag") == "noindex") is not indexed
            await visit(browser, "/search?q=soy")
            assert '<meta name="robots" content="noindex">' in browser.text
            await visit(browser, "/robots.txt")
            assert ("Allow: /items" in browser.text) is indexed
            assert "Disallow: /search" in browser.text


async def test_a_merged_item_leads_to_its_survivor(browser: Browser, settings: Settings) -> None:
    execute(settings, "UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", SOY, MERGED)
    assert await visit(browser, f"/items/{MERGED}") == 301
    assert browser.last.headers["Location"] == f"/items/{SOY}"
    assert browser.last.headers["Cache-Control"] == "no-store"


async def test_no_page_for_everybody_names_a_session_or_sets_a_cookie(visitor: Browser) -> None:
    await visitor.sign_in()
    await visit(visitor, f"/items/{SOY}")
    assert "Sign out" not in visitor.text and "Set-Cookie" not in visitor.last.headers
