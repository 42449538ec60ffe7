"""Prices of a category or brand as a file: by name, with brand and category, what a shop asks now, and its cost."""

import csv
import io
import re

import pytest
from openpyxl import load_workbook

from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_billing import SOY, contents, member, used_by, visit
from tests.support.database import execute

__all__ = ["contents"]
DRINKS = "/dashboard/categories/drinks"


async def workbook(browser: Browser, path: str) -> tuple[list[dict[str, object]], list[str]]:
    """Return the rows of a workbook by their headings, and the lines of its second sheet."""
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    headers = {"X-Real-IP": browser.address, "Cookie": cookies}
    async with browser.edge.session.get(f"http://testserver{path}", headers=headers) as answer:
        assert answer.status == 200
        book = load_workbook(io.BytesIO(await answer.read()))
    heads, *rows = book["Rows"].iter_rows(values_only=True)
    return (
        [dict(zip(map(str, heads), row, strict=True)) for row in rows],
        [str(line[0]) for line in book["About"].iter_rows(values_only=True)],
    )


async def test_prices_of_a_category_are_a_workbook_with_names_in_two_clicks(browser: Browser) -> None:
    organization = await member(browser)
    assert await visit(browser, DRINKS) == 200
    before = await used_by(browser, organization)
    [link] = re.findall(rf'href="({DRINKS}/prices/xlsx)" download>Prices as Excel<', browser.text)
    rows, about = await workbook(browser, link)
    soy = [row for row in rows if row["IID"] == SOY]
    assert {(row["Shop"], row["Price"], row["Currency"], str(row["Day of the price"])[:10]) for row in soy} == {
        ("SOUTH", 9, "HKD", "2026-07-02"),
        ("NORTH", 11.5, "HKD", "2026-07-02"),
    }
    assert all(row["Item"] and row["Brand"] == "Vita" and "›" in str(row["Category"]) for row in soy)
    assert about[0].startswith("Prices of ") and any("CC0-1.0" in line for line in about), "the sources' terms"
    assert await used_by(browser, organization) == before + 1, "as the page of results that shows its items"
    assert await visit(browser, f"{DRINKS}/prices/csv") == 200
    assert 'filename="drinks-prices-2026-07.csv"' in browser.last.headers["Content-Disposition"]
    assert "Item,Brand,Category" in browser.text


async def test_a_brand_has_such_a_file_and_an_unknown_one_or_kind_has_none_and_costs_nothing(browser: Browser) -> None:
    organization = await member(browser)
    rows, _ = await workbook(browser, "/dashboard/brands/vita/prices/xlsx")
    assert {row["Brand"] for row in rows} == {"Vita"}
    before = await used_by(browser, organization)
    for path in (f"{DRINKS}/prices/exe", "/dashboard/categories/nothing/prices/xlsx"):
        assert await visit(browser, path) == 404
    assert await used_by(browser, organization) == before


async def test_an_item_without_a_price_has_a_row_and_a_hostile_name_stays_text(
    browser: Browser, settings: Settings
) -> None:
    await member(browser)
    execute(settings, "UPDATE observations SET outlier = 'o'")
    execute(settings, "UPDATE items SET name = '=1+1' WHERE iid = $1", SOY)
    assert await visit(browser, f"{DRINKS}/prices/csv") == 200
    rows = [row for row in csv.DictReader(io.StringIO(browser.text.lstrip("\ufeff"))) if row["IID"] == SOY]
    assert [(row["Item"], row["Shop"], row["Price"]) for row in rows] == [("'=1+1", "", "")]


@pytest.mark.parametrize("path", [f"{DRINKS}/prices/xlsx", "/dashboard/brands/vita/prices/csv"])
async def test_a_plan_without_it_says_so_before_and_after_the_click(browser: Browser, path: str) -> None:
    await browser.sign_in()
    assert await visit(browser, path.rpartition("/prices")[0]) == 200
    assert "part of the Brand plan" in browser.text and "/prices/" not in browser.text
    assert await visit(browser, path) == 403
