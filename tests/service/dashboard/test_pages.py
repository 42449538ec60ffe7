"""What pages say is so: limits of the plans, the header that a person can send, labels, questions before an end."""

import re

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_billing import SOY, contents, member, visit
from tests.support.database import execute

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
    assert '<p class="figure">0.7 <span class="dim">kg CO₂e</span></p>' in browser.text
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
