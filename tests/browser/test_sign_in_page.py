"""The page of the local identity provider, in the product's own look."""

import json
import os
import signal

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor, until

pytestmark = pytest.mark.xdist_group("browser")


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


def test_a_visitor_registers_from_the_front_page_and_creates_an_organization(visitor: Visitor) -> None:
    page = visitor.page
    visitor.go("/")
    page.get_by_role("link", name="Sign up", exact=True).click()
    expect(page.get_by_role("heading", name="Create an account")).to_be_visible()
    assert not page.url.startswith(visitor.origin)
    visitor.check_every_form("sign-up")
    page.get_by_label("Your name").fill("Mary Jackson")
    page.get_by_label("Email address").fill("ada@example.org")
    page.get_by_label("Password").fill("wind tunnel")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("alert")).to_contain_text("has an account already")
    visitor.check_every_form("sign-up-refused")
    page.get_by_label("Email address").fill("mary@example.org")
    page.get_by_label("Password").fill("wind tunnel")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", name="Welcome, Mary Jackson")).to_be_visible()
    page.get_by_role("link", name="Create an organization").click()
    page.get_by_label("Name").fill("Jackson Research")
    page.get_by_role("radio", name="Free").check()
    page.get_by_role("button", name="Create organization").click()
    expect(page).to_have_url(f"{visitor.origin}/dashboard/key")
    assert "Jackson Research" in page.content()


def test_a_person_who_registered_signs_in_again_with_the_address(visitor: Visitor) -> None:
    page = visitor.page
    visitor.go("/dashboard/sign-up?next=/dashboard/token")
    page.get_by_label("Your name").fill("Dorothy Vaughan")
    page.get_by_label("Email address").fill("dorothy@example.org")
    page.get_by_label("Password").fill("west computing")
    page.get_by_role("button", name="Create account").click()
    page.wait_for_url(f"{visitor.origin}/dashboard/token")
    page.context.clear_cookies()
    visitor.go("/dashboard/token")
    page.get_by_label("User name or email address").fill("Dorothy@example.org")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Password").fill("west computing")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{visitor.origin}/dashboard/token")


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
        expect(page.get_by_label("Dashboard").get_by_role("link", name="Team & key")).to_be_visible()
        member.shoot("outage")
    finally:
        os.kill(store, signal.SIGCONT)
    expect(page.get_by_role("heading", name="Team")).to_be_visible()
    member.faults[:] = [fault for fault in member.faults if "status of 503" not in fault]
    until(lambda: all(ready(member) for _ in range(8)))  # both edges


def ready(visitor: Visitor) -> bool:
    """Return whether the edge that answers is ready, with all that it needs."""
    return bool(visitor.context.request.get(f"{visitor.origin}/v1/ready").json()["status"] == "ready")
