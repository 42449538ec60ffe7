"""Signing in, staying in, signing out; and everything that tries to get in another way."""

import base64
import hashlib
import itertools
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp
import pytest

from edge.dashboard.sign_in import destination_of
from shared.config import Settings
from tests.support.client import Edge, running_edge
from tests.support.issuer import Issuer, running_issuer


@dataclass
class Browser:
    """Cookies, and pages asked for with them."""

    edge: Edge
    issuer: Issuer
    cookies: dict[str, str] = field(default_factory=dict)
    last: Any = None

    async def ask(
        self, method: str, path: str, form: dict[str, str] | None = None, head: dict[str, str] | None = None
    ) -> int:
        """Ask for a page and keep the answer; return its status."""
        fields = {"X-Real-IP": "192.0.2.9", "X-Charge-Id": "c" * 32, **(head or {})}
        if self.cookies:
            fields["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        url = aiohttp.client.URL(f"http://testserver{path}", encoded=True)
        async with self.edge.session.request(method, url, headers=fields, data=form, allow_redirects=False) as answer:
            self.last = answer
            self.text = await answer.text()
        for name, morsel in answer.cookies.items():
            self.cookies[name] = morsel.value
            if not morsel.value:
                del self.cookies[name]
        return answer.status

    async def begin(self, query: str = "") -> dict[str, str]:
        """Begin to sign in; return what the provider is asked."""
        assert await self.ask("GET", f"/dashboard/sign-in{query}") == 303
        return {name: values[0] for name, values in parse_qs(urlsplit(self.last.headers["Location"]).query).items()}

    async def come_back(self, **query: str) -> int:
        """Come back from the provider."""
        return await self.ask("GET", f"/dashboard/sign-in/callback?{urlencode(query)}")

    async def sign_in(self, who: str = "ada", query: str = "") -> int:
        """Sign in."""
        asked = await self.begin(query)
        return await self.come_back(state=asked["state"], code=self.issuer.code(who, nonce=asked["nonce"]))

    def csrf(self) -> str:
        """The token in the forms of the last page."""
        found = re.search(r'name="csrf" value="([^"]+)"', self.text)
        assert found is not None
        return found[1]

    def once(self) -> str:
        """The id of the last page's first form that makes a secret."""
        found = re.search(r'name="once" value="([^"]+)"', self.text)
        assert found is not None
        return found[1]


@pytest.fixture
async def browser(settings: Settings, tmp_path: Path) -> AsyncIterator[Browser]:
    """A browser in front of an edge whose provider is on loopback."""
    async with running_issuer() as issuer, running_edge(replace(settings, oidc_issuer=issuer.url), tmp_path) as edge:
        yield Browser(edge, issuer)


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


async def test_what_the_provider_is_asked_and_told(browser: Browser) -> None:
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
    browser.cookies = cookies
    assert await browser.come_back(state=asked["state"], code=browser.issuer.code(nonce=asked["nonce"])) == 400


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
    assert await browser.come_back(state=asked["state"], code="nobody-gave-this") == 400
    asked = await browser.begin()
    other = await browser.come_back(
        state=asked["state"], code=browser.issuer.code(nonce=asked["nonce"]), iss="https://evil"
    )
    assert other == 400


async def test_a_session_that_somebody_planted_is_not_taken_over(browser: Browser) -> None:
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
def test_nobody_is_sent_elsewhere_after_signing_in(text: str | None) -> None:
    assert destination_of(text) == "/dashboard"


def test_our_own_pages_are_destinations() -> None:
    assert destination_of("/dashboard/explorer/IID-A-B") == "/dashboard/explorer/IID-A-B"


async def test_a_form_from_elsewhere_does_nothing(browser: Browser) -> None:
    await browser.sign_in()
    await browser.ask("GET", "/dashboard")
    good, once = browser.csrf(), browser.once()
    forged: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {}),
        ({"csrf": ""}, {}),
        ({"csrf": good[:-1] + ("y" if good.endswith("x") else "x")}, {}),
        ({"csrf": good}, {"Origin": "https://evil.example"}),
        ({"csrf": good}, {"Origin": "null"}),
    ]
    for form, head in forged:
        assert await browser.ask("POST", "/dashboard/token", form, head) == 403
    form = {"csrf": good, "once": once}
    assert await browser.ask("POST", "/dashboard/token", form, {"Origin": "http://testserver"}) == 303
    await browser.ask("GET", "/dashboard/token")
    assert "iixp_free_" in browser.text
    other = Browser(browser.edge, browser.issuer)
    await other.sign_in("grace")
    assert await other.ask("POST", "/dashboard/token", {"csrf": good}) == 403


async def test_a_form_of_another_kind_is_refused(browser: Browser) -> None:
    await browser.sign_in()
    for kind in ("application/json", "multipart/form-data; boundary=x", "text/plain"):
        assert await browser.ask("POST", "/dashboard/token", None, {"Content-Type": kind}) == 415


async def test_a_session_ends_by_time(settings: Settings, tmp_path: Path) -> None:
    async with running_issuer() as issuer:
        short = replace(settings, oidc_issuer=issuer.url, session_seconds_max=0)
        async with running_edge(short, tmp_path) as edge:
            browser = Browser(edge, issuer)
            await browser.sign_in()
            assert await browser.ask("GET", "/dashboard") == 303


async def test_each_visit_lets_a_session_go_on_for_another_while(browser: Browser) -> None:
    await browser.sign_in()
    state, idle = browser.edge.resources.state, browser.edge.settings.session_idle_seconds
    [name] = await state.command("KEYS", "s:*")
    assert await state.command("EXPIRE", name, 60) == 1
    assert await browser.ask("GET", "/dashboard") == 200
    left = await state.command("TTL", name)
    assert idle / 2 < left <= idle


async def test_sign_ins_of_an_address_and_forms_of_a_person_have_a_limit(settings: Settings, tmp_path: Path) -> None:
    async with running_issuer() as issuer:
        few = replace(settings, oidc_issuer=issuer.url, sign_ins_per_day=2, person_calls_per_day=4)
        async with running_edge(few, tmp_path) as edge:
            browser = Browser(edge, issuer)
            charges = ({"X-Charge-Id": f"{number:032x}"} for number in itertools.count())
            await browser.sign_in()  # one sign-in of the address, one call of the person
            begun = [await browser.ask("GET", "/dashboard/sign-in", head=next(charges)) for _ in range(2)]
            assert begun == [303, 429]
            assert int(browser.last.headers["Retry-After"]) >= 1
            await browser.ask("GET", "/dashboard")
            form = {"csrf": browser.csrf(), "session": "others"}
            sent = [await browser.ask("POST", "/dashboard/sessions/end", form, next(charges)) for _ in range(4)]
            assert sent == [303, 303, 303, 429]


async def test_pages_let_no_other_host_and_no_inline_script_in(browser: Browser) -> None:
    await browser.sign_in()
    assert await browser.ask("GET", "/dashboard") == 200
    policy = browser.last.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert browser.last.headers["Cache-Control"] == "no-store"
    assert not re.search(r"<script(?![^>]*src=)|\son[a-z]+=|style=", browser.text)


async def test_a_name_is_text_on_every_page(browser: Browser) -> None:
    await browser.sign_in()
    await browser.ask("GET", "/dashboard/organizations/new")
    form = {"csrf": browser.csrf(), "name": '<i>Acme</i> & "co"', "plan": "free"}
    assert await browser.ask("POST", "/dashboard/organizations", form) == 303
    for page in ("/dashboard", "/dashboard/key", "/dashboard/members"):
        assert await browser.ask("GET", page) == 200
        assert "<i>" not in browser.text
        assert "&lt;i&gt;Acme&lt;/i&gt; &amp; &#34;co&#34;" in browser.text


async def test_without_a_provider_or_while_it_is_down_a_page_says_so(browser: Browser, edge: Edge) -> None:
    nobody = Browser(edge, browser.issuer)
    assert await nobody.ask("GET", "/dashboard/sign-in") == 503
    assert "OIDC_ISSUER" in nobody.text
    browser.issuer.down = True
    assert await browser.ask("GET", "/dashboard/sign-in") == 503


async def test_another_organizations_objects_are_absent(browser: Browser) -> None:
    await browser.sign_in("ada")
    await browser.ask("GET", "/dashboard/organizations/new")
    assert (
        await browser.ask("POST", "/dashboard/organizations", {"csrf": browser.csrf(), "name": "Acme", "plan": "brand"})
        == 303
    )
    await browser.ask("GET", "/dashboard/members")
    found = re.search(r'name="person" value="([^"]+)"', browser.text)
    assert found is not None
    other = Browser(browser.edge, browser.issuer)
    await other.sign_in("eve")
    await other.ask("GET", "/dashboard/organizations/new")
    await other.ask("POST", "/dashboard/organizations", {"csrf": other.csrf(), "name": "Other", "plan": "brand"})
    await other.ask("GET", "/dashboard/members")
    assert await other.ask("POST", "/dashboard/members/removals", {"csrf": other.csrf(), "person": found[1]}) == 404
    for form in ({"organization": "01890000-0000-7000-8000-000000000000"}, {"organization": "x"}, {}):
        assert await other.ask("POST", "/dashboard/organizations/choice", {"csrf": other.csrf(), **form}) in (404, 303)


async def test_no_secret_appears_in_any_output(browser: Browser, capfd: pytest.CaptureFixture[str]) -> None:
    await browser.sign_in()
    await browser.ask("GET", "/dashboard/organizations/new")
    await browser.ask("POST", "/dashboard/organizations", {"csrf": browser.csrf(), "name": "Acme", "plan": "brand"})
    await browser.ask("GET", "/dashboard/key")
    await browser.ask("POST", "/dashboard/key", {"csrf": browser.csrf(), "once": browser.once()})
    await browser.ask("GET", "/dashboard/key")
    [key] = re.findall(r"iixk_live_[0-9A-Za-z]{48}", browser.text)
    await browser.ask("GET", "/dashboard/token")
    await browser.ask("POST", "/dashboard/token", {"csrf": browser.csrf(), "once": browser.once()})
    await browser.ask("GET", "/dashboard/token")
    [token] = re.findall(r"iixp_free_[0-9A-Za-z]{48}", browser.text)
    bearer = browser.issuer.token()
    edge = browser.edge
    for head in (
        {"Authorization": f"ApiKey {key}"},
        {"X-Service-Public-Token": token},
        {"Authorization": f"Bearer {bearer}"},
        {"Authorization": f"ApiKey {key}x"},
        {"Authorization": f"Bearer {bearer}x"},
    ):
        for path in ("/quota", "/index/lookup/nonsense", f"/index/search?q={key}&wrong={token}"):
            answer = await edge.ask("GET", path, anonymous=False, head=head, check=False)
            assert key[20:] not in answer.body.decode() or path.startswith("/index/search")
    session = browser.cookies["itemindex"]
    await browser.ask("GET", "/dashboard/audit")
    audit = browser.text
    edge.resources.access_log.flush()
    written = Path(edge.settings.access_log).read_text() + capfd.readouterr().err + audit
    secrets = (
        key[20:52],
        token[20:52],
        bearer.rpartition(".")[2],
        session,
        edge.settings.token_pepper,
        edge.settings.signing_secret,
    )
    assert written.count('"request_id"') > 10
    assert [secret for secret in secrets if secret in written] == []
    state = edge.resources.state
    keys = [k.decode() for k in await state.command("KEYS", "*")]
    values = [await state.command("GET", k) for k in keys if k.startswith("s:")]
    assert not any(secret in f"{keys}{values}" for secret in secrets)
