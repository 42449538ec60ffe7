"""The dashboard in a real browser: signing in, accounts, and what people do there."""

import json
import os
import re
import signal

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor, new_key, until, used_today

pytestmark = pytest.mark.xdist_group("browser")


# Signing in, tokens, keys, members and sessions, in a real browser.


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
    member.page.get_by_role("button", name="Rotate key").click()
    new = member.page.locator("[data-secret]").inner_text()
    assert [member.api("/quota", key) for key in (old, new)] == [200, 200]
    member.page.get_by_label("Yes, stop all calls").check()
    member.page.get_by_role("button", name="Revoke").click()
    expect(member.page.get_by_text("has no key")).to_be_visible()
    until(lambda: {member.api("/quota", key) for key in (old, new)} == {401})


@pytest.mark.usefixtures("founder")
def test_invite_and_join(visitor: Visitor) -> None:
    visitor.sign_in()
    visitor.go("/dashboard/members")
    visitor.page.get_by_label("Email address").fill("grace@example.org")
    visitor.page.get_by_role("button", name="Create invitation").click()
    link = visitor.page.locator("#link").inner_text()
    visitor.shoot("members-invited")
    visitor.page.get_by_role("button", name="Sign out").click()
    expect(visitor.page.get_by_text("You have signed out")).to_be_visible()
    visitor.page.wait_for_load_state("networkidle")  # the provider may send the browser to this page once more
    visitor.context.clear_cookies()
    visitor.sign_in("grace")
    visitor.page.goto(link)
    visitor.page.get_by_role("button", name="Join organization").click()
    expect(visitor.page.locator("header")).to_contain_text("Acme")
    visitor.go("/dashboard/members")
    expect(visitor.page.get_by_role("rowheader", name="Grace")).to_be_visible()
    assert "/dashboard/audit" in visitor.page.content()


# What people do in the dashboard, in a real browser, on the whole stack.


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


# The page of the local identity provider, in the product's own look.


def test_the_sign_in_page_has_the_products_look_and_says_what_is_wrong(visitor: Visitor) -> None:
    blocked: list[str] = []
    visitor.page.on("console", lambda line: blocked.append(line.text) if line.type == "error" else None)
    visitor.go("/dashboard/explorer?q=soy+milk")
    assert not visitor.page.url.startswith(visitor.origin)
    expect(visitor.page.get_by_role("heading", name="Sign in")).to_be_visible()
    accent = "getComputedStyle(document.querySelector('button')).backgroundColor"
    assert visitor.page.evaluate(accent) == "rgb(11, 110, 79)"
    assert "canaille" not in visitor.page.content().lower()
    visitor.check_every_form("sign-in")
    visitor.page.get_by_label("User name").fill("ada")
    visitor.page.get_by_role("button", name="Continue").click()
    visitor.check_every_form("sign-in-password")
    visitor.page.get_by_label("Password").fill("not it")
    visitor.page.get_by_role("button", name="Sign in").click()
    expect(visitor.page.get_by_role("alert")).to_be_visible()
    visitor.shoot("sign-in-refused")
    visitor.check_accessibility()
    passwords = json.loads((visitor.stack.folder / "identity.json").read_text())["passwords"]
    visitor.page.get_by_role("link", name="another person").click()
    visitor.page.get_by_label("User name").fill("ada")
    visitor.page.get_by_role("button", name="Continue").click()
    visitor.page.get_by_label("Password").fill(passwords["ada"])
    visitor.page.get_by_role("button", name="Sign in").click()
    visitor.page.wait_for_url(f"{visitor.origin}/dashboard/explorer?q=soy+milk")
    assert blocked == [], "the provider's policy lets every file of the page in"


def test_a_wrong_address_of_the_provider_leads_back_to_the_dashboard(visitor: Visitor) -> None:
    visitor.go("/dashboard")
    provider = visitor.page.url.split("/", 3)
    visitor.page.goto("/".join([*provider[:3], "nonsense"]))
    expect(visitor.page.get_by_role("heading", name="Not found")).to_be_visible()
    visitor.shoot("sign-in-not-found")
    visitor.check_accessibility()
    assert (
        visitor.page.get_by_role("link", name="Back to the dashboard").get_attribute("href")
        == f"{visitor.origin}/dashboard"
    )


def test_an_unknown_page_keeps_the_navigation(member: Visitor) -> None:
    member.go("/dashboard/nonsense/")
    member.refused(404)
    expect(member.page.get_by_role("heading", name="Not found")).to_be_visible()
    member.check_every_form("unknown")
    member.page.get_by_role("link", name="Usage").click()
    expect(member.page).to_have_url(f"{member.origin}/dashboard/usage")


def test_a_page_in_an_outage_keeps_the_navigation_and_comes_back_by_itself(member: Visitor) -> None:
    page, store = member.page, member.stack.pid("state")
    os.kill(store, signal.SIGSTOP)
    try:
        member.go("/dashboard/members")
        expect(page.get_by_role("heading", name="Temporarily unavailable")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("isn't responding")
        expect(page.get_by_label("Dashboard").get_by_role("link", name="API key")).to_be_visible()
        member.shoot("outage")
    finally:
        os.kill(store, signal.SIGCONT)
    expect(page.get_by_role("heading", name="Members")).to_be_visible()
    member.faults[:] = [fault for fault in member.faults if "status of 503" not in fault]
    until(lambda: all(ready(member) for _ in range(8)))  # both edges


def ready(visitor: Visitor) -> bool:
    """Return whether the edge that answers is ready, with all that it needs."""
    return bool(visitor.context.request.get(f"{visitor.origin}/v1/ready").json()["status"] == "ready")
