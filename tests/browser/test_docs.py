"""What a newcomer reads, in a real browser: the documentation, the reference, the guides, wrong addresses."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor

pytestmark = pytest.mark.xdist_group("browser")


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


def test_the_reference_is_accessible_and_its_bar_is_reachable_on_a_phone(reader: Visitor) -> None:
    reader.go("/v1/docs/reference")
    expect(reader.page.get_by_role("heading", name="Item Index", exact=True).first).to_be_visible()
    expect(reader.page.get_by_role("button", name="Copy").first).to_be_attached()
    expect(reader.page.locator("button[aria-selected]:not([role])")).to_have_count(0)
    expect(reader.page.locator("a.endpoint:not([href])")).to_have_count(0)
    reader.check_every_form("reference")
    reader.hold_dark_phone()
    for link in reader.page.get_by_label("Pages").get_by_role("link").all():
        box = link.bounding_box()
        assert box is not None
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360, "no link is beyond the edge"
    bar, content = reader.page.locator(".site-bar").bounding_box(), reader.page.locator("#reference").bounding_box()
    assert bar is not None
    assert content is not None
    assert content["y"] >= bar["y"] + bar["height"] - 1


@pytest.mark.parametrize("path", ["/nonsense", "/docs", "/v1/nonsense", "/dashboard/nonsense"])
def test_a_wrong_address_leads_back(reader: Visitor, path: str) -> None:
    reader.go(path)
    reader.refused(404)
    expect(reader.page.get_by_role("heading", name="Not Found")).to_be_visible()
    reader.check_accessibility()
    reader.page.get_by_role("link", name="Documentation").click()
    expect(reader.page).to_have_url(f"{reader.origin}/v1/docs")
