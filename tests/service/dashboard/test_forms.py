"""Forms: faults stand beside their fields, typed values are kept, completion, and no question but the one typed."""

import re
from urllib.parse import urlencode

import pytest

from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_billing import contents, member, order, used_by, visit
from tests.support.database import execute

__all__ = ["contents"]


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
    assert re.search(r"What does it cost\?.*?<td>Vita</td>", visitor.text, re.DOTALL)
    await visitor.ask("GET", job)
    assert '<h1>What does it cost?</h1>\n<p class="lead">Vita</p>' in visitor.text
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
