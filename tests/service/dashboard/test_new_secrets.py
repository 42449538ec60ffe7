"""New secrets in the dashboard: made once, shown once, whatever is reloaded, sent twice or sent again."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser, running_browser
from tests.service.dashboard.test_billing import SOY, contents, member, order, visit
from tests.support.database import execute

__all__ = ["contents"]

SECRETS = r"(?:iixk_live_|iixp_free_)[0-9A-Za-z]{48}|/dashboard/invitation#[A-Za-z0-9_-]{43}|whsec_[A-Za-z0-9+/]{43}="

FORMS = {
    "/dashboard/key": ("/dashboard/key", {}),
    "/dashboard/key/rotation": ("/dashboard/key", {"grace": "1h"}),
    "/dashboard/token": ("/dashboard/token", {}),
    "/dashboard/members/invitations": ("/dashboard/members", {"email": "bob@example.org", "role": "viewer"}),
}


async def _prepared(browser: Browser, path: str) -> tuple[str, dict[str, str]]:
    await browser.sign_in()
    await browser.create_organization()
    if path == "/dashboard/key/rotation":
        await browser.send("/dashboard/key")
        await browser.ask("GET", "/dashboard/key")
    page, more = FORMS[path]
    await browser.ask("GET", page)
    return page, browser.form(**more)


def _done(browser: Browser) -> int:
    query = "SELECT (SELECT count(*) FROM api_keys) + (SELECT count(*) FROM public_tokens) + (SELECT count(*) FROM invitations)"
    [(done,)] = execute(browser.edge.settings, query)
    return int(done)


@pytest.mark.parametrize("path", FORMS)
async def test_a_secret_is_shown_once_after_a_redirect_and_a_reload_repeats_nothing(
    visitor: Browser, path: str
) -> None:
    page, form = await _prepared(visitor, path)
    before = _done(visitor)
    assert await visitor.ask("POST", path, form) == 303
    assert visitor.last.headers["Location"] == page
    assert re.findall(SECRETS, visitor.text) == []
    assert await visitor.ask("GET", page) == 200
    assert len(set(re.findall(SECRETS, visitor.text))) == 1
    assert visitor.last.headers["Cache-Control"] == "no-store"
    assert await visitor.ask("GET", page) == 200
    assert re.findall(SECRETS, visitor.text) == []
    assert await visitor.ask("POST", path, form) == 303
    assert await visitor.ask("GET", page) == 200
    assert re.findall(SECRETS, visitor.text) == []
    assert _done(visitor) == before + 1


@pytest.mark.parametrize("path", FORMS)
async def test_a_form_that_is_sent_twice_at_once_is_one_act(visitor: Browser, path: str) -> None:
    page, form = await _prepared(visitor, path)
    before = _done(visitor)
    twins = [replace(visitor, cookies=dict(visitor.cookies)) for _ in range(6)]
    assert set(await asyncio.gather(*(twin.ask("POST", path, form) for twin in twins))) == {303}
    assert _done(visitor) == before + 1
    await visitor.ask("GET", page)
    assert len(set(re.findall(SECRETS, visitor.text))) == 1


async def test_a_secret_whose_act_did_not_commit_is_not_shown(browser: Browser, settings: Settings) -> None:
    await member(browser)
    execute(
        settings,
        "CREATE FUNCTION cut_off() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'cut off' USING ERRCODE = '57P01'; END $$",
    )
    at_commit = "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cut_off()"
    webhook = ("/dashboard/webhooks", {"url": "https://example.org/hook"})
    for path, table in (
        ("/dashboard/key", "api_keys"),
        ("/dashboard/token", "public_tokens"),
        ("/dashboard/members/invitations", "invitations"),
        ("/dashboard/webhooks", "webhook_endpoints"),
    ):
        page, more = FORMS.get(path, webhook)
        await browser.ask("GET", page)
        form = browser.form(**more)
        execute(settings, f"CREATE CONSTRAINT TRIGGER cut_off AFTER INSERT ON {table} {at_commit}")
        assert await browser.ask("POST", path, form) == 503, path
        assert await browser.ask("GET", page) == 200
        assert re.findall(SECRETS, browser.text) == [], path
        execute(settings, f"DROP TRIGGER cut_off ON {table}")
        assert await browser.ask("POST", path, form) == 303
        assert await browser.ask("GET", page) == 200
        assert len(set(re.findall(SECRETS, browser.text))) == 1, path


async def test_an_organization_is_created_and_an_invitation_accepted_once_however_often_the_form_is_sent(
    browser: Browser,
) -> None:
    async def twice(visitor: Browser, page: str, form: dict[str, str]) -> None:
        await visitor.ask("GET", page)
        form = visitor.form(**form)
        twins = [replace(visitor, cookies=dict(visitor.cookies)) for _ in range(4)]
        path = page.removesuffix("/new")
        assert set(await asyncio.gather(*(twin.ask("POST", path, form) for twin in twins))) == {303}
        assert len({twin.last.headers["Location"] for twin in twins}) == 1

    await browser.sign_in()
    await twice(browser, "/dashboard/organizations/new", {"name": "Acme", "plan": "brand"})
    assert execute(browser.edge.settings, "SELECT count(*) FROM organizations") == [(1,)]
    await browser.ask("GET", "/dashboard/members")
    form = browser.form(email="bob@example.org", role="viewer")
    assert await browser.ask("POST", "/dashboard/members/invitations", form) == 303
    await browser.ask("GET", "/dashboard/members")
    [secret] = set(re.findall(r"/dashboard/invitation#([A-Za-z0-9_-]{43})", browser.text))
    invited = Browser(browser.edge, browser.issuer)
    await invited.sign_in("bob")
    await twice(invited, "/dashboard/invitation", {"secret": secret})
    await invited.ask("GET", "/dashboard")
    assert "Acme" in invited.text


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


async def test_a_form_without_its_id_or_changed_after_it_was_sent_does_nothing(visitor: Browser) -> None:
    _, form = await _prepared(visitor, "/dashboard/key/rotation")
    before = _done(visitor)
    assert await visitor.ask("POST", "/dashboard/key/rotation", {**form, "once": ""}) == 400
    assert await visitor.ask("POST", "/dashboard/key/rotation", form) == 303
    assert await visitor.ask("POST", "/dashboard/key/rotation", {**form, "grace": "24h"}) == 409
    assert _done(visitor) == before + 1


async def test_a_form_acts_on_no_organization_but_the_one_that_its_page_shows(visitor: Browser) -> None:
    acme = await member(visitor)
    await visitor.send("/dashboard/key")
    await visitor.ask("GET", "/dashboard/key")
    of_acme = visitor.csrf()
    form = visitor.form(csrf=of_acme, name="Other", plan="brand")
    assert await visitor.ask("POST", "/dashboard/organizations", form) == 303, "it names no organization"
    await visitor.send("/dashboard/key")
    for path in ("/key/revocation", "/key/rotation", "/members/invitations", "/reports"):
        assert await visitor.ask("POST", f"/dashboard{path}", {"csrf": of_acme, "grace": "none"}) == 409, path
        assert "You now work in Other. Open this page again." in visitor.text
    await visitor.ask("GET", "/dashboard/key")
    assert "/dashboard/key/revocation" in visitor.text, "the key of the other organization still works"
    back = {"csrf": of_acme, "organization": acme}
    assert await visitor.ask("POST", "/dashboard/organizations/choice", back) == 303
    assert await visitor.ask("POST", "/dashboard/key/revocation", {"csrf": of_acme}) == 303
    await visitor.ask("GET", "/dashboard/key")
    assert "/dashboard/key/revocation" not in visitor.text
    assert await visitor.ask("POST", "/dashboard/sign-out", {"csrf": of_acme}) == 303


async def test_an_invitation_opened_before_the_sign_in_keeps_its_fragment_on_a_page_of_ours(
    visitor: Browser,
) -> None:
    assert await visitor.ask("GET", "/dashboard/invitation") == 200
    assert 'href="/dashboard/sign-in?next=/dashboard/invitation"' in visitor.text and "Join" not in visitor.text
    await visitor.sign_in(query="?next=/dashboard/invitation")
    assert visitor.last.headers["Location"] == "/dashboard/invitation"
    await visitor.ask("GET", "/dashboard/invitation")
    assert "Join organization" in visitor.text


async def test_a_job_and_an_export_can_be_cancelled_by_a_member_and_not_by_a_viewer(
    browser: Browser, settings: Settings
) -> None:
    await member(browser)
    execute(settings, "UPDATE organizations SET plan = 'institutional'")
    browser.edge.forget_accounts()
    browser.edge.resources.users.invalidate()
    assert await order(browser) == 303
    pages = [browser.last.headers["Location"]]
    await browser.ask("GET", "/dashboard/exports/new?dataset=brands")
    [once] = re.findall(r'name="once" value="([^"]+)"', browser.text)
    columns = {"columns": re.findall(r'name="columns" value="([^"]+)"', browser.text)[0]}
    form = {"csrf": browser.csrf(), "once": once, "dataset": "brands", "format": "csv", **columns}
    assert await browser.ask("POST", "/dashboard/exports", form) == 303, browser.text
    pages.append(browser.last.headers["Location"])
    for role, offered in (("member", True), ("viewer", False)):
        execute(settings, f"UPDATE members SET role = '{role}'")
        browser.edge.resources.users.invalidate()
        for page in pages:
            await browser.ask("GET", page)
            assert (">Cancel</button>" in browser.text) == offered, (role, page)


async def test_a_viewer_of_an_organization_whose_plan_suffices_reads_that_the_role_is_why(
    browser: Browser, settings: Settings
) -> None:
    await member(browser)
    execute(settings, "UPDATE organizations SET plan = 'institutional'")
    execute(settings, "UPDATE members SET role = 'viewer'")
    browser.edge.forget_accounts()
    browser.edge.resources.users.invalidate()
    assert await order(browser) == 403
    assert "Your role (viewer) has read-only access here" in browser.text
    for page in (f"/explorer/{SOY}", "/datasets", "/connect", "/exports", "/reports"):
        await visit(browser, f"/dashboard{page}")
        main = browser.text.split("<main")[1]
        assert "Your role (viewer) has read-only access here" in main, page
        assert not re.search("on the (Brand|Institutional) plan|of the Institutional plan|Not included in", main), page
        assert "Run report" not in main, page


async def test_an_owner_requests_a_higher_plan_on_the_overview(settings: Settings, tmp_path: Path) -> None:
    async with running_browser(settings, tmp_path, plan_approval="manual") as browser:
        await browser.sign_in()
        await browser.create_organization(plan="free")
        assert await browser.send("/dashboard", "/dashboard/plan", plan="nosuch") == 409
        assert await browser.send("/dashboard", "/dashboard/plan", plan="brand") == 303
        await visit(browser, "/dashboard")
        assert "The Brand plan is awaiting our approval." in browser.text and "Request plan" not in browser.text
        assert execute(settings, "SELECT plan FROM plan_requests") == [("brand",)]
        execute(settings, "DELETE FROM plan_requests")
        execute(settings, "UPDATE members SET role = 'member'")
        assert await browser.send("/dashboard", "/dashboard/plan", plan="brand") == 403
        assert "Request plan" not in browser.text
        assert execute(settings, "SELECT plan FROM plan_requests") == []
