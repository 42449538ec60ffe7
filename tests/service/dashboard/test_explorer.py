"""The explorer: what is typed costs nothing, what is entered or opened does; pages; problems of a part of a page."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_billing import MERGED, SOY, contents, member, used, used_by, visit
from tests.support.client import running_edge
from tests.support.issuer import running_issuer

__all__ = ["contents"]
PART = {"HX-Request": "true", "HX-Current-URL": "http://testserver/dashboard/explorer?q=soy+milk"}


async def test_typing_costs_nothing_and_entering_costs_one_unit(browser: Browser) -> None:
    await browser.sign_in()
    for typed in ("s", "so", "soy"):
        assert await visit(browser, f"/dashboard/explorer/suggestions?q={typed}") == 200
    assert "/dashboard/explorer/IID-" in browser.text
    assert await used(browser) == 0
    assert await visit(browser, "/dashboard/explorer?q=soy") == 200
    assert await used(browser) == 1


async def test_suggestions_count_against_the_persons_own_limit(settings: Settings, tmp_path: Path) -> None:
    async with running_issuer() as issuer:
        bounded = replace(settings, oidc_issuer=issuer.url, person_calls_per_day=3)
        async with running_edge(bounded, tmp_path) as edge:
            browser = Browser(edge, issuer)
            await browser.sign_in()  # counts as one
            page = "/dashboard/explorer/suggestions?q=soy"
            assert 429 not in [await visit(browser, page) for _ in range(2)]
            assert await visit(browser, page) == 429


async def test_a_page_of_results_that_is_not_of_this_search_is_refused(browser: Browser) -> None:
    await browser.sign_in()
    assert await visit(browser, "/dashboard/explorer?q=soy&after=AAAA") == 400
    assert await used(browser) == 0


async def test_a_part_of_a_page_that_fails_is_a_sentence_and_not_a_page(browser: Browser) -> None:
    await browser.sign_in()
    assert await browser.ask("GET", "/dashboard/explorer/IID-0/history", head=PART) == 403
    assert "<html" not in browser.text and 'role="alert"' in browser.text
    assert await browser.ask("GET", "/dashboard/explorer/IID-0/history") == 403
    assert "<html" in browser.text


async def test_an_ended_session_takes_the_whole_page_to_sign_in_and_back_to_its_query(browser: Browser) -> None:
    assert await browser.ask("GET", "/dashboard/explorer/suggestions?q=s", head=PART) == 204
    location = browser.last.headers["HX-Redirect"]
    assert location == "/dashboard/sign-in?next=%2Fdashboard%2Fexplorer%3Fq%3Dsoy%2Bmilk"
    await browser.sign_in(query=location.removeprefix("/dashboard/sign-in"))
    assert browser.last.headers["Location"] == "/dashboard/explorer?q=soy+milk"


@pytest.mark.parametrize(
    "away", ["https://evil.example/dashboard", "//evil.example/dashboard?q=1", "javascript:alert(1)"]
)
async def test_the_address_that_a_part_names_leads_nowhere_else(browser: Browser, away: str) -> None:
    await browser.ask("GET", "/dashboard/explorer/suggestions?q=s", head={**PART, "HX-Current-URL": away})
    location = browser.last.headers["HX-Redirect"]
    await browser.sign_in(query=location.removeprefix("/dashboard/sign-in"))
    assert re.fullmatch(r"/dashboard(\?q=1)?", browser.last.headers["Location"])


async def test_a_record_says_what_its_history_costs_and_loads_it_on_demand(browser: Browser) -> None:
    organization = await member(browser)
    await visit(browser, "/dashboard/explorer/suggestions?q=soy")
    found = re.search(r"/dashboard/explorer/(IID-[0-9A-Z-]+)", browser.text)
    assert found is not None
    assert await visit(browser, found[0]) == 200
    assert 'hx-trigger="load"' not in browser.text and "costs 4 units" in browser.text
    plan = await browser.edge.resources.credentials.plan("brand")
    assert (await browser.edge.resources.limiter.usage(f"org:{organization}", plan)).used_day == 1


async def test_the_history_of_an_item_that_is_merged_meanwhile_leads_to_that_of_the_survivor(
    browser: Browser, settings: Settings
) -> None:
    organization = await member(browser)
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", (SOY, MERGED))
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
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", (SOY, MERGED))
    assert await visit(browser, f"/dashboard/explorer/{MERGED}") == 301
    assert browser.last.headers["Location"] == f"/dashboard/explorer/{SOY}"
    assert browser.last.headers["Cache-Control"] == "no-store"
