"""Signing in by the provider, and every way to sign in that is refused."""

import base64
import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from edge.dashboard.sign_in import destination_of
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser, running_browser
from tests.support.client import Edge


async def test_the_whole_way_in_and_out(visitor: Browser) -> None:
    assert await visitor.ask("GET", "/dashboard/key") == 303
    assert visitor.last.headers["Location"] == "/dashboard/sign-in?next=%2Fdashboard%2Fkey"
    assert await visitor.sign_in(query="?next=%2Fdashboard%2Ftoken") == 303
    assert visitor.last.headers["Location"] == "/dashboard/token"
    session = visitor.last.cookies["itemindex"]
    assert (session["httponly"], session["samesite"], session["path"]) == (True, "Lax", "/dashboard")
    assert await visitor.ask("GET", "/dashboard") == 200
    assert "Welcome, Ada" in visitor.text
    kept = dict(visitor.cookies)
    assert await visitor.ask("POST", "/dashboard/sign-out", {"csrf": visitor.csrf()}) == 303
    assert "itemindex" not in visitor.cookies
    visitor.cookies = kept
    assert await visitor.ask("GET", "/dashboard") == 303


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
    async with running_browser(settings, tmp_path, oidc_client_secret="a+b/c%41:ü") as browser:
        assert await browser.sign_in() == 303
        sent = base64.b64encode(b"item-index:a%2Bb%2Fc%2541%3A%C3%BC").decode()
        assert browser.issuer.authorizations == [f"Basic {sent}"]


async def test_with_tls_the_cookies_are_secure(settings: Settings, tmp_path: Path) -> None:
    async with running_browser(settings, tmp_path, base_url="https://testserver/v1") as browser:
        assert await browser.sign_in() == 303
        assert browser.last.cookies["__Secure-itemindex"]["secure"] is True


async def test_a_state_works_once_and_only_in_the_browser_that_began(visitor: Browser) -> None:
    asked = await visitor.begin()
    elsewhere = Browser(visitor.edge, visitor.issuer)
    assert await elsewhere.come_back(state=asked["state"], code=visitor.issuer.code(nonce=asked["nonce"])) == 400
    await elsewhere.begin()
    assert await elsewhere.come_back(state=asked["state"], code=visitor.issuer.code(nonce=asked["nonce"])) == 400
    cookies = dict(visitor.cookies)
    code = visitor.issuer.code(nonce=asked["nonce"])
    assert await visitor.come_back(state=asked["state"], code=code) == 303
    assert await visitor.come_back(state=asked["state"], code=visitor.issuer.code(nonce=asked["nonce"])) == 400
    visitor.cookies = cookies
    assert await visitor.come_back(state=asked["state"], code=visitor.issuer.code(nonce=asked["nonce"])) == 303
    assert visitor.last.headers["Location"] == "/dashboard", "a second click leads on, but begins no session"
    assert "itemindex" not in visitor.cookies


async def test_two_tabs_sign_in_at_once_in_any_order(visitor: Browser) -> None:
    first, second = (
        await visitor.begin("?next=/dashboard/token"),
        await visitor.begin("?next=/dashboard/usage"),
    )
    for asked, page in ((second, "usage"), (first, "token")):
        assert await visitor.come_back(state=asked["state"], code=visitor.issuer.code(nonce=asked["nonce"])) == 303
        assert visitor.last.headers["Location"] == f"/dashboard/{page}"
    assert list(visitor.cookies) == ["itemindex"]


async def test_a_browser_keeps_the_cookies_of_its_latest_sign_ins_alone(visitor: Browser) -> None:
    begun = [await visitor.begin() for _ in range(8)]
    assert len(visitor.cookies) == 5
    came_back = [await visitor.come_back(state=asked["state"], error="access_denied") for asked in begun]
    assert came_back == [400] * 3 + [403] * 5


async def test_a_token_that_was_not_made_for_this_sign_in_begins_no_session(visitor: Browser) -> None:
    for claims in (
        {"nonce": "other"},
        {"nonce": None},
        {"aud": "other"},
        {"iss": "https://evil.example"},
        {"exp": 1, "iat": 0},
    ):
        asked = await visitor.begin()
        code = visitor.issuer.code(**{"nonce": asked["nonce"], **claims})
        assert await visitor.come_back(state=asked["state"], code=code) == 400, claims
        assert "itemindex" not in visitor.cookies, claims


async def test_odd_returns_from_the_provider_are_pages_not_faults(visitor: Browser) -> None:
    for query in (
        {},
        {"state": ""},
        {"state": "x" * 5000},
        {"state": "a", "code": "b" * 5000},
        {"code": "b"},
        {"state": "\ud800"[:0]},
    ):
        assert await visitor.come_back(**query) == 400
    asked = await visitor.begin()
    assert await visitor.come_back(state=asked["state"], error="access_denied", error_description="<b>x</b>") == 403
    assert "<b>x" not in visitor.text
    asked = await visitor.begin()
    assert await visitor.come_back(state=asked["state"], code="never-issued") == 400
    asked = await visitor.begin()
    other = await visitor.come_back(
        state=asked["state"], code=visitor.issuer.code(nonce=asked["nonce"]), iss="https://evil"
    )
    assert other == 400


async def test_a_planted_session_is_not_taken_over(visitor: Browser) -> None:
    visitor.cookies["itemindex"] = "planted"
    assert await visitor.sign_in() == 303
    assert visitor.cookies["itemindex"] != "planted"
    first = visitor.cookies["itemindex"]
    assert await visitor.sign_in("grace") == 303
    visitor.cookies["itemindex"] = first
    assert await visitor.ask("GET", "/dashboard") == 303


def test_signing_in_never_redirects_to_another_site() -> None:
    for text in (
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
    ):
        assert destination_of(text) == "/dashboard", text


def test_our_own_pages_are_destinations() -> None:
    for page in (
        "/dashboard/explorer/IID-A-B",
        "/dashboard/categories/drinks.soy-milk",
        "/dashboard/brands/caf%C3%A9",
        "/dashboard/questions?question=change&what=brand%3Avitasoy",
    ):
        assert destination_of(page) == page
    for page in ("/dashboard/..", "/dashboard/../x", "/dashboard/./x"):
        assert destination_of(page) == "/dashboard", page


async def test_without_a_provider_or_while_it_is_down_a_page_says_so(browser: Browser, edge: Edge) -> None:
    without = Browser(edge, browser.issuer)
    assert await without.ask("GET", "/dashboard/sign-in") == 503
    assert "OIDC_ISSUER" in without.text
    browser.issuer.down = True
    assert await browser.ask("GET", "/dashboard/sign-in") == 503


async def _sign_up(settings: Settings, folder: Path, registers: bool = False, **changes: Any) -> tuple[int, str]:
    """Ask to sign up; return the status, and where the visitor is sent."""
    async with running_browser(settings, folder, **changes) as browser:
        browser.issuer.registers = registers
        status = await browser.ask("GET", "/dashboard/sign-up?next=/dashboard/organizations/new")
        return status, browser.last.headers.get("Location", "")


@pytest.mark.parametrize(
    ("registers", "way", "path", "prompt"),
    [
        (True, "", "/authorize", ["create"]),
        (False, "", "/authorize", []),
        (False, "prompt", "/authorize", ["create"]),
        (True, "https://id.example.org/registrations", "/registrations", []),
    ],
)
async def test_signing_up_begins_where_the_provider_registers_people(
    settings: Settings, tmp_path: Path, registers: bool, way: str, path: str, prompt: list[str]
) -> None:
    status, location = await _sign_up(settings, tmp_path, registers, oidc_sign_up=way)
    asked = parse_qs(urlsplit(location).query)
    assert (status, urlsplit(location).path, asked.get("prompt", [])) == (303, path, prompt)
    assert asked["redirect_uri"] == ["http://testserver/dashboard/sign-in/callback"]
    assert {"state", "nonce", "code_challenge"} <= asked.keys()


async def test_nobody_registers_where_signing_up_is_closed(settings: Settings, tmp_path: Path) -> None:
    assert await _sign_up(settings, tmp_path, True, oidc_sign_up="none") == (404, "")


async def test_a_person_who_comes_back_from_registering_sees_the_page_they_wanted(browser: Browser) -> None:
    browser.issuer.registers = True
    assert await browser.ask("GET", "/dashboard/sign-up?next=/dashboard/organizations/new") == 303
    asked = {k: v[0] for k, v in parse_qs(urlsplit(browser.last.headers["Location"]).query).items()}
    assert await browser.come_back(state=asked["state"], code=browser.issuer.code("new", nonce=asked["nonce"])) == 303
    assert browser.last.headers["Location"] == "/dashboard/organizations/new"
    await browser.create_organization("Newcomers", "free")
    assert browser.last.headers["Location"] == "/dashboard/key"
