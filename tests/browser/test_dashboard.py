"""What people do in the dashboard, in a real browser, on the whole stack."""

import json
import os
import re
import signal

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor, new_key, until

pytestmark = pytest.mark.xdist_group("browser")
PAGES = {
    "overview": "",
    "key": "/key",
    "usage": "/usage",
    "requests": "/requests",
    "members": "/members",
    "audit": "/audit",
    "token": "/token",
    "explorer": "/explorer",
    "reports": "/reports",
    "new-organization": "/organizations/new",
    "jobs": "/jobs",
    "datasets": "/datasets",
    "exports": "/exports",
    "export-new": "/exports/new",
    "sessions": "/sessions",
    "watches": "/watches",
    "watch-new": "/watches/new?condition=new-low",
    "events": "/events",
    "webhooks": "/webhooks",
}


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


def test_issue_a_key_use_it_and_see_the_call_in_the_plot(member: Visitor) -> None:
    key = new_key(member)
    member.shoot("key-new")
    member.check_accessibility()
    assert member.api("/index/brands", key) == 200

    usage = f"{member.origin}/dashboard/usage"
    until(lambda: ">brands<" in member.context.request.get(usage).text())
    member.go("/dashboard/usage")
    expect(member.page.get_by_role("rowheader", name="brands")).to_have_count(1)
    member.go("/dashboard")
    figures = member.page.locator(".canvas").get_attribute("data-plot") or ""
    assert re.search(r'"served", "values": \[(0, )*[1-9]', figures)
    assert member.page.locator(".canvas canvas").count() == 1
    assert int(member.page.locator("[data-figure=used]").inner_text()) >= 1


def test_rotate_with_a_grace_and_revoke(member: Visitor) -> None:
    member.go("/dashboard/key")
    if member.page.get_by_role("button", name="Revoke").count():  # a key in its grace would leave none for this one
        member.page.get_by_label("Yes, stop all calls").check()
        member.page.get_by_role("button", name="Revoke").click()
    old = new_key(member)
    member.page.get_by_label("one hour").check()
    member.page.get_by_role("button", name="Rotate the key").click()
    new = member.page.locator("[data-secret]").inner_text()
    assert [member.api("/quota", key) for key in (old, new)] == [200, 200]
    member.page.get_by_label("Yes, stop all calls").check()
    member.page.get_by_role("button", name="Revoke").click()
    expect(member.page.get_by_text("has no key")).to_be_visible()
    until(lambda: {member.api("/quota", key) for key in (old, new)} == {401}, 2)


def used_today(visitor: Visitor) -> int:
    """The units that the overview counts today."""
    visitor.go("/dashboard")
    return int(visitor.page.locator("[data-figure=used]").inner_text().replace(",", ""))


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
    first = member.page.locator(".hits a").first.inner_text()
    member.shoot("explorer-hits")
    member.page.get_by_role("link", name="Next page").click()
    expect(member.page.locator(".hits a").first).not_to_have_text(first)
    member.page.go_back()
    expect(member.page.locator(".hits a").first).to_have_text(first)
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
    expect(visitor.page.locator(".hits a").first).to_be_visible()


def show_history(member: Visitor) -> None:
    """Ask for a record's history as often as a busy database refuses it."""

    def shown() -> bool:
        member.page.reload()
        member.page.get_by_role("link", name="Show prices and footprint").click()
        member.page.locator("#history h2, #history [role=alert]").first.wait_for(timeout=30_000)
        return member.page.get_by_role("heading", name="Footprint", exact=True).count() == 1

    until(shown, 60)
    member.faults[:] = [fault for fault in member.faults if "503" not in fault]


def test_open_a_record_and_its_history_on_demand(member: Visitor) -> None:
    member.go("/dashboard/explorer?q=soy+milk")
    member.page.locator(".hits a").first.click()
    expect(member.page.get_by_role("heading", level=1)).to_be_visible()
    assert "/index/lookup/IID-" in member.page.locator("#curl").inner_text()
    assert member.page.locator("#history canvas").count() == 0
    show_history(member)
    expect(member.page.locator("#history canvas").first).to_be_visible()
    assert member.page.locator("h1").count() == 1, "a part of the page, and no page within the page"
    member.shoot("record")
    member.check_accessibility()


def test_a_report_from_its_price_to_its_pictures(member: Visitor) -> None:
    member.go("/dashboard/reports?kind=cohorts")
    member.page.locator("#brand").fill("no-such-brand")
    expect(member.page.locator("#fault-brand")).to_contain_text("names no brand")
    member.page.get_by_role("button", name="Run it").click()
    expect(member.page.locator("#fault-brand")).to_contain_text("names no brand")
    expect(member.page.locator("#brand")).to_have_value("no-such-brand")
    member.refused(400)
    member.page.locator("#brand").fill("vitas")
    expect(member.page.locator("#options-brand option[value=vitasoy]")).to_have_count(1)
    member.page.locator("#brand").fill("vitasoy")
    expect(member.page.locator("#fault-brand")).to_be_empty()
    expect(member.page.locator("#brand")).not_to_have_attribute("aria-invalid", "true")
    member.page.get_by_role("combobox", name="Periods").select_option("week")
    expect(member.page.locator("[data-cost]")).to_have_text(re.compile("10|1"))
    member.page.get_by_text("The same by curl").click()
    assert "/index/cohorts?" in member.page.locator("#price pre").inner_text()
    member.shoot("reports-priced")
    member.check_accessibility()
    member.page.get_by_role("button", name="Run it").click()
    member.page.wait_for_url("**/dashboard/jobs/*")
    expect(member.page.locator("#job .state")).to_have_text("succeeded", timeout=30_000)
    expect(member.page.locator(".canvas canvas").first).to_be_visible()
    expect(member.page.get_by_text("Share by channel")).to_be_visible()
    member.shoot("job-cohort")
    member.check_accessibility()
    with member.page.expect_download() as download:
        member.page.get_by_role("link", name="Download").click()
    assert json.loads(download.value.path().read_bytes())["meta"]["rows"] > 0
    member.go("/dashboard/jobs")
    expect(member.page.get_by_role("row", name=re.compile("Cohort.*vitasoy · by week"))).to_have_count(1)


def test_a_report_shows_its_own_fields_and_refuses_another_reports(member: Visitor) -> None:
    member.go("/dashboard/reports?kind=brand-insights&brand=vitasoy")
    assert member.page.locator("#brand").count() == 0
    expect(member.page.locator("#slug")).to_be_visible()
    expect(member.page.locator("main .notice").first).to_contain_text("no field brand")
    member.page.get_by_role("link", name="Price index").click()
    expect(member.page.locator("#method")).to_be_visible()
    assert member.page.locator("#slug").count() == 0


def test_what_was_typed_is_kept_when_another_report_is_chosen(member: Visitor) -> None:
    member.go("/dashboard/reports?kind=cohorts")
    member.page.locator("#brand").fill("vitasoy")
    member.page.locator("#from").fill("2026-07-01")
    member.page.locator("#outliers").select_option("include")
    member.page.get_by_role("link", name="Price index").click()
    expect(member.page.locator("#method")).to_be_visible()
    expect(member.page.locator("#brand")).to_have_value("vitasoy")
    expect(member.page.locator("#from")).to_have_value("2026-07-01")
    expect(member.page.locator("#outliers")).to_have_value("include")
    member.page.get_by_role("link", name=re.compile("^Brand ")).click()
    assert member.page.locator("#brand").count() == 0
    member.page.get_by_role("link", name="Price index").click()
    expect(member.page.locator("#brand")).to_have_value("vitasoy")


def test_the_progress_of_a_job_leaves_the_focus_where_it_is(member: Visitor) -> None:
    worker = member.stack.pid("worker-reports")
    os.kill(worker, signal.SIGSTOP)
    try:
        member.go("/dashboard/reports?kind=cohorts&brand=vitasoy&granularity=day&group_by=category")
        member.page.get_by_role("button", name="Run it").click()
        member.page.wait_for_url("**/dashboard/jobs/*")
        cancel = member.page.get_by_role("button", name="Cancel it")
        cancel.focus()
        for _ in range(2):
            with member.page.expect_response("**/state"):
                pass
        expect(cancel).to_be_focused()
        member.shoot("job-queued")
        member.page.keyboard.press("Enter")
        expect(member.page.locator("#job .state")).to_have_text("cancelled")
        assert member.page.locator("main").inner_text().lower().count("nothing was charged") == 1
        member.shoot("job-cancelled")
        member.check_accessibility()
    finally:
        os.kill(worker, signal.SIGCONT)


def test_the_overview_warns_at_80_and_at_100_per_cent_of_the_day(member: Visitor) -> None:
    while (used := used_today(member)) < 4:  # below, no whole number is 80 per cent and not all
        member.go("/dashboard/explorer?q=tea")
    before = next(p for p in json.loads(member.stack.ctl("plans", "list", "--json")) if p["name"] == "brand")
    try:
        for limit, level in ((used * 5 // 4, "80"), (used, "100")):
            member.stack.ctl("plans", "set", "brand", "--daily-units", str(limit))
            until(lambda level=level: f'data-quota="{level}"' in page_text(member, "/dashboard"), 60)
            member.go("/dashboard")
            expect(member.page.locator(f"[data-quota='{level}']")).to_contain_text("of today are used")
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
    member.page.get_by_label("Act", exact=True).select_option("organization.created")
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
    expect(member.page.get_by_text("No entry is of this choice")).to_be_visible()
    member.page.get_by_role("link", name="Show all").click()
    expect(member.page).to_have_url(f"{member.origin}/dashboard/audit")


def test_a_long_name_of_an_organization_breaks_no_page(visitor: Visitor) -> None:
    visitor.sign_in("grace")
    visitor.go("/dashboard/organizations/new")
    visitor.page.get_by_label("Name").fill("Handelsgesellschaft" * 10)
    visitor.page.get_by_role("button", name="Create it").click()
    expect(visitor.page.get_by_role("heading", name="API key")).to_be_visible()
    visitor.go("/dashboard")
    visitor.shoot("long-name-wide")
    visitor.check_width()
    visitor.hold_dark_phone()
    visitor.shoot("long-name-dark-phone")
    visitor.check_width()
    visitor.check_accessibility()


def test_a_category_as_a_page(member: Visitor) -> None:
    member.go("/dashboard/reports?kind=category-insights")
    member.page.get_by_role("button", name="Run it").click()
    member.page.wait_for_url("**/dashboard/jobs/*")
    expect(member.page.locator("#job .state")).to_have_text("succeeded", timeout=30_000)
    expect(member.page.get_by_role("heading", name="Rows")).to_be_visible()
    member.shoot("job-category")
    member.check_accessibility()


def test_a_report_that_the_plan_does_not_include_says_so_before_anything_runs(member: Visitor) -> None:
    member.go("/dashboard/reports?kind=sustainability-rollup")
    expect(member.page.locator("#price .notice")).to_contain_text("does not include")


def test_without_the_plan_for_bulk_data_there_is_the_schema_but_no_file(member: Visitor) -> None:
    member.go("/dashboard/datasets/items")
    expect(member.page.get_by_role("rowheader", name="survivor_iid")).to_be_visible()
    assert member.page.get_by_role("link", name=re.compile(r"\.parquet$")).count() == 0
    member.go("/dashboard/exports/new")
    expect(member.page.locator("#preview .notice")).to_contain_text("does not include")
    member.page.get_by_role("button", name="Order the export").click()
    expect(member.page.locator("main")).to_contain_text("does not include")
    member.refused(403)


@pytest.mark.usefixtures("founder")
def test_invite_and_join(visitor: Visitor) -> None:
    visitor.sign_in()
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
def test_every_page_is_accessible_in_light_and_dark_wide_and_narrow(member: Visitor, name: str) -> None:
    member.go(f"/dashboard{PAGES[name]}")
    expect(member.page.get_by_role("heading", level=1)).to_be_visible()
    for form in ("wide", "dark-phone"):
        if form == "dark-phone":
            member.hold_dark_phone()
        member.shoot(f"{name}-{form}")
        member.check_accessibility()
        member.check_width()


def test_a_session_is_listed_with_its_browser(member: Visitor) -> None:
    member.go("/dashboard/sessions")
    expect(member.page.get_by_role("rowheader", name=re.compile(r"Chrome \d+ on Linux \(this one\)"))).to_be_visible()


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
        if member.page.evaluate("document.activeElement.textContent") == "Explorer":
            break
    member.page.keyboard.press("Enter")
    member.page.wait_for_url("**/dashboard/explorer")
    for _ in range(30):
        member.page.keyboard.press("Tab")
        if member.page.evaluate("document.activeElement.id") == "q":
            break
    member.page.keyboard.type("milk")
    member.page.keyboard.press("Enter")
    expect(member.page.locator(".hits a").first).to_be_visible()


def test_the_docs_page_works_in_a_browser(visitor: Visitor) -> None:
    visitor.go("/v1/docs")
    expect(visitor.page.get_by_role("heading", level=1)).to_be_visible()
    visitor.shoot("docs")
    visitor.check_accessibility()
