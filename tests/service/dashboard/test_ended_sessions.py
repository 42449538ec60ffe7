"""Sessions are listed and ended: by the person, by an operator, by the identity provider, and at the provider too."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner

from deploy.ctl.people import people as command
from edge.auth.id_token import InvalidToken
from edge.auth.logout_token import check_logout_claims
from edge.dashboard.sessions import IdToken, Sessions
from tests.service.dashboard.browser import Browser
from tests.support.issuer import CLIENT
from tests.support.outages import refusing


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
