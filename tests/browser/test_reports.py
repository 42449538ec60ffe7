"""Searching, reports and their plots, in a real browser."""

import json
import os
import re
import signal
from contextlib import suppress

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor

pytestmark = pytest.mark.xdist_group("browser")


def test_a_report_from_its_price_to_its_pictures(member: Visitor) -> None:
    member.go("/dashboard/reports?kind=cohorts")
    member.page.locator("#brand").fill("no-such-brand")
    expect(member.page.locator("#fault-brand")).to_contain_text("is not a known brand")
    member.page.get_by_role("button", name="Run report").click()
    expect(member.page.locator("#fault-brand")).to_contain_text("is not a known brand")
    expect(member.page.locator("#brand")).to_have_value("no-such-brand")
    member.refused(400)
    member.page.locator("#brand").fill("vitas")
    expect(member.page.locator("#options-brand option[value=vitasoy]")).to_have_count(1)
    member.page.locator("#brand").fill("vitasoy")
    expect(member.page.locator("#fault-brand")).to_be_empty()
    expect(member.page.locator("#brand")).not_to_have_attribute("aria-invalid", "true")
    member.page.get_by_role("combobox", name="Periods").select_option("week")
    expect(member.page.locator("[data-cost]")).to_have_text(re.compile("10|1"))
    # Each change prices the question anew, and a price that comes after the click would close what it has opened.
    expect(member.page.locator("#preview pre")).to_contain_text("week")
    member.page.get_by_text("Show as curl").click()
    assert "/index/cohorts?" in member.page.locator("#preview pre").inner_text()
    member.shoot("reports-priced")
    member.check_accessibility()
    member.page.get_by_role("button", name="Run report").click()
    member.page.wait_for_url("**/dashboard/jobs/*")
    expect(member.page.locator("#job .done[data-state=succeeded]")).to_be_visible()
    expect(member.page.locator(".canvas canvas").first).to_be_visible()
    expect(member.page.get_by_text("Share of observations by shop")).to_be_visible()
    member.check_every_form("job-cohort")
    with member.page.expect_download() as download:
        member.page.get_by_role("link", name="JSON").click()
    assert json.loads(download.value.path().read_bytes())["meta"]["rows"] > 0
    member.go("/dashboard/jobs")
    expect(member.page.get_by_role("row", name=re.compile("What does it cost.*Vitasoy · by week"))).to_have_count(1)


def test_a_report_shows_its_own_fields_and_refuses_another_reports(member: Visitor) -> None:
    member.go("/dashboard/reports?kind=brand-insights&brand=vitasoy")
    assert member.page.locator("#brand").count() == 0
    expect(member.page.locator("#slug")).to_be_visible()
    expect(member.page.locator("main .notice").first).to_contain_text("no field brand")
    member.page.get_by_role("link", name="Price index").click()
    expect(member.page.locator("#method")).to_be_visible()
    assert member.page.locator("#slug").count() == 0


def test_typed_values_are_kept_when_another_report_is_chosen(member: Visitor) -> None:
    member.go("/dashboard/reports?kind=cohorts")
    member.page.locator("#brand").fill("vitasoy")
    member.page.locator("#from").fill("2026-07-01")
    member.page.locator("#outliers").select_option("include")
    member.page.get_by_role("link", name="Price index").click()
    expect(member.page.locator("#method")).to_be_visible()
    expect(member.page.locator("#brand")).to_have_value("vitasoy")
    expect(member.page.locator("#from")).to_have_value("2026-07-01")
    expect(member.page.locator("#outliers")).to_have_value("include")
    member.page.get_by_role("link", name=re.compile("^Brand ")).click()
    assert member.page.locator("#brand").count() == 0
    member.page.get_by_role("link", name="Price index").click()
    expect(member.page.locator("#brand")).to_have_value("vitasoy")


def test_the_progress_of_a_job_leaves_the_focus_where_it_is(member: Visitor) -> None:
    worker = member.stack.pid("worker-reports")
    os.kill(worker, signal.SIGSTOP)
    try:
        member.go("/dashboard/reports?kind=cohorts&brand=vitasoy&granularity=day&group_by=category")
        member.page.get_by_role("button", name="Run report").click()
        member.page.wait_for_url("**/dashboard/jobs/*")
        cancel = member.page.get_by_role("button", name="Cancel")
        cancel.focus()
        for _ in range(2):
            with member.page.expect_response("**/state"):
                pass
        expect(cancel).to_be_focused()
        member.shoot("job-queued")
        member.page.keyboard.press("Enter")
        expect(member.page.locator("#job .state")).to_have_text("cancelled")
    finally:
        with suppress(ProcessLookupError):  # a worker that stands still for too long is started anew
            os.kill(worker, signal.SIGCONT)
    assert member.page.locator("main").inner_text().lower().count("nothing was charged") == 1
    member.shoot("job-cancelled")
    member.check_accessibility()


def test_a_category_as_a_page(member: Visitor) -> None:
    member.go("/dashboard/reports?kind=category-insights")
    member.page.get_by_role("button", name="Run report").click()
    member.page.wait_for_url("**/dashboard/jobs/*")
    expect(member.page.locator("#job .done[data-state=succeeded]")).to_be_visible()
    expect(member.page.get_by_role("heading", name="Rows")).to_be_visible()
    member.shoot("job-category")
    member.check_accessibility()


def test_a_report_that_the_plan_does_not_include_says_so_before_anything_runs(member: Visitor) -> None:
    member.go("/dashboard/reports?kind=sustainability-rollup")
    expect(member.page.locator("main .notice")).to_contain_text("does not include")


def test_a_report_of_all_brands_shows_its_data_at_first_look(member: Visitor) -> None:
    member.go("/dashboard/reports?kind=brand-insights")
    member.page.get_by_role("button", name="Run report").click()
    member.page.wait_for_url("**/dashboard/jobs/*")
    expect(member.page.locator("#job .done[data-state=succeeded]")).to_be_visible()
    expect(member.page.locator(".answered")).to_contain_text("is the range of the median prices of 50 brands")
    rows = member.page.get_by_role("region", name="Rows of the result")
    first = rows.locator("tbody tr").first
    heights = [row["height"] for row in (first.bounding_box(), rows.locator("tbody tr").nth(1).bounding_box()) if row]
    assert all(height < 120 for height in heights), heights
    cells = first.locator("th, td")
    expect(cells).to_have_count(8)
    tops = cells.evaluate_all("cells => cells.map((cell) => getComputedStyle(cell).verticalAlign)")
    assert set(tops) == {"top"}
    member.check_accessibility()
    member.hold_dark_phone()
    rows.evaluate("box => { box.scrollLeft = 300; }")
    box, header = rows.bounding_box(), first.locator("th").bounding_box()
    assert box is not None
    assert header is not None
    assert abs(header["x"] - box["x"]) <= 2, "the first column stays in sight"
    member.check_width()
    member.shoot("phone-job-brands")
    member.check_accessibility()
    member.hold_wide_light()
    member.page.get_by_text(re.compile("^Columns:")).click()
    member.page.get_by_role("button", name="None").click()
    member.page.get_by_label("Percentile", exact=True).check()
    member.page.get_by_role("button", name="Show", exact=True).click()
    expect(rows.locator("thead th")).to_have_text(["Percentile"])
    member.page.go_back()
    first.get_by_role("link").first.click()
    expect(member.page.get_by_role("heading", level=1)).to_have_text("Select")
    expect(member.page.get_by_role("region", name="Categories").locator("tbody tr").first).to_be_visible()
    member.check_every_form("job-row")


def test_after_back_the_cost_is_that_of_what_the_browser_filled_in_again(member: Visitor) -> None:
    member.go("/dashboard/reports?kind=cohorts")
    member.page.locator("#brand").fill("vitasoy")
    member.go("/dashboard/jobs")
    member.page.go_back()
    expect(member.page.locator("#brand")).to_have_value("vitasoy")
    expect(member.page.locator("[data-cost]")).to_be_visible()


def test_an_index_of_one_month_leads_to_the_form_with_shorter_periods(member: Visitor) -> None:
    member.go("/dashboard/reports?kind=price-index&brand=vitasoy")
    member.page.get_by_role("button", name="Run report").click()
    member.page.wait_for_url("**/dashboard/jobs/*")
    expect(member.page.locator("#job .done[data-state=succeeded]")).to_be_visible()
    expect(member.page.locator(".answered")).to_contain_text("1 month has data (15 to 24 Jul 2026)")
    member.page.get_by_role("link", name="Change the question").click()
    expect(member.page.get_by_role("heading", name="Did prices change?")).to_be_visible()
    expect(member.page.locator(".chosen")).to_contain_text("Vitasoy")
    expect(member.page.get_by_role("link", name=re.compile("^All data"))).to_have_attribute("aria-current", "true")
