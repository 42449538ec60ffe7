"""Signing in, tokens, keys, members and sessions, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor, new_key, until

pytestmark = pytest.mark.xdist_group("browser")


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
    figures = member.page.locator(".canvas").get_attribute("data-plot") or ""
    assert re.search(r'"served", "values": \[(0, )*[1-9]', figures)
    assert member.page.locator(".canvas canvas").count() == 1
    member.go("/dashboard")
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
    visitor.page.get_by_label("Organization", exact=True).select_option(label="Acme <script>alert(1)</script>")
    visitor.page.get_by_role("button", name="Switch").click()
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
