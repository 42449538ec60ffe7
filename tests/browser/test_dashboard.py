"""What people do in the dashboard, in a real browser, on the whole stack."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor, enter_organization, new_key, until

pytestmark = pytest.mark.xdist_group("browser")
PAGES = {
    "overview": "", "key": "/key", "usage": "/usage", "members": "/members", "audit": "/audit", "token": "/token",
    "explorer": "/explorer", "reports": "/reports", "new-organization": "/organizations/new", "jobs": "/jobs",
    "datasets": "/datasets", "exports": "/exports", "export-new": "/exports/new",
}  # fmt: skip


def test_sign_in_and_get_a_free_token_at_once(visitor: Visitor) -> None:
    visitor.sign_in("grace")
    visitor.shoot("welcome")
    visitor.check_accessibility()
    visitor.page.get_by_role("button", name="Get a public token").click()
    token = visitor.page.locator("[data-secret]").inner_text()
    assert re.fullmatch(r"iixp_free_[0-9A-Za-z]{48}", token)
    visitor.shoot("token-new")
    visitor.check_accessibility()
    answer = visitor.context.request.get(f"{visitor.origin}/v1/quota", headers={"X-Service-Public-Token": token})
    assert answer.json()["plan"] == "free"
    visitor.go("/dashboard/token")
    assert token[20:52] not in visitor.page.content()


def test_issue_a_key_use_it_and_see_the_call_in_the_plot(visitor: Visitor) -> None:
    enter_organization(visitor)
    key = new_key(visitor)
    visitor.shoot("key-new")
    visitor.check_accessibility()
    assert visitor.api("/index/brands", key) == 200

    def told() -> bool:
        visitor.go("/dashboard/usage")
        return visitor.page.get_by_role("rowheader", name="brands").count() == 1

    until(told)
    visitor.go("/dashboard")
    figures = visitor.page.locator(".canvas").get_attribute("data-plot") or ""
    assert re.search(r'"served", "values": \[(0, )*[1-9]', figures)
    assert visitor.page.locator(".canvas canvas").count() == 1
    assert int(visitor.page.locator("[data-figure=used]").inner_text()) >= 1


def test_rotate_with_a_grace_and_revoke(visitor: Visitor) -> None:
    enter_organization(visitor)
    old = new_key(visitor)
    visitor.page.get_by_label("one hour").check()
    visitor.page.get_by_role("button", name="Rotate the key").click()
    new = visitor.page.locator("[data-secret]").inner_text()
    assert [visitor.api("/quota", key) for key in (old, new)] == [200, 200]
    visitor.page.get_by_label("Yes, stop all calls").check()
    visitor.page.get_by_role("button", name="Revoke").click()
    expect(visitor.page.get_by_text("has no key")).to_be_visible()
    until(lambda: {visitor.api("/quota", key) for key in (old, new)} == {401}, 2)


def test_search_as_you_type_and_open_a_record(visitor: Visitor) -> None:
    enter_organization(visitor)
    visitor.go("/dashboard/explorer")
    visitor.page.get_by_label("Search items").press_sequentially("soy mil", delay=30)
    first = visitor.page.locator(".hits a").first
    expect(first).to_be_visible()
    visitor.shoot("explorer-hits")
    visitor.check_accessibility()
    first.click()
    expect(visitor.page.get_by_role("heading", level=1)).to_be_visible()
    assert "/index/lookup/IID-" in visitor.page.locator("#curl").inner_text()
    expect(visitor.page.get_by_role("heading", name="Footprint")).to_be_visible()
    expect(visitor.page.locator("#history canvas").first).to_be_visible()
    visitor.shoot("record")
    visitor.check_accessibility()


def test_a_report_from_its_price_to_its_pictures(visitor: Visitor) -> None:
    enter_organization(visitor)
    visitor.go("/dashboard/reports?kind=cohorts")
    visitor.page.get_by_role("textbox", name="Brands").fill("no-such-brand")
    expect(visitor.page.locator("#price .notice")).to_contain_text("brand")
    visitor.page.get_by_role("textbox", name="Brands").fill("vitasoy")
    visitor.page.get_by_role("combobox", name="Periods").select_option("week")
    expect(visitor.page.locator("[data-cost]")).to_have_text(re.compile("10|1"))
    visitor.page.get_by_text("The same by curl").click()
    assert "/index/cohorts?" in visitor.page.locator("#price pre").inner_text()
    visitor.shoot("reports-priced")
    visitor.check_accessibility()
    visitor.page.get_by_role("button", name="Run it").click()
    visitor.page.wait_for_url("**/dashboard/jobs/*")
    expect(visitor.page.locator("#job .state")).to_have_text("succeeded", timeout=30_000)
    expect(visitor.page.locator(".canvas canvas").first).to_be_visible()
    expect(visitor.page.get_by_text("Share by channel")).to_be_visible()
    visitor.shoot("job-cohort")
    visitor.check_accessibility()
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("link", name="Download").click()
    assert json.loads(download.value.path().read_bytes())["meta"]["rows"] > 0
    visitor.go("/dashboard/jobs")
    expect(visitor.page.get_by_role("link", name="Cohort").first).to_be_visible()


def test_a_category_as_a_page(visitor: Visitor) -> None:
    enter_organization(visitor)
    visitor.go("/dashboard/reports?kind=category-insights")
    visitor.page.get_by_role("button", name="Run it").click()
    visitor.page.wait_for_url("**/dashboard/jobs/*")
    expect(visitor.page.locator("#job .state")).to_have_text("succeeded", timeout=30_000)
    expect(visitor.page.get_by_role("heading", name="Rows")).to_be_visible()
    visitor.shoot("job-category")
    visitor.check_accessibility()


def test_a_report_that_the_plan_does_not_include_says_so_before_anything_runs(visitor: Visitor) -> None:
    enter_organization(visitor)
    visitor.go("/dashboard/reports?kind=sustainability-rollup")
    expect(visitor.page.locator("#price .notice")).to_contain_text("does not include")


def test_invite_and_join(visitor: Visitor) -> None:
    enter_organization(visitor, anew=True)
    visitor.go("/dashboard/members")
    visitor.page.get_by_label("E-mail address").fill("grace@example.org")
    visitor.page.get_by_role("button", name="Make an invitation").click()
    link = visitor.page.locator("#link").inner_text()
    visitor.shoot("members-invited")
    visitor.page.get_by_role("button", name="Sign out").click()
    expect(visitor.page.get_by_text("You are signed out")).to_be_visible()
    visitor.context.clear_cookies()
    visitor.sign_in("grace")
    visitor.page.goto(link)
    visitor.page.get_by_role("button", name="Join the organization").click()
    expect(visitor.page.locator("header")).to_contain_text("Acme")
    visitor.go("/dashboard/members")
    expect(visitor.page.get_by_role("rowheader", name="Grace")).to_be_visible()
    assert "/dashboard/audit" in visitor.page.content()


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_accessible_in_light_and_dark_wide_and_narrow(
    visitor: Visitor, dark_phone: Visitor, name: str
) -> None:
    for who, form in ((visitor, "wide"), (dark_phone, "dark-phone")):
        enter_organization(who)
        who.go(f"/dashboard{PAGES[name]}")
        expect(who.page.get_by_role("heading", level=1)).to_be_visible()
        who.shoot(f"{name}-{form}")
        who.check_accessibility()
        wide = who.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{name} scrolls sideways on a {form}"


def test_a_name_with_markup_stays_text(visitor: Visitor) -> None:
    enter_organization(visitor)
    visitor.go("/dashboard/audit")
    assert visitor.page.locator("main script").count() == 0
    expect(visitor.page.locator("header .organization, header select")).to_contain_text("Acme")


def test_by_keyboard_alone(visitor: Visitor) -> None:
    enter_organization(visitor)
    visitor.go("/dashboard")
    visitor.page.keyboard.press("Tab")
    assert visitor.page.evaluate("document.activeElement.className") == "skip"
    for _ in range(30):
        visitor.page.keyboard.press("Tab")
        if visitor.page.evaluate("document.activeElement.textContent") == "Explorer":
            break
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_url("**/dashboard/explorer")
    for _ in range(30):
        visitor.page.keyboard.press("Tab")
        if visitor.page.evaluate("document.activeElement.id") == "q":
            break
    visitor.page.keyboard.type("milk")
    visitor.page.keyboard.press("Enter")
    expect(visitor.page.locator(".hits a").first).to_be_visible()


def test_the_docs_page_works_in_a_browser(visitor: Visitor) -> None:
    visitor.go("/v1/docs")
    expect(visitor.page.get_by_role("heading", level=1)).to_be_visible()
    visitor.shoot("docs")
    visitor.check_accessibility()
