"""What pages say is so: limits of the plans, the header that a person can send, labels, questions before an end."""

import re

import pytest

from shared.db.connect import connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_billing import SOY, contents, member, visit

__all__ = ["contents"]
OTHER = mint("shop", "2").iid


def execute(settings: Settings, query: str, *values: object) -> None:
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        connection.execute(query, values or None)


async def test_the_limits_on_pages_are_the_plans_as_they_are(browser: Browser, settings: Settings) -> None:
    execute(settings, "UPDATE plans SET daily_units = 77 WHERE name = 'free'")
    execute(settings, "UPDATE plans SET daily_units = 61234 WHERE name = 'brand'")
    browser.edge.resources.credentials.invalidate()
    await browser.sign_in()
    for page, text in (
        ("", "77 units a day"),
        ("/token", "77 units a day"),
        ("/organizations/new", "61,234 units a day"),
    ):
        assert await browser.ask("GET", f"/dashboard{page}") == 200
        assert text in browser.text, page


async def test_curl_shows_the_header_that_the_person_can_send(browser: Browser) -> None:
    await browser.sign_in()
    await visit(browser, f"/dashboard/explorer/{SOY}")
    assert "X-Service-Public-Token: $ITEMINDEX_TOKEN" in browser.text and "ApiKey" not in browser.text
    await member(browser)
    await visit(browser, f"/dashboard/explorer/{SOY}")
    assert "Authorization: ApiKey $ITEMINDEX_KEY" in browser.text and "ITEM_INDEX_KEY" not in browser.text


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


@pytest.mark.parametrize(
    ("page", "answers"),
    [
        ("/dashboard/token", ("Yes, replace it", "Yes, revoke it")),
        ("/dashboard/members", ("Yes, leave",)),
        ("/dashboard/key", ("Yes, stop all calls",)),
    ],
)
async def test_an_act_that_cannot_be_undone_asks_first(browser: Browser, page: str, answers: tuple[str, ...]) -> None:
    await member(browser)
    for making in ("/dashboard/token", "/dashboard/key"):
        await browser.ask("GET", making)
        await browser.ask("POST", making, {"csrf": browser.csrf(), "once": browser.once()})
    await browser.ask("GET", page)
    for answer in answers:
        assert answer in browser.text


async def test_text_between_backticks_is_code_in_faults_and_problems(browser: Browser) -> None:
    await member(browser)
    await browser.ask("GET", "/dashboard/watches/new")
    form = {"csrf": browser.csrf(), "once": browser.once(), "condition": "below", "target": "brand", "code": "vita"}
    assert await browser.ask("POST", "/dashboard/watches", form) == 400
    main = browser.text.split("<main")[1]
    assert "<code>condition</code>" in main and "`" not in main
    assert await browser.ask("GET", "/dashboard/reports/price?kind=cohorts&brand=none") == 200
    assert "is not a known brand" in browser.text and "`" not in browser.text


async def test_the_audit_log_is_narrowed_to_an_act_an_actor_and_a_day(browser: Browser, settings: Settings) -> None:
    await member(browser)
    for _ in range(2):
        await browser.ask("GET", "/dashboard/key")
        path = "/dashboard/key/rotation" if "Rotate" in browser.text else "/dashboard/key"
        form = {"csrf": browser.csrf(), "once": browser.once(), "grace": "none"}
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
