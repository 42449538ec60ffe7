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


def test_the_commands_of_a_page_are_copied_without_their_prompts(reader: Visitor) -> None:
    reader.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reader.go("/v1/docs/guides/tour")
    transcript = reader.page.locator(".copied", has_text="ixc --url").first
    transcript.get_by_role("button", name="Copy").click()
    expect(transcript.get_by_role("button")).to_have_text("Copied")
    lines = str(reader.page.evaluate("navigator.clipboard.readText()")).splitlines()
    assert any(line.startswith("ITEMINDEX_KEY=") for line in lines) and not any(line.startswith("$") for line in lines)


def test_the_documentation_is_searched_from_the_keyboard_and_a_hit_leads_to_its_heading(reader: Visitor) -> None:
    page = reader.page
    reader.go("/v1/docs/guides/tour")
    page.keyboard.press("Control+k")
    page.wait_for_url(f"{reader.origin}/v1/docs/search")
    page.keyboard.press("/")
    page.keyboard.type("webhook signature")
    page.keyboard.press("Enter")
    page.get_by_role("list").get_by_role("link", name="Webhooks").first.click()
    expect(page).to_have_url(f"{reader.origin}/v1/docs/guides/events#webhooks")
    expect(page.get_by_role("heading", name="Webhooks", exact=True)).to_be_in_viewport()


def test_a_problem_is_found_by_its_code_without_scripts(reader: Visitor) -> None:
    assert reader.context.browser is not None
    plain = reader.context.browser.new_context(java_script_enabled=False)
    try:
        page = plain.new_page()
        page.goto(f"{reader.origin}/v1/errors")
        page.get_by_label("Search the documentation").fill("rate-limited")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("link", name="429 rate-limited").click()
        expect(page).to_have_url(f"{reader.origin}/v1/errors/rate-limited")
        expect(page.get_by_role("heading", level=1)).to_have_text("rate-limited")
    finally:
        plain.close()


def test_the_reference_begins_as_a_list_that_is_searched_and_opens_a_call(reader: Visitor) -> None:
    reader.go("/v1/docs/reference")
    expect(reader.page.get_by_role("heading", level=1)).to_be_visible()
    reader.check_every_form("reference")
    assert reader.page.evaluate("typeof Scalar") == "undefined", "the viewer is loaded only when it is wanted"
    reader.page.get_by_label("Find a call").fill("SEARCH items")
    expect(reader.page.locator("main li:visible")).to_have_count(1)
    reader.page.get_by_role("link", name="GET /v1/index/search").click()
    expect(reader.page.get_by_role("heading", name="Search items")).to_be_visible()
    reader.shoot("reference-operation")
    reader.page.get_by_label("Pages").get_by_role("link", name="Reference").click()
    expect(reader.page.get_by_label("Find a call")).to_be_visible()


def test_a_call_of_the_reference_is_accessible_and_its_bar_is_reachable_on_a_phone(reader: Visitor) -> None:
    reader.go("/v1/docs/reference#tag/index/GET/v1/index/lookup/{iid}")
    expect(reader.page.get_by_text("/v1/index/lookup/{iid}").first).to_be_visible()
    expect(reader.page.get_by_role("button", name="Copy").first).to_be_attached()
    expect(reader.page.locator("button[aria-selected]:not([role])")).to_have_count(0)
    expect(reader.page.locator("a.endpoint:not([href])")).to_have_count(0)
    call = "[id$='/GET/v1/index/lookup/{iid}']"
    expect(reader.page.locator(call)).to_be_visible()
    reader.check_accessibility()
    reader.hold_dark_phone()
    reader.check_accessibility()
    reader.check_width()
    reader.shoot("reference-call-dark-phone")
    for link in reader.page.get_by_label("Pages").get_by_role("link").all():
        box = link.bounding_box()
        assert box is not None
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360, "no link is beyond the edge"
    header = reader.page.locator(".site-bar").bounding_box()
    assert header is not None
    assert header["y"] >= 0, "the bar stays in sight"


@pytest.mark.parametrize("path", ["/nonsense", "/docs", "/v1/nonsense"])
def test_a_wrong_address_leads_back(reader: Visitor, path: str) -> None:
    reader.go(path)
    reader.refused(404)
    expect(reader.page.get_by_role("heading", name="Not Found")).to_be_visible()
    reader.check_accessibility()
    reader.page.get_by_role("link", name="Documentation").click()
    expect(reader.page).to_have_url(f"{reader.origin}/v1/docs")
