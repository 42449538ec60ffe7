"""New secrets in the dashboard: made once, shown once, whatever is reloaded, sent twice or sent again."""

import asyncio
import re
from dataclasses import replace

import pytest

from shared.db.connect import connect
from tests.service.dashboard.browser import Browser

SECRETS = r"(?:iixk_live_|iixp_free_)[0-9A-Za-z]{48}|/dashboard/invitation#[A-Za-z0-9_-]{43}"
FORMS = {
    "/dashboard/key": ("/dashboard/key", {}),
    "/dashboard/key/rotation": ("/dashboard/key", {"grace": "1h"}),
    "/dashboard/token": ("/dashboard/token", {}),
    "/dashboard/members/invitations": ("/dashboard/members", {"email": "bob@example.org", "role": "viewer"}),
}


async def _prepared(browser: Browser, path: str) -> tuple[str, dict[str, str]]:
    await browser.sign_in()
    await browser.ask("GET", "/dashboard/organizations/new")
    form = {"csrf": browser.csrf(), "name": "Acme", "plan": "brand"}
    assert await browser.ask("POST", "/dashboard/organizations", form) == 303
    if path == "/dashboard/key/rotation":
        await browser.ask("GET", "/dashboard/key")
        await browser.ask("POST", "/dashboard/key", {"csrf": browser.csrf(), "once": browser.once()})
        await browser.ask("GET", "/dashboard/key")
    page, more = FORMS[path]
    await browser.ask("GET", page)
    return page, {"csrf": browser.csrf(), "once": browser.once(), **more}


def _done(browser: Browser) -> int:
    query = "SELECT (SELECT count(*) FROM api_keys) + (SELECT count(*) FROM public_tokens) + (SELECT count(*) FROM invitations)"
    with connect(browser.edge.settings.database_url, application="tests") as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize("path", FORMS)
async def test_a_secret_is_shown_once_after_a_redirect_and_a_reload_repeats_nothing(
    browser: Browser, path: str
) -> None:
    page, form = await _prepared(browser, path)
    before = _done(browser)
    assert await browser.ask("POST", path, form) == 303
    assert browser.last.headers["Location"] == page
    assert re.findall(SECRETS, browser.text) == []
    assert await browser.ask("GET", page) == 200
    assert len(set(re.findall(SECRETS, browser.text))) == 1
    assert browser.last.headers["Cache-Control"] == "no-store"
    assert await browser.ask("GET", page) == 200
    assert re.findall(SECRETS, browser.text) == []
    assert await browser.ask("POST", path, form) == 303
    assert await browser.ask("GET", page) == 200
    assert re.findall(SECRETS, browser.text) == []
    assert _done(browser) == before + 1


@pytest.mark.parametrize("path", FORMS)
async def test_a_form_that_is_sent_twice_at_once_is_one_act(browser: Browser, path: str) -> None:
    page, form = await _prepared(browser, path)
    before = _done(browser)
    twins = [replace(browser, cookies=dict(browser.cookies)) for _ in range(6)]
    assert set(await asyncio.gather(*(twin.ask("POST", path, form) for twin in twins))) == {303}
    assert _done(browser) == before + 1
    await browser.ask("GET", page)
    assert len(set(re.findall(SECRETS, browser.text))) == 1


async def test_a_one_time_secret_is_of_no_use_to_another_session_or_the_store(browser: Browser) -> None:
    page, form = await _prepared(browser, "/dashboard/key")
    await browser.ask("POST", "/dashboard/key", form)
    state = browser.edge.resources.state
    kept = [await state.command("GET", name) for name in await state.command("KEYS", "fl:*")]
    assert len(kept) == 1 and b"iixk_" not in kept[0]
    other = Browser(browser.edge, browser.issuer)
    await other.sign_in()
    await other.ask("GET", page)
    assert re.findall(SECRETS, other.text) == []


async def test_a_form_without_its_id_or_changed_after_it_was_sent_does_nothing(browser: Browser) -> None:
    _, form = await _prepared(browser, "/dashboard/key/rotation")
    before = _done(browser)
    assert await browser.ask("POST", "/dashboard/key/rotation", {**form, "once": ""}) == 400
    assert await browser.ask("POST", "/dashboard/key/rotation", form) == 303
    assert await browser.ask("POST", "/dashboard/key/rotation", {**form, "grace": "24h"}) == 409
    assert _done(browser) == before + 1
