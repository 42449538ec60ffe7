"""Forms: faults stand beside their fields, typed values are kept, completion, and no question but the one typed."""

import re

import pytest

from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_billing import contents, member, order, used_by, visit

__all__ = ["contents"]


def fault(browser: Browser, name: str) -> str:
    found = re.search(rf'id="fault-{name}"[^>]*>([^<]*)<', browser.text)
    assert found is not None, name
    return found[1]


async def test_a_field_of_another_report_is_refused_and_nothing_is_charged(browser: Browser) -> None:
    organization = await member(browser)
    await browser.ask("GET", "/dashboard/reports?kind=brand-insights&brand=vita")
    assert "no field brand" in browser.text and 'name="brand"' not in browser.text
    form = {"csrf": browser.csrf(), "kind": "brand-insights", "brand": "vita"}
    assert await browser.ask("POST", "/dashboard/reports", form) == 400
    assert "no field brand" in fault(browser, "form")
    await browser.ask("GET", "/dashboard/reports/price?kind=brand-insights&brand=vita")
    assert "data-cost" not in browser.text and "no field brand" in browser.text
    assert await used_by(browser, organization) == 0


async def test_a_report_that_is_not_valid_is_shown_again_with_what_was_typed(browser: Browser) -> None:
    organization = await member(browser)
    await browser.ask("GET", "/dashboard/reports?kind=cohorts")
    form = {"csrf": browser.csrf(), "kind": "cohorts", "brand": 'no"such', "currency": "hkd", "from": "2026-07-01"}
    assert await browser.ask("POST", "/dashboard/reports", form) == 400
    assert "three letters" in fault(browser, "currency")
    assert 'value="no&#34;such"' in browser.text and 'value="2026-07-01"' in browser.text
    assert await browser.ask("POST", "/dashboard/reports", {**form, "currency": "", "brand": "none"}) == 400
    assert "is not a known brand" in fault(browser, "brand")
    assert await used_by(browser, organization) == 0


async def test_the_price_puts_each_fault_beside_its_field_and_clears_the_others(browser: Browser) -> None:
    await member(browser)
    await browser.ask("GET", "/dashboard/reports/price?kind=cohorts&brand=none")
    assert "is not a known brand" in fault(browser, "brand") and fault(browser, "channel") == ""
    await browser.ask("GET", "/dashboard/reports/price?kind=cohorts")
    assert fault(browser, "brand") == "" and "Choose a brand" in browser.text


async def test_an_organization_without_a_name_is_asked_again_with_the_plan_kept(browser: Browser) -> None:
    await browser.sign_in()
    await browser.ask("GET", "/dashboard/organizations/new")
    form = {"csrf": browser.csrf(), "name": " ", "plan": "brand"}
    assert await browser.ask("POST", "/dashboard/organizations", form) == 400
    assert "1 to 200" in fault(browser, "name")
    assert re.search(r'value="brand" checked', browser.text)


async def test_an_invitation_without_an_address_is_asked_again_with_the_role_kept(browser: Browser) -> None:
    await member(browser)
    await browser.ask("GET", "/dashboard/members")
    form = {"csrf": browser.csrf(), "once": browser.once(), "email": "bob", "role": "viewer"}
    assert await browser.ask("POST", "/dashboard/members/invitations", form) == 400
    assert "email address" in fault(browser, "email")
    assert 'value="bob"' in browser.text and "<option selected>viewer" in browser.text


@pytest.mark.parametrize(
    ("asked", "option"),
    [("brand?brand=vi", "vita"), ("brand?brand=maison,+vi", "maison, vita")],
)
async def test_a_field_is_completed_and_earlier_values_are_kept(browser: Browser, asked: str, option: str) -> None:
    await member(browser)
    assert await visit(browser, f"/dashboard/completions/{asked}") == 200
    assert option.lower() in browser.text.lower()


async def test_a_person_who_leaves_is_welcomed_and_shown_no_error(browser: Browser) -> None:
    await member(browser)
    await browser.ask("GET", "/dashboard/members")
    assert browser.text.count("Yes, leave") == 1
    person = re.search(r'name="person" value="([^"]+)"', browser.text)
    assert person is not None
    form = {"csrf": browser.csrf(), "person": person[1]}
    assert await browser.ask("POST", "/dashboard/members/removals", form) == 409  # the last owner cannot leave
    assert "This changed in the meantime" in browser.text or "last owner" in browser.text


async def test_a_job_is_named_by_its_question(browser: Browser) -> None:
    await member(browser)
    assert await order(browser, "vita") == 303
    job = browser.last.headers["Location"]
    await browser.ask("GET", "/dashboard/jobs")
    assert re.search(r"Cohort.*?<td>Vita</td>", browser.text, re.DOTALL)
    await browser.ask("GET", job)
    assert "<h1>Cohort: Vita</h1>" in browser.text
    await browser.ask("POST", f"{job}/cancel", {"csrf": browser.csrf()})
    await browser.ask("GET", job)
    assert browser.text.lower().count("nothing was charged") == 1


@pytest.mark.parametrize(
    "page",
    ["/audit?act=%00", "/reports/price?kind=brand-insights&slug=%00", "/explorer?q=%00", "/completions/brand?q=%00"],
)
async def test_an_address_with_a_nul_is_refused_as_a_page(browser: Browser, page: str) -> None:
    await member(browser)
    assert await browser.ask("GET", f"/dashboard{page}") == 400
    assert "This address" in browser.text
