"""Searching items and opening their records, in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor, until, used_today

pytestmark = pytest.mark.xdist_group("browser")


def test_typing_suggests_for_nothing_and_enter_searches_in_the_address(member: Visitor) -> None:
    before = used_today(member)
    member.go("/dashboard/explorer")
    member.page.keyboard.press("/")
    member.page.keyboard.type("soy mil", delay=30)
    expect(member.page.locator(".suggestions a").first).to_be_visible()
    member.shoot("explorer-suggestions")
    member.check_accessibility()
    assert used_today(member) == before
    member.go("/dashboard/explorer")
    member.page.get_by_label("Search items").fill("milk")
    member.page.keyboard.press("Enter")
    member.page.wait_for_url("**/dashboard/explorer?q=milk")
    first = member.page.locator(".lines a").first.inner_text()
    member.shoot("explorer-hits")
    member.page.get_by_role("link", name="Next page").click()
    expect(member.page.locator(".lines a").first).not_to_have_text(first)
    member.page.go_back()
    expect(member.page.locator(".lines a").first).to_have_text(first)
    expect(member.page.get_by_label("Search items")).to_have_value("milk")
    assert used_today(member) == before + 3


def test_a_search_that_fails_says_so_instead_of_older_results(member: Visitor) -> None:
    member.go("/dashboard/explorer")
    field = member.page.get_by_label("Search items")
    field.press_sequentially("tea", delay=30)
    expect(member.page.locator(".suggestions a").first).to_be_visible()
    member.page.route("**/dashboard/explorer/suggestions*", lambda route: route.abort())
    field.press_sequentially(" soy", delay=30)
    expect(member.page.locator("#suggestions")).to_contain_text("cannot be reached")
    assert member.page.locator(".suggestions").count() == 0
    member.page.unroute("**/dashboard/explorer/suggestions*")
    member.faults.clear()


def test_an_ended_session_leads_from_a_part_of_a_page_to_signing_in_and_back(visitor: Visitor) -> None:
    visitor.sign_in()
    visitor.go("/dashboard/explorer?q=tea")
    cookies = [cookie for cookie in visitor.context.cookies() if cookie["name"] != "itemindex"]
    visitor.context.clear_cookies()
    visitor.context.add_cookies(cookies)  # the provider's own session stays
    visitor.page.get_by_label("Search items").press_sequentially("s", delay=30)
    visitor.page.wait_for_url("**/dashboard/explorer?q=tea")
    expect(visitor.page.locator(".lines a").first).to_be_visible()


def show_history(member: Visitor) -> None:
    """Ask for a record's history as often as a busy database refuses it."""

    def shown() -> bool:
        member.page.reload()
        member.page.get_by_role("link", name="Show price history and footprint").click()
        member.page.locator("#history h2, #history [role=alert]").first.wait_for()
        return member.page.get_by_role("heading", name="Footprint in detail").count() == 1

    until(shown, 60)
    member.faults[:] = [fault for fault in member.faults if "503" not in fault]


def test_open_a_record_and_its_history_on_demand(member: Visitor) -> None:
    member.go("/dashboard/explorer?q=soy+milk")
    member.page.locator(".lines a").first.click()
    expect(member.page.get_by_role("heading", level=1)).to_be_visible()
    assert "/index/lookup/IID-" in (member.page.locator("#curl").text_content() or "")
    assert member.page.locator("#history canvas").count() == 0
    show_history(member)
    expect(member.page.locator("#history canvas").first).to_be_visible()
    assert member.page.locator("h1").count() == 1, "a part of the page, and no page within the page"
    member.shoot("record")
    member.check_accessibility()
