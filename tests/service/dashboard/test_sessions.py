"""Sessions of the dashboard: how long they last, their forms, their limits, and what stays secret."""

import itertools
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser, running_browser
from tests.support.database import execute


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
