"""Pages of the dashboard: forms, the explorer, results, new secrets, and what they cost."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser, running_browser
from tests.service.dashboard.test_billing import MERGED, SOY, contents, member, order, used, used_by, visit
from tests.support.database import execute

# What pages say is so: limits of the plans, the header that a person can send, labels, questions before an end.


__all__ = ["contents"]

OTHER = mint("shop", "2").iid


async def test_the_limits_on_pages_are_the_plans_as_they_are(browser: Browser, settings: Settings) -> None:
    execute(settings, "UPDATE plans SET daily_units = 77 WHERE name = 'free'")
    execute(settings, "UPDATE plans SET daily_units = 61234 WHERE name = 'brand'")
    browser.edge.forget_accounts()
    await browser.sign_in()
    for page, text in (
        ("", "77 units a day"),
        ("/token", "77 units a day"),
        ("/organizations/new", "61,234 units a day"),
    ):
        assert await browser.ask("GET", f"/dashboard{page}") == 200
        assert text in browser.text, page


async def test_curl_shows_the_header_that_the_person_can_send(visitor: Browser) -> None:
    await visitor.sign_in()
    await visit(visitor, f"/dashboard/explorer/{SOY}")
    assert "X-Service-Public-Token: $ITEMINDEX_TOKEN" in visitor.text and "ApiKey" not in visitor.text
    await member(visitor)
    await visit(visitor, f"/dashboard/explorer/{SOY}")
    assert "Authorization: ApiKey $ITEMINDEX_KEY" in visitor.text and "ITEM_INDEX_KEY" not in visitor.text


async def test_a_record_names_each_figure_of_its_footprint_and_its_detail_leaves_the_unknown_out(
    browser: Browser, settings: Settings
) -> None:
    execute(
        settings,
        "INSERT INTO impacts SELECT i.id, 'co2e_kg', 0.7, 'measured', 'weighed', s.id, '2026-01-01' FROM items i, sources s "
        "WHERE i.iid = $1",
        SOY,
    )
    await member(browser)
    await visit(browser, f"/dashboard/explorer/{SOY}")
    assert re.search(r"<dt>kg CO₂e</dt><dd>0\.7", browser.text)
    assert re.search(r'<circle[^>]* r="5"', browser.text), "a price that varies has its band"
    await visit(browser, f"/dashboard/explorer/{SOY}/history")
    indicators = re.findall(r'<th scope="row">([^<]*)</th><td>kg', browser.text)
    assert indicators == ["Greenhouse gas emissions"]
    assert "<title>Soy milk" in browser.text
    await visit(browser, f"/dashboard/explorer/{OTHER}/history")
    assert "No source has a footprint for this item" in browser.text


async def test_a_person_who_leaves_confirms_first_and_is_then_welcomed(browser: Browser, settings: Settings) -> None:
    organization = await member(browser)
    other = Browser(browser.edge, browser.issuer)
    await other.sign_in("bob")
    add = (
        "INSERT INTO members (organization_id, person_id, role) SELECT $1, id, 'member' FROM people WHERE name = 'Bob'"
    )
    execute(settings, add, organization)
    browser.edge.resources.users.invalidate()
    await other.ask("GET", "/dashboard/members")
    assert "Yes, leave" in other.text and "You need a new invitation to rejoin" in other.text
    person = re.search(r'name="person" value="([^"]+)"', other.text.split("Yes, leave")[0].rsplit("<form", 1)[1])
    assert person is not None
    form = {"csrf": other.csrf(), "person": person[1]}
    assert await other.ask("POST", "/dashboard/members/removals", form) == 303
    assert await other.ask("GET", other.last.headers["Location"]) == 200
    assert "Welcome, Bob" in other.text


async def test_the_audit_log_is_narrowed_to_an_act_an_actor_and_a_day(browser: Browser, settings: Settings) -> None:
    await member(browser)
    for _ in range(2):
        await browser.ask("GET", "/dashboard/key")
        path = "/dashboard/key/rotation" if "Rotate" in browser.text else "/dashboard/key"
        form = browser.form(grace="none")
        assert await browser.ask("POST", path, form) == 303

    async def acts(query: str) -> list[str]:
        assert await browser.ask("GET", f"/dashboard/audit?{query}") == 200
        return re.findall(r'<td title="([^"]+)">', browser.text)

    everything = await acts("")
    assert everything == ["key.rotated", "key.issued", "plan.changed", "organization.created"]
    assert await acts("act=key.rotated") == ["key.rotated"]
    assert '<option value="key.rotated" selected>Key rotated' in browser.text
    assert await acts("person=Ada") == everything
    assert await acts("person=Bob") == [] and "No entries match these filters" in browser.text
    assert await acts("act=key.rotated&day=2020-01-01") == []
    for nonsense in ("day=2020-13-01", "before=x"):
        assert await browser.ask("GET", f"/dashboard/audit?{nonsense}") == 400


async def test_a_page_of_the_audit_log_keeps_its_choice(browser: Browser, settings: Settings) -> None:
    organization = await member(browser)
    execute(
        settings,
        "INSERT INTO audit (organization_id, actor, act) SELECT $1, 'key x&y', 'watch.created' FROM generate_series(1, 101)",
        organization,
    )
    await browser.ask("GET", "/dashboard/audit?act=watch.created&person=key+x%26y")
    older = re.search(r'href="(/dashboard/audit\?[^"]+)"[^>]*>Older', browser.text)
    assert older is not None
    await browser.ask("GET", older[1].replace("&amp;", "&"))
    assert re.findall(r'<td title="([^"]+)">', browser.text) == ["watch.created"]
    assert '<option value="key x&amp;y" selected>' in browser.text


# The explorer: what is typed costs nothing, what is entered or opened does; pages; problems of a part of a page.


PART = {"HX-Request": "true"}


async def test_typing_costs_nothing_and_entering_costs_one_unit(visitor: Browser) -> None:
    await visitor.sign_in()
    for typed in ("s", "so", "soy"):
        assert await visit(visitor, f"/dashboard/explorer/suggestions?q={typed}") == 200
    assert "/dashboard/explorer/IID-" in visitor.text
    assert await used(visitor) == 0
    assert await visit(visitor, "/dashboard/explorer?q=soy") == 200
    assert await used(visitor) == 1


async def test_a_part_of_a_page_that_fails_is_a_sentence_and_not_a_page(visitor: Browser) -> None:
    await visitor.sign_in()
    assert await visitor.ask("GET", "/dashboard/explorer/IID-0/history", head=PART) == 403
    assert "<html" not in visitor.text and 'role="alert"' in visitor.text
    assert await visitor.ask("GET", "/dashboard/explorer/IID-0/history") == 403
    assert "<html" in visitor.text


async def test_suggestions_count_against_the_persons_own_limit(settings: Settings, tmp_path: Path) -> None:
    async with running_browser(settings, tmp_path, person_calls_per_day=3) as browser:
        await browser.sign_in()  # counts as one
        page = "/dashboard/explorer/suggestions?q=soy"
        assert 429 not in [await visit(browser, page) for _ in range(2)]
        assert await visit(browser, page) == 429


async def test_suggestions_of_free_accounts_are_as_few_as_their_address_may_have_however_many_sign_up(
    browser: Browser, settings: Settings
) -> None:
    execute(settings, "UPDATE plans SET daily_units = 2 WHERE name = 'free'")
    browser.edge.forget_accounts()
    people = [Browser(browser.edge, browser.issuer, address="198.51.100.4") for _ in range(3)]
    for who, person in zip(("ada", "grace", "hedy"), people, strict=True):
        await person.sign_in(who)
    pages = ("/dashboard/explorer/suggestions?q=soy", "/dashboard/completions/brand?brand=v")
    answers = [await visit(person, page) for page in pages for person in people]
    assert answers == [200] * 4 + [429] * 2  # twice as many as the plan has units
    assert "Daily limit of 4 suggestions reached; it resets at" in people[2].text
    elsewhere = Browser(browser.edge, browser.issuer, dict(people[0].cookies), address="198.51.100.5")
    assert await visit(elsewhere, pages[0]) == 200
    assert await visit(people[0], "/dashboard/explorer?q=soy") == 200  # a search costs a unit, and has its own limit
    await people[0].create_organization()
    assert [await visit(people[0], page) for page in pages * 4] == [200] * 8


async def test_a_page_of_results_that_is_not_of_this_search_is_refused(visitor: Browser) -> None:
    await visitor.sign_in()
    assert await visit(visitor, "/dashboard/explorer?q=soy&after=AAAA") == 400
    assert await used(visitor) == 0


async def test_a_session_that_ends_in_the_middle_leaves_what_was_typed_where_it_is(visitor: Browser) -> None:
    for asked in (
        ("GET", "/dashboard/reports/preview?brand=s", None, PART),
        ("POST", "/dashboard/watches", {"csrf": "x"}),
    ):
        assert await visitor.ask(*asked) == 403
        assert "HX-Redirect" not in visitor.last.headers
        assert 'href="/dashboard/sign-in" target="_blank"' in visitor.text


async def test_a_record_says_what_its_history_costs_and_loads_it_on_demand(visitor: Browser) -> None:
    organization = await member(visitor)
    await visit(visitor, "/dashboard/explorer/suggestions?q=soy")
    found = re.search(r"/dashboard/explorer/(IID-[0-9A-Z-]+)", visitor.text)
    assert found is not None
    assert await visit(visitor, found[0]) == 200
    assert 'hx-trigger="load"' not in visitor.text and "costs 4 units" in visitor.text
    plan = await visitor.edge.resources.credentials.plan("brand")
    assert (await visitor.edge.resources.limiter.usage(f"org:{organization}", plan)).used_day == 1


async def test_the_history_of_an_item_that_is_merged_meanwhile_leads_to_that_of_the_survivor(
    browser: Browser, settings: Settings
) -> None:
    organization = await member(browser)
    execute(settings, "UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", SOY, MERGED)
    page, survivor = f"/dashboard/explorer/{MERGED}/history", f"/dashboard/explorer/{SOY}/history"
    assert await visit(browser, page) == 301
    assert browser.last.headers["Location"] == survivor
    assert browser.last.headers["Cache-Control"] == "no-store"
    assert await browser.ask("GET", page, head={**PART, "X-Charge-Id": "a" * 32}) == 204
    assert browser.last.headers["HX-Redirect"] == survivor
    assert await used_by(browser, organization) == 0
    assert await visit(browser, survivor) == 200
    assert SOY in browser.text


async def test_no_browser_keeps_the_redirection_of_a_merge_that_can_be_undone(
    browser: Browser, settings: Settings
) -> None:
    await browser.sign_in()
    execute(settings, "UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", SOY, MERGED)
    assert await visit(browser, f"/dashboard/explorer/{MERGED}") == 301
    assert browser.last.headers["Location"] == f"/dashboard/explorer/{SOY}"
    assert browser.last.headers["Cache-Control"] == "no-store"


# Forms: faults stand beside their fields, typed values are kept, completion, and no question but the one typed.


def fault(browser: Browser, name: str) -> str:
    found = re.search(rf'id="fault-{name}"[^>]*>(.*?)</p>', browser.text)
    assert found is not None, name
    return found[1]


async def test_a_field_of_another_report_is_refused_and_nothing_is_charged(visitor: Browser) -> None:
    organization = await member(visitor)
    await visitor.ask("GET", "/dashboard/reports?kind=brand-insights&brand=vita")
    assert "no field brand" in visitor.text and 'name="brand"' not in visitor.text
    form = {"csrf": visitor.csrf(), "kind": "brand-insights", "brand": "vita"}
    assert await visitor.ask("POST", "/dashboard/reports", form) == 400
    assert "no field brand" in fault(visitor, "form")
    await visitor.ask("GET", "/dashboard/reports/preview?kind=brand-insights&brand=vita")
    assert "data-cost" not in visitor.text and "no field brand" in visitor.text
    assert await used_by(visitor, organization) == 0


async def test_a_report_that_is_not_valid_is_shown_again_with_what_was_typed(visitor: Browser) -> None:
    organization = await member(visitor)
    await visitor.ask("GET", "/dashboard/reports?kind=cohorts")
    form = {
        "csrf": visitor.csrf(),
        "kind": "cohorts",
        "brand": 'no"such',
        "currency": "hk",
        "from": "2026-07-01",
    }
    assert await visitor.ask("POST", "/dashboard/reports", form) == 400
    assert "three-letter currency code" in fault(visitor, "currency")
    assert 'value="no&#34;such"' in visitor.text and 'value="2026-07-01"' in visitor.text
    assert await visitor.ask("POST", "/dashboard/reports", {**form, "currency": "", "brand": "none"}) == 400
    assert "is not a known brand; type its first letters to see suggestions" in fault(visitor, "brand")
    assert await used_by(visitor, organization) == 0


async def test_a_link_with_a_choice_that_a_form_lacks_says_so(visitor: Browser) -> None:
    await member(visitor)
    await visit(visitor, "/dashboard/reports?kind=cohorts&granularity=year&currency=")
    assert fault(visitor, "granularity") == "<code>year</code> is not a choice here; choose another"
    await visit(visitor, "/dashboard/reports?kind=cohorts&granularity=week")
    assert fault(visitor, "granularity") == ""
    assert '<option value="week" selected>' in visitor.text


async def test_the_last_owner_cannot_leave_and_is_told_so(visitor: Browser) -> None:
    await member(visitor)
    await visitor.ask("GET", "/dashboard/members")
    assert visitor.text.count("Yes, leave") == 1
    person = re.search(r'name="person" value="([^"]+)"', visitor.text)
    assert person is not None
    form = {"csrf": visitor.csrf(), "person": person[1]}
    assert await visitor.ask("POST", "/dashboard/members/removals", form) == 409
    assert "The last owner cannot leave; make another member an owner first." in visitor.text


async def test_a_job_is_named_by_its_question(visitor: Browser) -> None:
    await member(visitor)
    assert await order(visitor, "vita") == 303
    job = visitor.last.headers["Location"]
    await visitor.ask("GET", "/dashboard/jobs")
    assert re.search(r"Cohort.*?<td>Vita</td>", visitor.text, re.DOTALL)
    await visitor.ask("GET", job)
    assert "<h1>Cohort: Vita</h1>" in visitor.text
    await visitor.ask("POST", f"{job}/cancel", {"csrf": visitor.csrf()})
    await visitor.ask("GET", job)
    assert visitor.text.lower().count("nothing was charged") == 1


async def test_an_address_with_a_nul_is_refused_as_a_page(visitor: Browser) -> None:
    await member(visitor)
    for page in (
        "/audit?act=%00",
        "/reports/preview?kind=brand-insights&slug=%00",
        "/explorer?q=%00",
        "/completions/brand?q=%00",
    ):
        assert await visitor.ask("GET", f"/dashboard{page}") == 400, page
        assert "This address" in visitor.text, page


@pytest.mark.parametrize(
    ("asked", "option"),
    [("brand?brand=vi", "vita"), ("brand?brand=maison,+vi", "maison, vita")],
)
async def test_a_field_is_completed_and_earlier_values_are_kept(visitor: Browser, asked: str, option: str) -> None:
    await member(visitor)
    assert await visit(visitor, f"/dashboard/completions/{asked}") == 200
    assert option.lower() in visitor.text.lower()


async def test_the_price_puts_each_fault_beside_its_field_and_clears_the_others(visitor: Browser) -> None:
    await member(visitor)
    await visitor.ask("GET", "/dashboard/reports/preview?kind=cohorts&brand=none")
    assert "is not a known brand" in fault(visitor, "brand") and fault(visitor, "channel") == ""
    await visitor.ask("GET", "/dashboard/reports/preview?kind=cohorts")
    assert fault(visitor, "brand") == "" and "Choose a brand" in visitor.text


async def test_an_unknown_table_of_rates_is_named_beside_its_field(visitor: Browser) -> None:
    await member(visitor)
    await visitor.ask("GET", "/dashboard/reports?kind=cohorts")
    form = visitor.form(kind="cohorts", brand="vita", convert="usd", rates="none")
    for asked in (("POST", "/dashboard/reports", form), ("GET", f"/dashboard/reports/preview?{urlencode(form)}")):
        await visitor.ask(*asked)
        assert "is not a known table of exchange rates" in fault(visitor, "rates"), asked[0]


async def test_an_organization_that_cannot_be_made_leaves_the_form_as_it_was_filled_in(browser: Browser) -> None:
    await browser.sign_in()
    page = "/dashboard/organizations"
    for plan, name, text in (("", "plan", "Choose a plan."), ("nope", "form", "There is no such plan")):
        await browser.ask("GET", f"{page}/new")
        assert await browser.ask("POST", page, browser.form(name="Kept", plan=plan)) == 400
        assert text in fault(browser, name) and 'value="Kept"' in browser.text
    assert execute(browser.edge.settings, "SELECT FROM organizations") == []


async def test_the_faults_of_an_exports_filter_stand_beside_their_fields(browser: Browser, settings: Settings) -> None:
    await member(browser)
    execute(settings, "UPDATE organizations SET plan = 'institutional'")
    browser.edge.forget_accounts()
    browser.edge.resources.users.invalidate()
    for query, name, text in (
        ("columns=iid&from=2026-07-02&to=2026-07-01", "to", "must not be before"),
        ("columns=iid&from=01.07.2026", "from", "YYYY-MM-DD"),
        ("columns=iid&brand=vita,none,nope", "brand", "nope</code> is not a known brand"),
        ("columns=iid&brand=vita,none,nope", "brand", "none</code> is not a known brand"),
        ("format=csv", "columns", "Choose at least one column."),
        ("columns=iid&format=xls", "format", "must be one of"),
    ):
        await browser.ask("GET", f"/dashboard/exports/preview?dataset=observations&{query}")
        assert text in fault(browser, name), query


async def test_what_was_typed_for_an_export_is_kept_for_another_dataset(visitor: Browser, settings: Settings) -> None:
    await member(visitor)
    await visitor.ask("GET", "/dashboard/exports/new?dataset=observations&brand=vita&channel=NORTH")
    items = re.search(r'href="(/dashboard/exports/new\?dataset=items[^"]*)"', visitor.text)
    assert items is not None
    await visitor.ask("GET", items[1].replace("&amp;", "&"))
    assert 'name="brand" value="vita"' in visitor.text and "has no field channel" in visitor.text


async def test_text_between_backticks_is_code_in_faults_and_problems(visitor: Browser) -> None:
    await member(visitor)
    await visitor.ask("GET", "/dashboard/watches/new")
    form = visitor.form(condition="below", target="brand", code="vita")
    assert await visitor.ask("POST", "/dashboard/watches", form) == 400
    main = visitor.text.split("<main")[1]
    assert "<code>condition</code>" in main and "`" not in main
    assert await visitor.ask("GET", "/dashboard/reports/preview?kind=cohorts&brand=none") == 200
    assert "is not a known brand" in visitor.text and "`" not in visitor.text


# New secrets in the dashboard: made once, shown once, whatever is reloaded, sent twice or sent again.


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
