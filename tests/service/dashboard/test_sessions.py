"""Sessions of the dashboard: how long they last, their forms, their limits, and what stays secret."""

import itertools
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest

from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.support.client import running_edge
from tests.support.issuer import running_issuer


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


@pytest.mark.parametrize(("page", "field"), [("token", "csrf"), ("reports", "brand")])
async def test_a_form_with_half_a_character_is_refused(browser: Browser, page: str, field: str) -> None:
    await browser.sign_in()
    await browser.ask("GET", "/dashboard/token")
    form = urlencode({"csrf": browser.csrf(), "kind": "cohorts"}) + rf"&{field}=\ud800"
    kind = "application/x-www-form-urlencoded; charset=unicode_escape"
    assert await browser.ask("POST", f"/dashboard/{page}", form, {"Content-Type": kind}) == 400


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


async def test_a_form_that_is_too_large_is_a_page_that_says_so(browser: Browser) -> None:
    await browser.sign_in()
    await browser.ask("GET", "/dashboard/token")
    form = {"csrf": browser.csrf(), "label": "x" * 70_000}
    for page in ("/dashboard/token", "/dashboard/watches"):
        assert await browser.ask("POST", page, form) == 413
        assert browser.last.headers["Content-Type"].startswith("text/html")
        assert "64 kB at most" in browser.text


async def test_a_form_that_no_page_reads_is_a_page_for_a_person_and_a_document_for_a_program(browser: Browser) -> None:
    await browser.sign_in()
    for accept, media_type in (("text/html,*/*", "text/html"), ("*/*", "application/problem+json")):
        head = {"Content-Encoding": "gzip", "Accept": accept}
        assert await browser.ask("POST", "/dashboard/token", {"csrf": "x"}, head) == 415
        assert browser.last.headers["Content-Type"].startswith(media_type)
        assert "must come without Content-Encoding" in browser.text
