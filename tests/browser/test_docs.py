"""What a newcomer reads, in a real browser: the documentation, the reference, the guides, wrong addresses."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor

pytestmark = pytest.mark.xdist_group("browser")
PAGES = {
    "docs": "/v1/docs",
    "errors": "/v1/errors",
    "guides": "/v1/docs/guides",
    "guide-bulk-data": "/v1/docs/guides/bulk-data",
    "guide-operate": "/v1/docs/guides/operate",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_on_every_screen(visitor: Visitor, name: str) -> None:
    visitor.go(PAGES[name])
    visitor.shoot(name)
    visitor.check_accessibility()
    visitor.check_width()
    visitor.hold_dark_phone()
    visitor.shoot(f"{name}-phone-dark")
    visitor.check_accessibility()
    visitor.check_width()


def test_the_first_calls_run_from_the_page(visitor: Visitor) -> None:
    visitor.go("/v1/docs")
    expect(visitor.page.get_by_role("button", name="Run it")).to_have_count(3)
    visitor.page.get_by_role("button", name="Run it").last.click()
    expect(visitor.page.locator("output.answer").last).to_contain_text("200 OK")


def test_the_reference_shows_every_call_with_samples_and_calls_no_other_host(visitor: Visitor) -> None:
    visitor.go("/v1/docs/reference")
    expect(visitor.page.get_by_role("heading", name="Item Index", exact=True).first).to_be_visible()
    visitor.page.get_by_text("Search", exact=False).first.wait_for()
    visitor.shoot("reference")
    visitor.page.goto(f"{visitor.origin}/v1/docs/reference#tag/index/GET/v1/index/search")
    expect(visitor.page.get_by_text("/v1/index/search").first).to_be_visible()
    visitor.shoot("reference-operation")
    visitor.hold_dark_phone()
    visitor.check_width()
    visitor.shoot("reference-phone-dark")


@pytest.mark.parametrize("path", ["/nonsense", "/docs", "/v1/nonsense", "/dashboard/nonsense"])
def test_a_wrong_address_leads_back(visitor: Visitor, path: str) -> None:
    visitor.go(path)
    visitor.refused(404)
    expect(visitor.page.get_by_role("heading", name="Not Found")).to_be_visible()
    visitor.check_accessibility()
    visitor.page.get_by_role("link", name="Documentation").click()
    expect(visitor.page).to_have_url(f"{visitor.origin}/v1/docs")
