"""The page of a report that has run, the pages of its rows, the request log, and pages in an outage."""

import asyncio
import re
from uuid import UUID

import pytest

from edge.http.answered_call import AnsweredCall
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_billing import member, order
from tests.support.database import execute
from tests.support.outages import refusing
from tests.support.reports import queued
from tests.support.servers import Contents
from tests.support.shop import load_rows
from tests.support.workers import run


@pytest.fixture
def contents() -> Contents:
    return load_rows


async def ran(browser: Browser, settings: Settings) -> str:
    """Order a report, have it made, and return the address of its page."""
    await member(browser)
    assert await order(browser, "vita") == 303
    job = str(browser.last.headers["Location"])
    for queued_job in await asyncio.to_thread(queued, settings):
        assert await asyncio.to_thread(run, settings, queued_job) == "succeeded"
    assert await browser.ask("GET", job) == 200
    return job


async def test_a_report_is_answered_first_in_a_sentence_and_each_row_has_a_page(
    browser: Browser, settings: Settings
) -> None:
    job = await ran(browser, settings)
    answer, plot = browser.text.index('class="answered"'), browser.text.index("<figure")
    assert answer < plot < browser.text.index("<h2>Rows</h2>")
    assert re.search(r'<strong class="figure">HKD [0-9.]+</strong> is Vita’s median price', browser.text)
    assert len(re.findall(r"<th scope=\"col\" class=\"\w+\">", browser.text)) <= 8
    assert "Median, HKD" in browser.text
    assert await browser.ask("GET", f"{job}/rows/1") == 200
    assert "Standard deviation, HKD" in browser.text and "Row 1 of 1" in browser.text
    assert await browser.ask("GET", f"/dashboard/jobs/{UUID(int=0)}") == 404
    assert "There is no such job in your organization.<" in browser.text, "no advice to call the API"
    for row in ("2", "0", "x", "9" * 30):
        assert await browser.ask("GET", f"{job}/rows/{row}") == 404


async def test_members_of_a_suspended_organization_read_no_result(browser: Browser, settings: Settings) -> None:
    job = await ran(browser, settings)
    execute(settings, "UPDATE organizations SET state = 'suspended'")
    browser.edge.resources.users.invalidate()
    for page in (job, f"{job}/state", f"{job}/rows/1", f"{job}/result"):
        assert await browser.ask("GET", page) == 403
        assert "This organization is suspended." in browser.text
    assert await browser.ask("GET", "/dashboard/jobs") == 200


async def test_a_report_of_nothing_says_that_nothing_was_charged(browser: Browser, settings: Settings) -> None:
    await member(browser)
    assert await order(browser, "vita", **{"from": "2030-01-01"}) == 303
    job = str(browser.last.headers["Location"])
    [queued_job] = await asyncio.to_thread(queued, settings)
    assert await asyncio.to_thread(run, settings, queued_job) == "succeeded"
    assert await browser.ask("GET", job) == 200
    assert "Nothing was charged.</p>" in browser.text and "0 units · 0 rows" in browser.text
    assert '0 of 1 day has prices, <span class="day">1 Jan 2030</span>.' in browser.text
    assert (
        '<strong class="figure">0 prices</strong> were observed from <span class="day">1 Jan 2030</span>'
        in browser.text
    )


async def test_a_page_of_a_list_says_how_long_the_list_is(browser: Browser, settings: Settings) -> None:
    await member(browser)
    assert await order(browser, "", kind="brand-insights") == 303
    job = str(browser.last.headers["Location"])
    [queued_job] = await asyncio.to_thread(queued, settings)
    execute(settings, "UPDATE jobs SET parameters = jsonb_set(parameters, '{limit}', '1')")
    assert await asyncio.to_thread(run, settings, queued_job) == "succeeded"
    assert await browser.ask("GET", job) == 200
    assert re.search(r"1 of [2-9] brands; the API pages through the rest", browser.text)


async def test_columns_are_chosen_by_the_address_without_a_script(browser: Browser, settings: Settings) -> None:
    job = await ran(browser, settings)
    assert await browser.ask("GET", f"{job}?columns=mean&columns=stddev&columns=nosuch") == 200
    headings = re.findall(r"<th scope=\"col\" class=\"\w+\">([^<]*)</th>", browser.text)
    assert headings == ["Mean, HKD", "Standard deviation, HKD"]
    assert re.findall(r'name="columns" value="(\w+)" checked', browser.text) == ["mean", "stddev"]


async def test_requests_are_filtered_and_show_what_was_asked_and_which_problem_it_had(
    browser: Browser, settings: Settings
) -> None:
    organization = await member(browser)
    log = browser.edge.resources.request_log
    for number, (status, problem) in enumerate([(200, ""), (404, "iid-not-found"), (429, "rate-limited"), (503, "")]):
        call = AnsweredCall("lookup", status, 1, 0.001, f"{number:032x}", "GET", "/v1/index/lookup/X", problem)
        log.note(organization, "api-key:abc", call)
    search = AnsweredCall("search", 200, 1, 0.001, "f" * 32, "GET", "/v1/index/search")
    log.note(organization, "api-key:def", search)
    await log.flush()

    async def shown(query: str) -> list[str]:
        assert await browser.ask("GET", f"/dashboard/requests{query}") == 200
        return re.findall(r'<code id="call-\d+">0*([0-9f]+?)f*</code>', browser.text.replace("0" * 32, "0"))

    assert len(await shown("")) == 5
    assert '<span class="dim">GET</span> /v1/index/lookup/X' in browser.text
    assert '<a href="/v1/errors/iid-not-found">iid-not-found</a>' in browser.text
    assert await shown("?status=4xx") == ["2", "1"]
    assert await shown("?status=429&endpoint=lookup") == ["2"]
    assert await shown("?caller=Key+def") == ["f"]
    assert await shown("?request_id=ffff") == ["f"]
    assert await shown("?endpoint=search&status=5xx") == [] and "No calls match these filters" in browser.text
    assert len(await shown("?caller=%3Cscript%3E")) == 0 and "<script>" not in browser.text.split("<main")[1]


async def test_a_page_in_an_outage_keeps_the_navigation_says_what_is_down_and_reloads_itself(
    browser: Browser, settings: Settings
) -> None:
    await member(browser)
    browser.edge.resources.users.invalidate()
    with refusing(settings):
        assert await browser.ask("GET", "/dashboard/usage?days=7") == 503
        seconds = browser.last.headers["Retry-After"]
        assert f'<meta http-equiv="refresh" content="{seconds}">' in browser.text
        assert re.search(rf"The database isn(’|&#39;|')t responding\. Try again in {seconds} seconds\.", browser.text)
        assert 'href="/dashboard/usage?days=7">Retry now' in browser.text
        assert 'href="/dashboard/jobs"' in browser.text and 'aria-current="page"' in browser.text
        assert await browser.ask("GET", "/dashboard/usage", head={"HX-Request": "true"}) == 503
        assert "http-equiv" not in browser.text
        assert await browser.ask("POST", "/dashboard/token", {"csrf": "x"}) == 503
        assert "http-equiv" not in browser.text, "a form is sent again by the person alone"
    stranger = Browser(browser.edge, browser.issuer)
    assert await stranger.ask("GET", "/dashboard/usage") == 303
