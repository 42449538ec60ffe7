"""Pages cost what the API's calls cost: counted where those are counted, refunded where those are."""

import itertools

import pytest

from edge.quota import unmetered_limits
from edge.quota.unmetered_limits import burst_of
from shared.index.iid import mint
from shared.organizations.accounts import Plan
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.support.accounts import api_key
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import open_shop
from tests.support.workers import settle_refunds

SOY, MERGED, WITHDRAWN = (mint("shop", name).iid for name in ("1", "2", "3"))
_CHARGES = itertools.count(1)


@pytest.fixture(scope="module")
def contents() -> Contents:
    return open_shop


async def visit(browser: Browser, path: str) -> int:
    return await browser.ask("GET", path, head={"X-Charge-Id": f"{next(_CHARGES):032x}"})


async def used(browser: Browser) -> int:
    resources = browser.edge.resources
    plan = await resources.credentials.plan("free")
    return (await resources.limiter.usage(f"ip:{browser.address}", plan)).used_day


async def member(browser: Browser) -> str:
    """Sign in and create an organization; return its id."""
    await browser.sign_in()
    await browser.create_organization()
    [(organization,)] = execute(browser.edge.settings, "SELECT id::text FROM organizations ORDER BY id DESC LIMIT 1")
    return str(organization)


async def used_by(browser: Browser, organization: str) -> int:
    resources = browser.edge.resources
    return (await resources.limiter.usage(f"org:{organization}", await resources.credentials.plan("brand"))).used_day


async def order(browser: Browser, brand: str = "vita", **fields: str) -> int:
    """Send the report builder's form."""
    await browser.ask("GET", "/dashboard/reports")
    form = {"csrf": browser.csrf(), "kind": "cohorts", "brand": brand, **fields}
    head = {"X-Charge-Id": f"{next(_CHARGES):032x}"}
    return await browser.ask("POST", "/dashboard/reports", form, head=head)


async def test_records_and_searches_are_counted_as_the_api_counts_them(browser: Browser, settings: Settings) -> None:
    await browser.sign_in()
    execute(settings, "UPDATE items SET status = 'merged', survivor_iid = $1 WHERE iid = $2", SOY, MERGED)
    execute(settings, "UPDATE items SET status = 'withdrawn' WHERE iid = $1", WITHDRAWN)
    assert await visit(browser, f"/dashboard/explorer/{SOY}") == 200
    assert "RateLimit" not in browser.last.headers
    assert await used(browser) == 1
    assert await visit(browser, "/dashboard/explorer?q=soy") == 200
    assert await used(browser) == 2
    assert await visit(browser, "/dashboard/explorer") == 200
    assert await visit(browser, f"/dashboard/explorer/{MERGED}") == 301
    assert await visit(browser, f"/dashboard/explorer/{WITHDRAWN}") == 410
    assert await used(browser) == 2
    assert await visit(browser, f"/dashboard/explorer?q={MERGED}") == 200
    assert f'<a href="/dashboard/explorer/{MERGED}">' in browser.text, (
        "a merged IID that is searched leads to its survivor"
    )
    assert await used(browser) == 3
    assert await visit(browser, f"/dashboard/explorer/{mint('shop', 'none').iid}") == 404
    assert await used(browser) == 4


async def test_a_report_of_the_builder_is_charged_once_and_an_equal_one_costs_nothing(browser: Browser) -> None:
    organization = await member(browser)
    assert await order(browser) == 303
    first = browser.last.headers["Location"]
    assert await used_by(browser, organization) == 10
    assert await order(browser) == 303
    assert browser.last.headers["Location"] == first
    assert await used_by(browser, organization) == 10


async def test_what_an_order_cost_is_given_back_where_it_was_counted(browser: Browser, settings: Settings) -> None:
    await member(browser)
    key = api_key(settings)
    assert await order(browser) == 303
    assert (
        await browser.edge.get("/index/cohorts?brand=vita", key=key, head={"Prefer": "respond-async"})
    ).status == 202
    execute(settings, "UPDATE jobs SET state = 'failed'")
    assert settle_refunds(settings) == 2
    await browser.edge.resources.usage.flush()
    charged = "SELECT endpoint, sum(units)::int, max(units) FROM usage GROUP BY endpoint HAVING max(units) > 0"
    assert sorted(execute(settings, charged)) == [("cohorts", 0, 10), ("dashboard-reports", 0, 10)]


async def test_a_report_that_finds_no_room_in_the_queue_costs_nothing(browser: Browser, settings: Settings) -> None:
    organization = await member(browser)
    execute(settings, "UPDATE plans SET jobs_queued = 1 WHERE name = 'brand'")
    browser.edge.forget_accounts()
    assert await order(browser) == 303
    assert await order(browser, "maison") == 429
    assert browser.last.headers["Retry-After"]
    assert await used_by(browser, organization) == 10


async def test_a_preview_counts_as_a_call_that_costs_nothing(
    browser: Browser, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await member(browser)
    execute(settings, "UPDATE organizations SET plan = 'institutional'")
    browser.edge.forget_accounts()
    plan = burst_of(await browser.edge.resources.credentials.plan("institutional"))
    none = Plan(**{name: getattr(plan, name) for name in Plan.__slots__} | {"burst_units": 0})
    path = "/dashboard/exports/preview?dataset=observations&columns=iid&format=csv"
    assert await visit(browser, path) == 200 and "calls without units" not in browser.text
    monkeypatch.setattr(unmetered_limits, "burst_of", lambda plan: none)
    shown = []
    for _ in range(5):  # the first call of a second is always allowed
        assert await visit(browser, path) in (200, 429)
        shown.append(browser.text)
    assert any("calls without units a second" in text for text in shown)
