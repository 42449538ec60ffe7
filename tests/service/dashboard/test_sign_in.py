"""Signing in and out, and the sessions between."""

import base64
import hashlib
import itertools
import re
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from click.testing import CliRunner

from deploy.ctl.accounts import people as command
from edge.auth.id_token import InvalidToken, check_logout_claims
from edge.dashboard.sessions import IdToken, Sessions, SignIn
from edge.dashboard.sign_in import destination_of
from edge.storage.redis_client import RedisClient
from shared.errors import StoreUnavailable
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser, running_browser
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.issuer import CLIENT
from tests.support.outages import refusing

# Signing in by the provider, and every way to sign in that is refused.


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
    assert destination_of("/dashboard/explorer/IID-A-B") == "/dashboard/explorer/IID-A-B"


async def test_without_a_provider_or_while_it_is_down_a_page_says_so(browser: Browser, edge: Edge) -> None:
    without = Browser(edge, browser.issuer)
    assert await without.ask("GET", "/dashboard/sign-in") == 503
    assert "OIDC_ISSUER" in without.text
    browser.issuer.down = True
    assert await browser.ask("GET", "/dashboard/sign-in") == 503


# Sessions are listed and ended: by the person, by an operator, by the identity provider, and at the provider too.


async def _signed_in(browser: Browser, who: str = "ada", **claims: Any) -> Browser:
    visitor = Browser(browser.edge, browser.issuer)
    asked = await visitor.begin()
    code = browser.issuer.code(who, nonce=asked["nonce"], **claims)
    assert await visitor.come_back(state=asked["state"], code=code) == 303
    return visitor


async def _is_in(visitor: Browser) -> bool:
    return await visitor.ask("GET", "/dashboard") == 200


async def test_a_person_sees_every_session_and_ends_one_or_all_others(visitor: Browser) -> None:
    here, there, third = [await _signed_in(visitor) for _ in range(3)]
    other_person = await _signed_in(visitor, "grace")
    assert await here.ask("GET", "/dashboard/sessions") == 200
    ids = re.findall(r'name="session" value="([0-9a-f]{16})"', here.text)
    assert len(ids) == 2 and "(this one)" in here.text
    form = {"csrf": here.csrf(), "session": ids[0]}
    assert await here.ask("POST", "/dashboard/sessions/end", form) == 303
    assert sorted([await _is_in(there), await _is_in(third)]) == [False, True]
    assert await here.ask("POST", "/dashboard/sessions/end", {**form, "session": "others"}) == 303
    assert [await _is_in(visitor) for visitor in (here, there, third, other_person)] == [True, False, False, True]


async def test_a_person_cannot_end_the_session_of_another(visitor: Browser) -> None:
    ada, grace = await _signed_in(visitor), await _signed_in(visitor, "grace")
    await _signed_in(visitor)
    await ada.ask("GET", "/dashboard/sessions")
    [theirs] = re.findall(r'name="session" value="([0-9a-f]{16})"', ada.text)
    await grace.ask("GET", "/dashboard/sessions")
    assert await grace.ask("POST", "/dashboard/sessions/end", {"csrf": grace.csrf(), "session": theirs}) == 303
    await ada.ask("GET", "/dashboard/sessions")
    assert theirs in ada.text


async def test_an_operator_lists_and_ends_a_persons_sessions(browser: Browser) -> None:
    one, two, grace = await _signed_in(browser), await _signed_in(browser), await _signed_in(browser, "grace")
    settings = browser.edge.settings
    runner = CliRunner(env={"DATABASE_URL": settings.database_url, "STATE_URL": settings.state_url})
    listed = runner.invoke(command, ["sessions", "ada@example.org", "--json"])
    ids = re.findall(r'"id": "([0-9a-f]{16})"', listed.stdout)
    assert len(ids) == 2, listed.output
    assert runner.invoke(command, ["sessions", "ada@example.org", "--end", ids[0]]).exit_code == 0
    assert sorted([await _is_in(one), await _is_in(two)]) == [False, True]
    assert runner.invoke(command, ["sessions", "ada@example.org", "--end-all"]).exit_code == 0
    assert [await _is_in(visitor) for visitor in (one, two, grace)] == [False, False, True]


async def _tell(browser: Browser, token: str, kind: str = "application/x-www-form-urlencoded") -> int:
    url = "http://testserver/dashboard/back-channel-logout"
    head = {"X-Real-IP": "192.0.2.1", "Content-Type": kind}
    async with browser.edge.session.post(url, data=f"logout_token={token}", headers=head) as answer:
        assert answer.headers["Cache-Control"] == "no-store"
        if answer.status != 200:  # OpenID Connect Back-Channel Logout 1.0, section 2.8
            refused = await answer.json(content_type=None)
            assert refused["error"] == ("invalid_request" if answer.status < 500 else "temporarily_unavailable")
            assert refused["error_description"] == refused["detail"]
        return answer.status


async def test_the_provider_ends_all_sessions_of_a_person_or_those_of_one_of_its_own(browser: Browser) -> None:
    laptop, phone = await _signed_in(browser, sid="laptop"), await _signed_in(browser, sid="phone")
    grace = await _signed_in(browser, "grace", sid="desk")
    assert await _tell(browser, browser.issuer.logout_token(sid="phone")) == 200
    assert [await _is_in(visitor) for visitor in (laptop, phone, grace)] == [True, False, True]
    assert await _tell(browser, browser.issuer.logout_token(sub=None, sid="desk")) == 200
    assert [await _is_in(visitor) for visitor in (laptop, grace)] == [True, False]
    assert await _tell(browser, browser.issuer.logout_token()) == 200
    assert not await _is_in(laptop)
    assert await _tell(browser, browser.issuer.logout_token(sub="never-seen")) == 200


async def test_a_logout_token_is_obeyed_once(browser: Browser) -> None:
    token = browser.issuer.logout_token()
    assert await _tell(browser, token) == 200
    later = await _signed_in(browser)
    assert await _tell(browser, token) == 200
    assert await _is_in(later)


async def test_a_logout_token_that_could_not_be_obeyed_is_obeyed_when_it_comes_again(browser: Browser) -> None:
    visitor, token = await _signed_in(browser), browser.issuer.logout_token()
    with refusing(browser.edge.settings):
        assert await _tell(browser, token) == 503
    state = browser.edge.resources.state
    [listed] = await state.command("KEYS", "sp:*")
    digest, beginning = await state.command("HGETALL", listed)
    await state.command("HSET", listed, digest, "unreadable")
    assert await _tell(browser, token) == 500
    await state.command("HSET", listed, digest, beginning)
    assert await _is_in(visitor)
    assert await _tell(browser, token) == 200
    assert not await _is_in(visitor)


async def test_a_session_that_was_ended_stays_ended_whatever_was_under_way_in_it(browser: Browser) -> None:
    state = browser.edge.resources.state
    sessions = Sessions(state, idle_seconds=60, seconds_max=60)
    cookie = await sessions.begin("01a20132-0000-7000-8000-000000000001", "192.0.2.1", "test", IdToken("a.b.c"))
    session = await sessions.find(cookie)
    assert session is not None
    assert await sessions.end_of(session.person_id, lambda listed: True) == 1
    await sessions.choose(cookie, session, "01a20132-0000-7000-8000-000000000002")
    assert await sessions.find(cookie) is None


async def test_a_malformed_logout_token_ends_nothing(browser: Browser) -> None:
    visitor = await _signed_in(browser)
    issuer = browser.issuer
    for token in (
        issuer.token(),
        issuer.logout_token(nonce="n"),
        issuer.logout_token()[:-4] + "AAAA",
        "x",
        "x" * 9_000,
    ):
        assert await _tell(browser, token) == 400
    for charset in ("nonsense", "hex"):
        kind = f"application/x-www-form-urlencoded; charset={charset}"
        assert await _tell(browser, issuer.logout_token(), kind) == 400
    assert await _tell(browser, issuer.logout_token(), "text/plain") == 415
    assert await _is_in(visitor)


NOW = 1_800_000_000

GOOD = {
    "iss": "https://id.example",
    "aud": CLIENT,
    "iat": NOW,
    "exp": NOW + 120,
    "jti": "j",
    "sub": "ada",
    "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
}


def test_a_logout_token_with_a_wrong_claim_is_refused() -> None:
    for change in (
        {"iss": "https://evil.example"},
        {"aud": "other"},
        {"jti": None},
        {"jti": 7},
        {"sub": None},
        {"events": None},
        {"events": {}},
        {"events": []},
        {"events": {"http://schemas.openid.net/event/backchannel-logout": 1}},
        {"iat": NOW + 600},
        {"exp": NOW - 600},
        {"exp": NOW + 90_000},
        {"exp": None},
        {"nonce": "n"},
        {"sub": "x" * 256},
    ):
        claims = {name: value for name, value in {**GOOD, **change}.items() if value is not None}
        with pytest.raises(InvalidToken):
            check_logout_claims(claims, issuer="https://id.example", client_id=CLIENT, now=NOW)
    assert check_logout_claims(GOOD, issuer="https://id.example", client_id=CLIENT, now=NOW).subject == "ada"


async def test_signing_out_continues_at_the_provider_and_names_the_session(browser: Browser) -> None:
    browser.issuer.ends_sessions = True
    await browser.sign_in()
    await browser.ask("GET", "/dashboard")
    assert await browser.ask("POST", "/dashboard/sign-out", {"csrf": browser.csrf()}) == 303
    assert "id_token" not in browser.last.headers["Location"]
    assert await browser.ask("GET", "/dashboard/signed-out") == 200
    [address] = re.findall(r'content="0; url=([^"]+)"', browser.text)
    asked = parse_qs(urlsplit(address.replace("&amp;", "&")).query)
    assert address.startswith(f"{browser.issuer.url}/end?")
    assert asked["post_logout_redirect_uri"] == ["http://testserver/dashboard/signed-out"]
    identity, _ = await browser.edge.resources.users.verify_id_token(asked["id_token_hint"][0])
    assert identity.subject == "ada"
    assert await browser.ask("GET", "/dashboard/signed-out") == 200
    assert "http-equiv" not in browser.text


# Sessions of the dashboard: how long they last, their forms, their limits, and what stays secret.


async def test_a_form_from_elsewhere_does_nothing(visitor: Browser) -> None:
    await visitor.sign_in()
    await visitor.ask("GET", "/dashboard")
    good, once = visitor.csrf(), visitor.form()["once"]
    forged: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {}),
        ({"csrf": ""}, {}),
        ({"csrf": good[:-1] + ("y" if good.endswith("x") else "x")}, {}),
        ({"csrf": good}, {"Origin": "https://evil.example"}),
        ({"csrf": good}, {"Origin": "null"}),
    ]
    for form, head in forged:
        assert await visitor.ask("POST", "/dashboard/token", form, head) == 403
    form = {"csrf": good, "once": once}
    assert await visitor.ask("POST", "/dashboard/token", form, {"Origin": "http://testserver"}) == 303
    await visitor.ask("GET", "/dashboard/token")
    assert "iixp_free_" in visitor.text
    other = Browser(visitor.edge, visitor.issuer)
    await other.sign_in("grace")
    assert await other.ask("POST", "/dashboard/token", {"csrf": good}) == 403


async def test_a_form_of_another_kind_is_refused(visitor: Browser) -> None:
    await visitor.sign_in()
    for kind in ("application/json", "multipart/form-data; boundary=x", "text/plain"):
        assert await visitor.ask("POST", "/dashboard/token", None, {"Content-Type": kind}) == 415


@pytest.mark.parametrize(("page", "field"), [("token", "csrf"), ("reports", "brand")])
async def test_a_form_with_half_a_character_is_refused(visitor: Browser, page: str, field: str) -> None:
    await visitor.sign_in()
    await visitor.ask("GET", "/dashboard/token")
    form = urlencode({"csrf": visitor.csrf(), "kind": "cohorts"}) + rf"&{field}=\ud800"
    kind = "application/x-www-form-urlencoded; charset=unicode_escape"
    assert await visitor.ask("POST", f"/dashboard/{page}", form, {"Content-Type": kind}) == 400


async def test_a_form_that_no_page_reads_is_a_page_for_a_person_and_a_document_for_a_program(
    visitor: Browser,
) -> None:
    for accept, media_type in (("text/html,*/*", "text/html"), ("*/*", "application/problem+json")):
        head = {"Content-Encoding": "gzip", "Accept": accept}
        assert await visitor.ask("POST", "/dashboard/token", {"csrf": "x"}, head) == 415
        assert visitor.last.headers["Content-Type"].startswith(media_type)
        assert "without Content-Encoding" in visitor.text


async def test_a_form_that_is_too_large_is_a_page_that_says_so(visitor: Browser) -> None:
    await visitor.sign_in()
    await visitor.ask("GET", "/dashboard/token")
    form = {"csrf": visitor.csrf(), "label": "x" * 70_000}
    for page in ("/dashboard/token", "/dashboard/watches"):
        assert await visitor.ask("POST", page, form) == 413
        assert visitor.last.headers["Content-Type"].startswith("text/html")
        assert "64 kB at most" in visitor.text


async def test_a_session_ends_by_time(settings: Settings, tmp_path: Path) -> None:
    async with running_browser(settings, tmp_path, session_seconds_max=0) as browser:
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


async def test_pages_let_no_other_host_and_no_inline_script_in(visitor: Browser) -> None:
    await visitor.sign_in()
    assert await visitor.ask("GET", "/dashboard") == 200
    policy = visitor.last.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert visitor.last.headers["Cache-Control"] == "no-store"
    assert not re.search(r"<script(?![^>]*src=)|\son[a-z]+=|style=", visitor.text)


async def test_the_store_of_sessions_holds_no_id_token_that_could_be_used(browser: Browser) -> None:
    await browser.sign_in()
    state = browser.edge.resources.state
    [name] = await state.command("KEYS", "s:*")
    # The dots make it a token: sealed bytes in base64 may have the three letters by chance.
    assert not re.search(rb"eyJ[\w-]+\.[\w-]+\.[\w-]+", await state.command("GET", name))


async def test_a_name_is_text_on_every_page(visitor: Browser) -> None:
    await visitor.sign_in()
    await visitor.create_organization('<i>Acme</i> & "co"', "free")
    for page in ("/dashboard", "/dashboard/key", "/dashboard/members"):
        assert await visitor.ask("GET", page) == 200
        assert "<i>" not in visitor.text
        assert "&lt;i&gt;Acme&lt;/i&gt; &amp; &#34;co&#34;" in visitor.text


async def test_sign_ins_of_an_address_and_forms_of_a_person_have_a_limit(settings: Settings, tmp_path: Path) -> None:
    async with running_browser(settings, tmp_path, sign_ins_per_day=2, person_calls_per_day=4) as browser:
        charges = ({"X-Charge-Id": f"{number:032x}"} for number in itertools.count())
        await browser.sign_in()  # one sign-in of the address, one call of the person
        begun = [await browser.ask("GET", "/dashboard/sign-in", head=next(charges)) for _ in range(2)]
        assert begun == [303, 429]
        assert int(browser.last.headers["Retry-After"]) >= 1
        await browser.ask("GET", "/dashboard")
        form = {"csrf": browser.csrf(), "session": "others"}
        sent = [await browser.ask("POST", "/dashboard/sessions/end", form, next(charges)) for _ in range(4)]
        assert sent == [303, 303, 303, 429]


async def test_another_organizations_objects_are_absent(browser: Browser) -> None:
    await browser.sign_in("ada")
    await browser.create_organization()
    await browser.ask("GET", "/dashboard/members")
    found = re.search(r'name="person" value="([^"]+)"', browser.text)
    assert found is not None
    other = Browser(browser.edge, browser.issuer)
    await other.sign_in("eve")
    await other.create_organization("Other")
    await other.ask("GET", "/dashboard/members")
    assert await other.ask("POST", "/dashboard/members/removals", {"csrf": other.csrf(), "person": found[1]}) == 404
    [(acme,)] = execute(browser.edge.settings, "SELECT id FROM organizations WHERE name = 'Acme'")
    for form in ({"organization": str(acme)}, {"organization": "x"}, {}):
        assert await other.ask("POST", "/dashboard/organizations/choice", {"csrf": other.csrf(), **form}) == 404, form


async def test_no_secret_appears_in_any_output(browser: Browser, capfd: pytest.CaptureFixture[str]) -> None:
    await browser.sign_in()
    await browser.create_organization()
    await browser.send("/dashboard/key")
    await browser.ask("GET", "/dashboard/key")
    [key] = re.findall(r"iixk_live_[0-9A-Za-z]{48}", browser.text)
    await browser.send("/dashboard/token")
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


# Values of the state store that are read once, while each first reply is lost after the store did its work.


class _LosesFirstReplies:
    """Passes commands on to a store, and loses its first reply to each of them."""

    def __init__(self, store: RedisClient) -> None:
        self._store = store
        self._known: set[tuple[Any, ...]] = set()

    async def command(self, *arguments: Any) -> Any:
        reply = await self._store.command(*arguments)
        if arguments in self._known:
            return reply
        self._known.add(arguments)
        raise StoreUnavailable("state")


@pytest.fixture
def sessions(browser: Browser) -> Sessions:
    store = cast(RedisClient, _LosesFirstReplies(browser.edge.resources.state))
    return Sessions(store, idle_seconds=60, seconds_max=60)


async def test_a_sign_in_is_taken_once(sessions: Sessions) -> None:
    sign_in = SignIn("nonce", "verifier", "/dashboard/token")
    await sessions.remember_sign_in("state", sign_in)
    assert await sessions.take_sign_in("state") == sign_in
    assert await sessions.take_sign_in("state") is None


async def test_a_secret_is_shown_once_and_so_is_the_next_one(sessions: Sessions) -> None:
    for _ in range(2):
        await sessions.put_flash("cookie", "key", "the same text")
        assert await sessions.take_flash("cookie", "key") == "the same text"
        assert await sessions.take_flash("cookie", "key") is None


async def test_a_notice_of_the_provider_is_remembered(sessions: Sessions) -> None:
    assert not await sessions.was_obeyed("token")
    await sessions.note_obeyed("token", 60)
    assert await sessions.was_obeyed("token")
