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
def test_a_page_is_accessible_on_every_screen(reader: Visitor, name: str) -> None:
    reader.go(PAGES[name])
    expect(reader.page.get_by_role("heading", level=1)).to_be_visible()
    reader.shoot(name)
    reader.check_accessibility()
    reader.check_width()
    reader.hold_dark_phone()
    reader.shoot(f"{name}-phone-dark")
    reader.check_accessibility()
    reader.check_width()


def test_the_first_calls_run_from_the_page(reader: Visitor) -> None:
    reader.go("/v1/docs")
    expect(reader.page.get_by_role("button", name="Run it")).to_have_count(3)
    reader.page.get_by_role("button", name="Run it").last.click()
    expect(reader.page.locator("output.answer").last).to_contain_text("200 OK")


def test_the_reference_shows_every_call_with_samples_and_calls_no_other_host(reader: Visitor) -> None:
    reader.go("/v1/docs/reference")
    expect(reader.page.get_by_role("heading", name="Item Index", exact=True).first).to_be_visible()
    reader.page.get_by_text("Search", exact=False).first.wait_for()
    reader.shoot("reference")
    reader.page.goto(f"{reader.origin}/v1/docs/reference#tag/index/GET/v1/index/search")
    expect(reader.page.get_by_text("/v1/index/search").first).to_be_visible()
    reader.shoot("reference-operation")
    reader.hold_dark_phone()
    reader.check_width()
    reader.shoot("reference-phone-dark")


@pytest.mark.parametrize("path", ["/nonsense", "/docs", "/v1/nonsense", "/dashboard/nonsense"])
def test_a_wrong_address_leads_back(reader: Visitor, path: str) -> None:
    reader.go(path)
    reader.refused(404)
    expect(reader.page.get_by_role("heading", name="Not Found")).to_be_visible()
    reader.check_accessibility()
    reader.page.get_by_role("link", name="Documentation").click()
    expect(reader.page).to_have_url(f"{reader.origin}/v1/docs")
