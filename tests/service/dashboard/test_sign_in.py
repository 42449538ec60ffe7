"""Signing in by the provider, and every way to sign in that is refused."""

import base64
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from edge.dashboard.sign_in import destination_of
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.support.client import Edge, running_edge
from tests.support.issuer import running_issuer


async def test_the_whole_way_in_and_out(browser: Browser) -> None:
    assert await browser.ask("GET", "/dashboard/key") == 303
    assert browser.last.headers["Location"] == "/dashboard/sign-in?next=%2Fdashboard%2Fkey"
    assert await browser.sign_in(query="?next=%2Fdashboard%2Ftoken") == 303
    assert browser.last.headers["Location"] == "/dashboard/token"
    session = browser.last.cookies["itemindex"]
    assert (session["httponly"], session["samesite"], session["path"]) == (True, "Lax", "/dashboard")
    assert await browser.ask("GET", "/dashboard") == 200
    assert "Welcome, Ada" in browser.text
    kept = dict(browser.cookies)
    assert await browser.ask("POST", "/dashboard/sign-out", {"csrf": browser.csrf()}) == 303
    assert "itemindex" not in browser.cookies
    browser.cookies = kept
    assert await browser.ask("GET", "/dashboard") == 303


async def test_the_provider_gets_the_parameters_of_the_code_flow(browser: Browser) -> None:
    asked = await browser.begin()
    assert (asked["response_type"], asked["code_challenge_method"], asked["scope"]) == (
        "code",
        "S256",
        "openid profile email",
    )
    await browser.come_back(state=asked["state"], code=browser.issuer.code(nonce=asked["nonce"]))
    [form] = browser.issuer.redeemed
    digest = hashlib.sha256(form["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == asked["code_challenge"]
    assert form["redirect_uri"] == asked["redirect_uri"] == "http://testserver/dashboard/sign-in/callback"


async def test_the_clients_secret_is_form_encoded_before_it_becomes_a_header(
    settings: Settings, tmp_path: Path
) -> None:
    settings = replace(settings, oidc_client_secret="a+b/c%41:ü")
    async with running_issuer() as issuer, running_edge(replace(settings, oidc_issuer=issuer.url), tmp_path) as edge:
        assert await Browser(edge, issuer).sign_in() == 303
        sent = base64.b64encode(b"item-index:a%2Bb%2Fc%2541%3A%C3%BC").decode()
        assert issuer.authorizations == [f"Basic {sent}"]


async def test_with_tls_the_cookies_are_secure(settings: Settings, tmp_path: Path) -> None:
    async with running_issuer() as issuer:
        secure = replace(settings, oidc_issuer=issuer.url, base_url="https://testserver/v1")
        async with running_edge(secure, tmp_path) as edge:
            browser = Browser(edge, issuer)
            assert await browser.sign_in() == 303
            assert browser.last.cookies["__Secure-itemindex"]["secure"] is True


async def test_a_state_works_once_and_only_in_the_browser_that_began(browser: Browser) -> None:
    asked = await browser.begin()
    elsewhere = Browser(browser.edge, browser.issuer)
    assert await elsewhere.come_back(state=asked["state"], code=browser.issuer.code(nonce=asked["nonce"])) == 400
    await elsewhere.begin()
    assert await elsewhere.come_back(state=asked["state"], code=browser.issuer.code(nonce=asked["nonce"])) == 400
    cookies = dict(browser.cookies)
    code = browser.issuer.code(nonce=asked["nonce"])
    assert await browser.come_back(state=asked["state"], code=code) == 303
    assert await browser.come_back(state=asked["state"], code=browser.issuer.code(nonce=asked["nonce"])) == 400
    browser.cookies = cookies
    assert await browser.come_back(state=asked["state"], code=browser.issuer.code(nonce=asked["nonce"])) == 303
    assert browser.last.headers["Location"] == "/dashboard", "a second click leads on, but begins no session"
    assert "itemindex" not in browser.cookies


async def test_two_tabs_sign_in_at_once_in_any_order(browser: Browser) -> None:
    first, second = await browser.begin("?next=/dashboard/token"), await browser.begin("?next=/dashboard/usage")
    for asked, page in ((second, "usage"), (first, "token")):
        assert await browser.come_back(state=asked["state"], code=browser.issuer.code(nonce=asked["nonce"])) == 303
        assert browser.last.headers["Location"] == f"/dashboard/{page}"
    assert list(browser.cookies) == ["itemindex"]


async def test_a_browser_keeps_the_cookies_of_its_latest_sign_ins_alone(browser: Browser) -> None:
    begun = [await browser.begin() for _ in range(8)]
    assert len(browser.cookies) == 5
    came_back = [await browser.come_back(state=asked["state"], error="access_denied") for asked in begun]
    assert came_back == [400] * 3 + [403] * 5


@pytest.mark.parametrize(
    "claims",
    [{"nonce": "other"}, {"nonce": None}, {"aud": "other"}, {"iss": "https://evil.example"}, {"exp": 1, "iat": 0}],
)
async def test_a_token_that_was_not_made_for_this_sign_in_begins_no_session(
    browser: Browser, claims: dict[str, Any]
) -> None:
    asked = await browser.begin()
    code = browser.issuer.code(**{"nonce": asked["nonce"], **claims})
    assert await browser.come_back(state=asked["state"], code=code) == 400
    assert "itemindex" not in browser.cookies


async def test_odd_returns_from_the_provider_are_pages_not_faults(browser: Browser) -> None:
    for query in (
        {},
        {"state": ""},
        {"state": "x" * 5000},
        {"state": "a", "code": "b" * 5000},
        {"code": "b"},
        {"state": "\ud800"[:0]},
    ):
        assert await browser.come_back(**query) == 400
    asked = await browser.begin()
    assert await browser.come_back(state=asked["state"], error="access_denied", error_description="<b>x</b>") == 403
    assert "<b>x" not in browser.text
    asked = await browser.begin()
    assert await browser.come_back(state=asked["state"], code="never-issued") == 400
    asked = await browser.begin()
    other = await browser.come_back(
        state=asked["state"], code=browser.issuer.code(nonce=asked["nonce"]), iss="https://evil"
    )
    assert other == 400


async def test_a_planted_session_is_not_taken_over(browser: Browser) -> None:
    browser.cookies["itemindex"] = "planted"
    assert await browser.sign_in() == 303
    assert browser.cookies["itemindex"] != "planted"
    first = browser.cookies["itemindex"]
    assert await browser.sign_in("grace") == 303
    browser.cookies["itemindex"] = first
    assert await browser.ask("GET", "/dashboard") == 303


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example",
        "//evil.example",
        "/dashboard//evil.example",
        "/dashboard\\evil",
        "/v1/docs",
        "/dashboard/../v1",
        "/dashboard/\n",
        "javascript:alert(1)",
        "",
        None,
        "/dashboardx",
    ],
)
def test_signing_in_never_redirects_to_another_site(text: str | None) -> None:
    assert destination_of(text) == "/dashboard"


def test_our_own_pages_are_destinations() -> None:
    assert destination_of("/dashboard/explorer/IID-A-B") == "/dashboard/explorer/IID-A-B"


async def test_without_a_provider_or_while_it_is_down_a_page_says_so(browser: Browser, edge: Edge) -> None:
    without = Browser(edge, browser.issuer)
    assert await without.ask("GET", "/dashboard/sign-in") == 503
    assert "OIDC_ISSUER" in without.text
    browser.issuer.down = True
    assert await browser.ask("GET", "/dashboard/sign-in") == 503
