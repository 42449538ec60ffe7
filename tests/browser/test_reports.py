"""Searching, reports and their plots, in a real browser."""

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from edge import dashboard
from tests.browser.conftest import Visitor, until, used_today

pytestmark = pytest.mark.xdist_group("browser")


# Ordering reports and following their jobs, in a real browser.


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
    expect(member.page.locator("#job .state")).to_have_text("succeeded")
    expect(member.page.locator(".canvas canvas").first).to_be_visible()
    expect(member.page.get_by_text("Share of observations by channel")).to_be_visible()
    member.check_every_form("job-cohort")
    with member.page.expect_download() as download:
        member.page.get_by_role("link", name="Download").click()
    assert json.loads(download.value.path().read_bytes())["meta"]["rows"] > 0
    member.go("/dashboard/jobs")
    expect(member.page.get_by_role("row", name=re.compile("Cohort.*Vitasoy · by week"))).to_have_count(1)


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
    expect(member.page.locator("#job .state")).to_have_text("succeeded")
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
    expect(member.page.locator("#job .state")).to_have_text("succeeded")
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
    expect(member.page.locator("#job .state")).to_have_text("succeeded")
    expect(member.page.locator(".answered")).to_contain_text("1 month has data (2026-07-15 to 2026-07-24)")
    member.page.get_by_role("link", name="Change the report").click()
    expect(member.page.locator("#granularity")).to_have_value("week")
    expect(member.page.locator("#brand")).to_have_value("vitasoy")


# Plots as a browser draws them, read back from their pixels.


STATIC = Path(dashboard.__file__).parents[1] / "docs" / "static"

DAYS = ["2026-07-01", "2026-07-02", "2026-07-03", "2026-07-04"]

# The colours at the centre and on the rim (8 pixels right of it, as points have a radius of 4 and twice the pixels).
PIXELS = """([value, at]) => {
  const u = document.querySelector("[data-plot]").uplot;
  const x = Math.round(u.valToPos(u.data[0][at], "x", true)), y = Math.round(u.valToPos(value, "y", true));
  const colour = (dx) => Array.from(u.ctx.getImageData(x + dx, y, 1, 1).data).slice(0, 3);
  return [colour(0), colour(8)];
}"""

# How many pixels halfway between two days are blue, the colour of the line, and red, that of the outliers.
BETWEEN = """([one, other]) => {
  const u = document.querySelector("[data-plot]").uplot;
  const x = Math.round((u.valToPos(u.data[0][one], "x", true) + u.valToPos(u.data[0][other], "x", true)) / 2);
  const strip = u.ctx.getImageData(x, 0, 1, u.ctx.canvas.height).data, found = [0, 0];
  for (let n = 0; n < strip.length; n += 4) {
    found[0] += strip[n + 2] === 200 && strip[n] === 0;
    found[1] += strip[n] === 200 && strip[n + 2] === 0;
  }
  return found;
}"""

PAGE = """<style>:root { --card: rgb(250, 250, 250); --series-1: rgb(0, 0, 200); --series-2: rgb(200, 0, 0); --series-3: rgb(0, 200, 0); --line: #ccc; --dim: #555; }
.canvas { width: 600px }</style><div class="canvas" data-plot='%s'></div>"""

DRAWN = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


@contextmanager
def drawing(browser: Browser, plot: dict[str, object]) -> Iterator[Page]:
    """Give a page that has drawn a plot, with two pixels in the place of one."""
    with browser.new_context(device_scale_factor=2) as context:
        page = context.new_page()
        page.set_content(PAGE % json.dumps(plot))
        for script in ("vendor/uplot.min.js", "plots.js"):
            page.add_script_tag(path=STATIC / script)
        page.evaluate("drawPlots(document)")
        page.evaluate(DRAWN)
        yield page


def read(browser: Browser, plot: dict[str, object], script: str) -> Any:
    """Draw a plot, and return what a script reads from it as `u`."""
    with drawing(browser, plot) as page:
        return page.evaluate(f"() => {{ const u = document.querySelector('.canvas').uplot; return {script}; }}")


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_outliers_are_hollow_and_joined_by_no_line(browser: Browser, scale: str) -> None:
    series = [
        {"label": "A", "values": [10, 11, 10, 11], "colour": 0},
        {"label": "A, outliers", "values": [None, 100, 101, None], "colour": 1, "hollow": [1, 2], "line": False},
    ]
    plot = {"title": "", "x": DAYS, "series": series, "kind": "lines", "scale": scale}
    with drawing(browser, plot) as page:
        centre, rim = page.evaluate(PIXELS, [100, 1])
        assert (centre, rim) == ([250, 250, 250], [200, 0, 0])
        blue, red = page.evaluate(BETWEEN, [1, 2])
        assert blue > 0 and red == 0
        legend = page.locator(".legend li").all_inner_texts()
        assert legend == ["A", "A, outliers"]
        assert page.locator(".legend .ring").count() == 1


# The pixels of the colours of three lines.
COLOURS = """() => {
  const u = document.querySelector("[data-plot]").uplot, { width, height } = u.ctx.canvas;
  const data = u.ctx.getImageData(0, 0, width, height).data, found = {};
  for (let n = 0; n < data.length; n += 4) {
    const key = `${data[n]},${data[n + 1]},${data[n + 2]}`;
    found[key] = (found[key] || 0) + 1;
  }
  return found;
}"""


def drawn(browser: Browser, plot: dict[str, object]) -> tuple[dict[str, int], str, list[list[float]]]:
    """Draw a plot; return how many pixels have each colour, what is said below it, and the drawn values."""
    with drawing(browser, plot) as page:
        note = page.locator(".note")
        values = page.evaluate('document.querySelector("[data-plot]").uplot.data.slice(1)')
        return page.evaluate(COLOURS), note.inner_text() if note.count() else "", values


def lines(*values: list[float | None], **more: object) -> dict[str, object]:
    series = [{"label": f"L{n}", "values": one} for n, one in enumerate(values)]
    return {"title": "", "x": DAYS, "series": series, "kind": "lines", **more}


def test_lines_of_equal_values_are_all_seen(browser: Browser) -> None:
    plot = lines([23, 23, 23, 23], [23, 23, 23, 23], [22.9, 22.9, 22.9, 19])
    pixels, note, _ = drawn(browser, plot)
    for colour in ("0,0,200", "200,0,0", "0,200,0"):
        assert pixels.get(colour, 0) > 2_000, f"{colour} lies below another line"
    assert "side by side" in note


def test_lines_that_meet_at_the_foot_of_the_scale_are_not_drawn_below_it(browser: Browser) -> None:
    zero = [0, 0, 0, 0]
    _, note, values = drawn(browser, {**lines(zero, zero, zero, [100, 0, 0, 0]), "scale": "share"})
    assert "side by side" in note
    assert min(value for line in values for value in line) > 0


def test_the_bounds_of_an_interval_stay_where_they_are(browser: Browser) -> None:
    index, low, high = [100, 101, 102, 103], [100, 100, 100, 103], [100, 104, 105, 103]
    _, note, values = drawn(browser, lines(index, low, high, band=["L1", "L2"]))
    assert values[:3] == [index, low, high]
    assert "side by side" not in note


def test_of_many_points_a_single_one_is_still_seen(browser: Browser) -> None:
    days = [f"{year}-{month:02}-01" for year in range(2010, 2026) for month in range(1, 13)]
    alone = [20 if n == 90 else None for n in range(len(days))]
    pixels, _, _ = drawn(browser, {**lines([10] * len(days), alone), "x": days})
    assert pixels["200,0,0"] > 20


def test_lines_that_never_meet_are_drawn_where_their_values_are(browser: Browser) -> None:
    _, note, values = drawn(browser, lines([10, 11, 10, 11], [40, 41, 40, 41]))
    assert values == [[10, 11, 10, 11], [40, 41, 40, 41]]
    assert note == ""


@pytest.mark.parametrize(
    ("values", "said"), [([19, 23, 23, 23], "The scale begins at 18.7, not at zero."), ([2, 23, 5, 9], "")]
)
def test_a_scale_begins_at_zero_or_says_that_it_does_not(browser: Browser, values: list[float], said: str) -> None:
    _, note, _ = drawn(browser, lines(values))
    assert note == said


def test_an_unfinished_period_is_dashed(browser: Browser) -> None:
    whole, _, _ = drawn(browser, lines([10, 20, 10, 20]))
    dashed, note, values = drawn(browser, lines([10, 20, 10, 20], partial=[3], labels=DAYS))
    assert values == [[10, 20, 10, None], [None, None, 10, 20]]
    assert "Dashed" in note
    blue = "0,0,200"
    assert 0.7 * whole[blue] < dashed[blue] < 0.95 * whole[blue], "a third of the line has gaps"


# Plots as they are drawn: labels whole, bars whole, counts whole, and each value readable at the pointer.


def bars(*values: int) -> dict[str, Any]:
    days = [f"2026-11-{n:02}" for n in range(10, 10 + len(values))]
    return {"kind": "bars", "x": days, "series": [{"label": "served", "values": list(values)}]}


def test_a_word_that_is_wider_than_the_window_is_broken(browser: Browser) -> None:
    word = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz" * 3
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.set_content(
        f"""<main><p class="lead">{word}</p><div class="answered"><p>{word}</p></div><ul class="legend"><li>{word}</li></ul>
        <p class="row"><a class="button">Prices of <bdi>{word}</bdi></a></p></main>"""
    )
    for sheet in ("style.css", "dashboard.css"):
        page.add_style_tag(path=STATIC / sheet)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()


def test_the_longest_label_of_an_axis_has_room(browser: Browser) -> None:
    widest, room = read(
        browser,
        lines([1_494_348.6, 1_200_000.5, 1_494_351.2], x=["2026-01-01", "2026-02-01", "2026-03-01"]),
        "[Math.max(...u.axes[1]._values.map((text) => { u.ctx.font = '12px system-ui, sans-serif';"
        " return u.ctx.measureText(text).width; })), u.axes[1]._size - u.axes[1].ticks.size - u.axes[1].gap]",
    )
    assert 40 < widest <= room


def test_the_first_and_the_last_bar_are_whole(browser: Browser) -> None:
    low, high, first, last, labels = read(
        browser,
        bars(3, 0, 2, 5, 1, 4, 9),
        "[u.scales.x.min, u.scales.x.max, u.data[0][0], u.data[0].at(-1), u.axes[0]._values]",
    )
    assert first - low >= 43_200 and high - last >= 43_200
    assert len(labels) == len(set(labels)), "no day twice"


def test_a_count_has_whole_steps(browser: Browser) -> None:
    for values in ((0, 0, 0), (1, 0, 0), (2, 1, 0)):
        steps = read(browser, bars(*values), "u.axes[1]._values")
        assert all(step.isdigit() for step in steps), values


def test_a_span_of_years_names_the_years(browser: Browser) -> None:
    days = [f"{year}-{month:02}-01" for year in (2024, 2025, 2026) for month in range(1, 13)]
    labels = read(browser, lines([*range(36)], x=days), "u.axes[0]._values")
    assert all(label.startswith("20") for label in labels)


def test_a_value_is_read_at_the_pointer(member: Visitor) -> None:
    member.go("/dashboard/sessions")
    member.page.evaluate("document.getElementById('main').innerHTML = '<div class=canvas></div>'")
    draw = "(plot) => { document.querySelector('.canvas').dataset.plot = plot; drawPlots(document); }"
    member.page.evaluate(draw, json.dumps(bars(3, 9)))
    member.page.evaluate(DRAWN)
    box = member.page.locator(".canvas .u-over").bounding_box()
    assert box is not None
    member.page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 40)
    tooltip = member.page.locator(".tooltip")
    expect(tooltip).to_contain_text("2026-11-11")
    expect(tooltip).to_contain_text("9")
    shown = tooltip.bounding_box()
    assert shown is not None
    assert shown["x"] + shown["width"] <= box["x"] + box["width"] + 1, "inside the plot"


# Searching items and opening their records, in a real browser.


def test_typing_suggests_for_nothing_and_enter_searches_in_the_address(member: Visitor) -> None:
    before = used_today(member)
    member.go("/dashboard/explorer")
    member.page.keyboard.press("/")
    member.page.keyboard.type("soy mil", delay=30)
    expect(member.page.locator(".suggestions a").first).to_be_visible()
    member.shoot("explorer-suggestions")
    member.check_accessibility()
    assert used_today(member) == before
    member.go("/dashboard/explorer")
    member.page.get_by_label("Search items").fill("milk")
    member.page.keyboard.press("Enter")
    member.page.wait_for_url("**/dashboard/explorer?q=milk")
    first = member.page.locator(".hits a").first.inner_text()
    member.shoot("explorer-hits")
    member.page.get_by_role("link", name="Next page").click()
    expect(member.page.locator(".hits a").first).not_to_have_text(first)
    member.page.go_back()
    expect(member.page.locator(".hits a").first).to_have_text(first)
    expect(member.page.get_by_label("Search items")).to_have_value("milk")
    assert used_today(member) == before + 3


def test_a_search_that_fails_says_so_instead_of_older_results(member: Visitor) -> None:
    member.go("/dashboard/explorer")
    field = member.page.get_by_label("Search items")
    field.press_sequentially("tea", delay=30)
    expect(member.page.locator(".suggestions a").first).to_be_visible()
    member.page.route("**/dashboard/explorer/suggestions*", lambda route: route.abort())
    field.press_sequentially(" soy", delay=30)
    expect(member.page.locator("#suggestions")).to_contain_text("cannot be reached")
    assert member.page.locator(".suggestions").count() == 0
    member.page.unroute("**/dashboard/explorer/suggestions*")
    member.faults.clear()


def test_an_ended_session_leads_from_a_part_of_a_page_to_signing_in_and_back(visitor: Visitor) -> None:
    visitor.sign_in()
    visitor.go("/dashboard/explorer?q=tea")
    cookies = [cookie for cookie in visitor.context.cookies() if cookie["name"] != "itemindex"]
    visitor.context.clear_cookies()
    visitor.context.add_cookies(cookies)  # the provider's own session stays
    visitor.page.get_by_label("Search items").press_sequentially("s", delay=30)
    visitor.page.wait_for_url("**/dashboard/explorer?q=tea")
    expect(visitor.page.locator(".hits a").first).to_be_visible()


def show_history(member: Visitor) -> None:
    """Ask for a record's history as often as a busy database refuses it."""

    def shown() -> bool:
        member.page.reload()
        member.page.get_by_role("link", name="Show price history and footprint").click()
        member.page.locator("#history h2, #history [role=alert]").first.wait_for()
        return member.page.get_by_role("heading", name="Footprint", exact=True).count() == 1

    until(shown, 60)
    member.faults[:] = [fault for fault in member.faults if "503" not in fault]


def test_open_a_record_and_its_history_on_demand(member: Visitor) -> None:
    member.go("/dashboard/explorer?q=soy+milk")
    member.page.locator(".hits a").first.click()
    expect(member.page.get_by_role("heading", level=1)).to_be_visible()
    assert "/index/lookup/IID-" in member.page.locator("#curl").inner_text()
    assert member.page.locator("#history canvas").count() == 0
    show_history(member)
    expect(member.page.locator("#history canvas").first).to_be_visible()
    assert member.page.locator("h1").count() == 1, "a part of the page, and no page within the page"
    member.shoot("record")
    member.check_accessibility()
