"""What people do in the dashboard, in a real browser, on the whole stack."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor, new_key, until, used_today

pytestmark = pytest.mark.xdist_group("browser")


def _overview_warns(member: Visitor, level: str) -> bool:
    """Open the overview and return whether it warns: each edge learns of a plan in its own time."""
    member.go("/dashboard")
    return member.page.locator(f"[data-quota='{level}']").count() == 1


def test_the_overview_warns_at_80_and_at_100_per_cent_of_the_day(member: Visitor) -> None:
    while (used := used_today(member)) < 4:  # below, no whole number is 80 per cent and not all
        member.go("/dashboard/explorer?q=tea")
    before = next(p for p in json.loads(member.stack.ctl("plans", "list", "--json")) if p["name"] == "brand")
    try:
        for limit, level in ((used * 5 // 4, "80"), (used, "100")):
            member.stack.ctl("plans", "set", "brand", "--daily-units", str(limit))
            until(lambda level=level: _overview_warns(member, level), 60)
            expect(member.page.locator(f"[data-quota='{level}']")).to_contain_text("You have used")
            member.shoot(f"overview-quota-{level}")
            member.check_accessibility()
    finally:
        member.stack.ctl("plans", "set", "brand", "--daily-units", str(before["daily_units"]))
    until(lambda: "data-quota" not in page_text(member, "/dashboard"), 60)


def page_text(visitor: Visitor, path: str) -> str:
    """The text of a page, asked for beside the one that is open."""
    return visitor.context.request.get(visitor.origin + path).text()


def test_the_audit_log_is_narrowed_by_its_address(member: Visitor) -> None:
    new_key(member)
    member.go("/dashboard/audit")
    member.page.get_by_label("Action", exact=True).select_option("organization.created")
    member.page.get_by_label("Person or key").select_option("Ada Lovelace")
    member.page.get_by_role("button", name="Show", exact=True).click()
    assert "act=organization.created" in member.page.url
    expect(member.page.get_by_role("row")).to_have_count(2)
    member.page.reload()
    expect(member.page.get_by_role("row", name=re.compile("Organization created"))).to_have_count(1)
    member.shoot("audit-filtered")
    member.check_accessibility()
    member.page.get_by_label("Day (UTC)").fill("2020-01-01")
    member.page.get_by_role("button", name="Show", exact=True).click()
    expect(member.page.get_by_text("No entries match these filters")).to_be_visible()
    member.page.get_by_role("link", name="Show all").click()
    expect(member.page).to_have_url(f"{member.origin}/dashboard/audit")


def test_a_long_name_of_an_organization_breaks_no_page(visitor: Visitor) -> None:
    visitor.sign_in("grace")
    visitor.go("/dashboard/organizations/new")
    visitor.page.get_by_label("Name").fill("Handelsgesellschaft" * 10)
    visitor.page.get_by_role("button", name="Create organization").click()
    expect(visitor.page.get_by_role("heading", name="API key")).to_be_visible()
    visitor.go("/dashboard")
    visitor.shoot("long-name-wide")
    visitor.check_width()
    visitor.hold_dark_phone()
    visitor.shoot("long-name-dark-phone")
    visitor.check_width()
    visitor.check_accessibility()


def test_without_the_plan_for_bulk_data_there_is_the_schema_but_no_file(member: Visitor) -> None:
    member.go("/dashboard/datasets/items")
    expect(member.page.get_by_role("rowheader", name="survivor_iid")).to_be_visible()
    assert member.page.get_by_role("link", name=re.compile(r"\.parquet$")).count() == 0
    member.go("/dashboard/exports/new")
    expect(member.page.locator("main .notice")).to_contain_text("does not include")
    expect(member.page.get_by_role("button", name="Create export")).to_have_count(0)
    member.page.locator("form.stack").evaluate("form => form.requestSubmit()")
    expect(member.page.locator("main")).to_contain_text("does not include")
    member.refused(403)


def test_a_name_with_markup_stays_text(member: Visitor) -> None:
    member.go("/dashboard/audit")
    assert member.page.locator("main script").count() == 0
    expect(member.page.locator("header .organization, header select")).to_contain_text("Acme")


def test_by_keyboard_alone(member: Visitor) -> None:
    member.go("/dashboard")
    member.page.keyboard.press("Tab")
    assert member.page.evaluate("document.activeElement.className") == "skip"
    for _ in range(30):
        member.page.keyboard.press("Tab")
        if member.page.evaluate("document.activeElement.textContent") == "Explore":
            break
    member.page.keyboard.press("Enter")
    member.page.wait_for_url("**/dashboard/explorer")
    for _ in range(30):
        member.page.keyboard.press("Tab")
        if member.page.evaluate("document.activeElement.id") == "q":
            break
    member.page.keyboard.type("milk")
    member.page.keyboard.press("Enter")
    expect(member.page.locator(".lines a").first).to_be_visible()


def test_requests_are_filtered_and_their_status_is_in_sight_on_a_phone(member: Visitor) -> None:
    key = new_key(member)
    assert member.api("/index/lookup/IID-NONE", key) == 404
    until(lambda: "iid-not-found" in page_text(member, "/dashboard/requests"))
    member.go("/dashboard/requests")
    member.page.get_by_label("Status").select_option("404")
    member.page.get_by_role("button", name="Filter").click()
    row = member.page.locator("table.requests tbody tr").first
    expect(row).to_contain_text("/v1/index/lookup/IID-NONE")
    problem = row.get_by_role("link", name="iid-not-found")
    expect(problem).to_be_visible()
    assert member.context.request.get(f"{member.origin}{problem.get_attribute('href')}").status == 200
    expect(row.get_by_role("button", name="Copy")).to_be_visible()
    member.shoot("requests-filtered")
    member.check_accessibility()
    member.page.set_viewport_size({"width": 390, "height": 844})
    status = row.locator("td").nth(1).bounding_box()
    assert status is not None
    assert status["x"] + status["width"] <= 374
    member.check_width()
    member.shoot("phone-requests")
