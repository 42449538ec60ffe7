"""Explore: what a shop asks now, what it is for a litre, filters with counts, and every thing a link."""

import asyncio
import re
from pathlib import Path
from urllib.parse import quote

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser, running_browser
from tests.service.dashboard.test_billing import MERGED, SOY, contents, used, visit
from tests.support.database import execute
from tests.support.shop import MAPPING, load_rows, undone
from workers.search.job import make_index

__all__ = ["contents"]
ITEM = f"/dashboard/explorer/{SOY}"


def shops(text: str) -> list[tuple[str, str, str]]:
    """Return the rows of the table of prices: shop, price, and price of a litre or kilogram."""
    found = re.findall(
        r'<th scope="row"><bdi>([^<]*)</bdi></th><td class="number"><strong>([^<]*)</strong></td>'
        r'<td class="number">([^<]*)</td>',
        text,
    )
    return [(shop, price, unit) for shop, price, unit in found]


async def test_an_item_shows_the_newest_price_of_each_shop_the_cheapest_first(visitor: Browser) -> None:
    await visitor.sign_in()
    assert await visit(visitor, ITEM) == 200
    assert shops(visitor.text) == [("SOUTH", "9.00 HKD", "9.00"), ("NORTH", "11.50 HKD", "11.50")]
    assert '<span class="day warn">2 Jul 2026</span>' in visitor.text, "a price that is months old says so"
    assert "The newest price is of 2 Jul 2026." in visitor.text
    assert 'href="/dashboard/brands/vita"' in visitor.text and 'href="/dashboard/categories/drinks' in visitor.text


async def test_an_outlier_is_not_what_a_shop_asks(browser: Browser, settings: Settings) -> None:
    await browser.sign_in()
    execute(settings, "UPDATE observations SET outlier = 'o' WHERE price_minor = 1150")
    await visit(browser, ITEM)
    assert ("NORTH", "10.90 HKD", "10.90") in shops(browser.text), "the price before it, of the same shop"


async def test_results_have_size_price_shop_and_filters_with_counts(visitor: Browser) -> None:
    await visitor.sign_in()
    assert await visit(visitor, "/dashboard/explorer?q=soy") == 200
    line = re.search(rf'href="{ITEM}".*?</li>', visitor.text, re.DOTALL)
    assert line is not None
    for part in ("1 l", "9.00 HKD", "<bdi>SOUTH</bdi> and 1 more"):
        assert part in line[0], part
    assert re.search(r'href="/dashboard/explorer\?q=soy&amp;channel=NORTH"[^>]*><bdi>NORTH</bdi></a>', visitor.text)


async def test_hits_are_shown_without_their_prices_while_these_cannot_be_read(
    browser: Browser, settings: Settings
) -> None:
    await browser.sign_in()
    with connect(settings.database_url, application="test") as locking, locking.transaction():
        locking.execute("LOCK TABLE channels IN ACCESS EXCLUSIVE MODE")
        assert await visit(browser, "/dashboard/explorer?q=soy") == 200
        assert f'href="{ITEM}"' in browser.text and "prices are unavailable for a moment" in browser.text
        assert "no price seen" not in browser.text, "nothing is said of a price that was not looked up"
    assert await visit(browser, "/dashboard/explorer?q=soy") == 200
    assert "9.00 HKD" in browser.text and "unavailable" not in browser.text


async def test_a_filter_and_bounds_of_the_price_narrow_and_can_be_taken_away(visitor: Browser) -> None:
    await visitor.sign_in()
    assert await visit(visitor, "/dashboard/explorer?q=soy&channel=NORTH") == 200
    assert "1 item for" in visitor.text and re.search(
        r'href="/dashboard/explorer\?q=soy"[^>]*aria-current', visitor.text
    )
    for bounds, found in (("price_max=9", 1), ("price_min=9", 1), ("price_min=11&price_max=10", 1)):
        assert await visit(visitor, f"/dashboard/explorer?q=soy&{bounds}") == 200
        assert f"{found} item for" in visitor.text, bounds
        assert 'name="currency" value="HKD"' in visitor.text, "the currency of most prices, where none is given"
    assert await visit(visitor, "/dashboard/explorer?q=soy&brand=no-such") == 200
    assert "Nothing found for" in visitor.text
    before = await used(visitor)
    assert await visit(visitor, "/dashboard/explorer?q=soy&price_max=cheap") == 400
    assert await used(visitor) == before, "a page that fails costs nothing"


async def test_brands_and_categories_are_pages_with_their_items_and_days(visitor: Browser) -> None:
    await visitor.sign_in()
    assert await visit(visitor, "/dashboard/brands/vita") == 200
    assert "<h1><bdi>Vita</bdi></h1>" in visitor.text and "prices of 1 to 2 Jul 2026" in visitor.text
    assert f'href="{ITEM}"' in visitor.text
    assert 'href="/dashboard/questions?question=change&amp;what=brand:vita"' in visitor.text
    assert await visit(visitor, "/dashboard/categories/drinks") == 200
    assert "prices of 1 to 2 Jul 2026" in visitor.text, "those of the categories below it"
    assert 'href="/dashboard/categories/drinks.soy-milk"' in visitor.text
    for address in ("/dashboard/brands", "/dashboard/brands?q=mai", "/dashboard/categories"):
        assert await visit(visitor, address) == 200
    assert await visit(visitor, "/dashboard/categories/nothing") == 404


async def test_hostile_names_stay_text_on_every_page_of_the_index(browser: Browser, settings: Settings) -> None:
    hostile = '"><img src=x onerror=alert(1)>'
    execute(settings, "UPDATE items SET name = $1 WHERE iid = $2", hostile, MERGED)
    execute(settings, "UPDATE brands SET name = $1 WHERE slug = 'vita'", hostile)
    execute(settings, "UPDATE channels SET code = $1 WHERE code = 'SOUTH'", hostile)
    await browser.sign_in()
    pages = (
        f"/dashboard/explorer/{MERGED}",
        "/dashboard/explorer?q=soy",
        "/dashboard/brands/vita",
        "/dashboard/brands",
    )
    for page in pages:
        assert await visit(browser, page) == 200
        assert "<img src=x" not in browser.text, page
        assert "&lt;img" in browser.text, page


async def test_items_of_an_undone_load_are_not_shown_while_the_search_index_still_has_them(
    settings: Settings, tmp_path: Path
) -> None:
    gone = "".join(f"g{number},Ghost milk {number},,,,,2026-07-01,NORTH,1,\n" for number in range(45))
    async with running_browser(settings, tmp_path, public_pages_a_day=1_000) as browser:
        await asyncio.to_thread(load_rows, settings, tmp_path, gone, text=MAPPING.replace('"shop"', '"ghosts"'))
        await asyncio.to_thread(make_index, settings.worker_database_url, settings.search_dir)
        assert await shows(browser, "ghost", "45 items for")
        await asyncio.to_thread(undone, settings)
        assert await shows(browser, "ghost", "Nothing found for")
        assert await shows(browser, "ghost soy", f'href="/items/{SOY}"'), "what is left is on a later page of the index"
        assert "Ghost" not in browser.text


async def shows(browser: Browser, q: str, text: str) -> bool:
    """Return whether the public search shows a text once the edge has heard of the newest data."""
    for _ in range(100):
        assert await visit(browser, f"/search?q={quote(q)}") == 200
        if text in browser.text:
            return True
        await asyncio.sleep(0.2)
    return False
