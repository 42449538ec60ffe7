"""The explorer: what is typed costs a tenth of what is entered or opened; pages; problems of a part of a page."""

import re
from pathlib import Path

from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser, running_browser
from tests.service.dashboard.test_billing import MERGED, SOY, contents, member, used, used_by, visit
from tests.support.database import execute

__all__ = ["contents"]

PART = {"HX-Request": "true"}


async def test_typing_costs_a_unit_for_ten_suggestions_and_entering_one_unit(visitor: Browser) -> None:
    await visitor.sign_in()
    for typed in ("s", "so", "soy"):
        assert await visit(visitor, f"/dashboard/explorer/suggestions?q={typed}") == 200
    assert "/dashboard/explorer/IID-" in visitor.text
    assert await used(visitor) == 1
    assert await visit(visitor, "/dashboard/explorer?q=soy") == 200
    assert await used(visitor) == 2


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


async def test_suggestions_of_free_accounts_cost_units_of_their_address_however_many_sign_up(
    browser: Browser, settings: Settings
) -> None:
    execute(settings, "UPDATE plans SET daily_units = 2 WHERE name = 'free'")
    browser.edge.forget_accounts()
    people = [Browser(browser.edge, browser.issuer, address="198.51.100.4") for _ in range(3)]
    for who, person in zip(("ada", "grace", "hedy"), people, strict=True):
        await person.sign_in(who)
    pages = ("/dashboard/explorer/suggestions?q=soy", "/dashboard/completions/brand?brand=v")
    answers = [await visit(person, page) for page in pages * 4 for person in people]
    assert answers == [200] * 20 + [429] * 4  # ten times as many as the plan has units
    assert "Daily limit of 20 suggestions reached; it resets at" in people[2].text
    elsewhere = Browser(browser.edge, browser.issuer, dict(people[0].cookies), address="198.51.100.5")
    assert await visit(elsewhere, pages[0]) == 200
    assert await visit(people[0], "/dashboard/explorer?q=soy") == 429  # a search costs a unit of the same address
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


async def test_suggestions_lead_to_pages_and_to_the_documentation_too(visitor: Browser) -> None:
    await visitor.sign_in()
    assert await visit(visitor, "/dashboard/explorer/suggestions?q=brands%20%3Cb%3E") == 200
    assert "<b>" not in visitor.text
    assert "/v1/docs/search?q=brands%20%3Cb%3E" in visitor.text
    assert await visit(visitor, "/dashboard/explorer/suggestions?q=public%20tok") == 200
    assert '<a href="/dashboard/token">Public token' in visitor.text
    assert "/dashboard/operator" not in visitor.text
