"""An operator drops a file in the dashboard, sees what would be loaded, and loads it."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.support.shop import HEADER, MAPPING, ROWS

pytestmark = pytest.mark.xdist_group("browser")


def test_a_file_is_uploaded_previewed_loaded_and_undone(member: Visitor, tmp_path: Path) -> None:
    page = member.page
    # Larger than any other form that the proxy lets through.
    more = "".join(f"n{number},Note {number},Pad,Paper,Note,,2026-07-01,NORTH,1.50,\n" for number in range(3_000))
    (tmp_path / "browser-prices.csv").write_text(HEADER + ROWS + more)
    text = MAPPING.replace('source = "shop"', 'source = "browser_upload"')
    member.go("/dashboard")
    page.get_by_role("link", name="Loads & feeds", exact=True).click()
    member.check_accessibility()
    page.set_input_files("#file", tmp_path / "browser-prices.csv")
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/dashboard/data/*")
    expect(page.locator("#column-0")).to_be_visible()  # the page follows the work by itself
    page.get_by_text("The mapping as text, for experts").click()
    page.fill("#mapping", text)
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.locator("[data-state=previewed]")).to_be_visible()
    expect(page.get_by_role("heading", name="What a load would do")).to_be_visible()
    expect(page.get_by_role("region", name="Items")).to_contain_text("Soy milk 1L")
    member.check_every_form("upload")
    page.get_by_role("button", name="Load", exact=True).click()
    expect(page.locator("[data-state=loaded]")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the mapping").click()
    assert download.value.suggested_filename == "browser-prices.toml"
    assert download.value.path().read_text() == text
    page.get_by_text("Undo this load").click()
    page.get_by_role("button", name="Yes, undo it").click()
    expect(page.locator("[data-state=undone]")).to_be_visible()
    assert member.faults == []


def test_doubts_are_decided_by_a_click(member: Visitor, tmp_path: Path) -> None:
    page = member.page
    rows = "1,Soap,2.50,03/04/2026,N,Home / Soap\n2,Candle,3.50,05/04/2026,N,Home / Candle\n"
    (tmp_path / "doubtful.csv").write_text(f"id,name,price,date,shop,category\n{rows}")
    member.go("/dashboard/data")
    page.set_input_files("#file", tmp_path / "doubtful.csv")
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/dashboard/data/*")
    expect(page.locator("[data-state=refused]")).to_be_visible()
    member.shoot("upload-doubts")
    member.check_accessibility()
    member.check_width()
    member.hold_dark_phone()
    member.shoot("upload-doubts-dark-phone")
    member.check_accessibility()
    member.check_width()
    member.hold_wide_light()
    page.get_by_label("Home > Soap").check()
    page.get_by_label('"03/04/2026" is 2026-04-03').check()
    page.get_by_label("all prices are in EUR").check()
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.locator("[data-state=previewed]")).to_be_visible()
    expect(page.get_by_role("region", name="Prices")).to_contain_text("3 Apr 2026")
    expect(page.get_by_role("region", name="Items")).to_contain_text("home.soap")
    expect(page.get_by_role("radio")).to_have_count(0)
    member.check_accessibility()
    assert member.faults == []
