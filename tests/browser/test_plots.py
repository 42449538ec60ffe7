"""Plots as they are drawn: labels whole, bars whole, counts whole, and each value readable at the pointer."""

import html
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from edge import dashboard
from tests.browser.conftest import Visitor

pytestmark = pytest.mark.xdist_group("browser")


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
        page.set_content(PAGE % html.escape(json.dumps(plot)))
        for script in ("vendor/uplot.min.js", "pictures.js", "plots.js"):
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
        assert pixels.get(colour, 0) > 800, f"{colour} lies below another line"
    assert "dashed line lies on another one" in note


def test_lines_that_meet_are_drawn_where_their_values_are(browser: Browser) -> None:
    zero = [0, 0, 0, 0]
    _, note, values = drawn(browser, {**lines(zero, zero, zero, [100, 0, 0, 0]), "scale": "share"})
    assert values == [zero, zero, zero, [100, 0, 0, 0]]
    assert "dashed line lies on another one" in note


def test_lines_that_only_cross_are_not_dashed(browser: Browser) -> None:
    _, note, _ = drawn(browser, lines([10, 20, 30, 40], [40, 20, 10, 0]))
    assert "dashed" not in note


def test_the_bounds_of_an_interval_stay_where_they_are(browser: Browser) -> None:
    index, low, high = [100, 101, 102, 103], [100, 100, 100, 103], [100, 104, 105, 103]
    _, note, values = drawn(browser, lines(index, low, high, band=["L1", "L2"]))
    assert values[:3] == [index, low, high]
    assert "dashed" not in note


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
    assert all(re.fullmatch("[A-Z][a-z]{2} 20[0-9]{2}", label) for label in labels)


def test_decades_on_a_phone_have_their_years_below_them(browser: Browser) -> None:
    days = [f"{year}-{month:02}-01" for year in range(2006, 2023) for month in range(1, 13)]
    plot = lines([*range(len(days))], x=days)
    with drawing(browser, plot) as page:
        page.add_style_tag(content=".canvas { width: 340px !important }")
        page.evaluate("drawPlots(document)")
        labels = page.evaluate("document.querySelector('.canvas').uplot.axes[0]._values")
    assert len(labels) >= 3 and all(re.fullmatch("[A-Z][a-z]{2} 20[0-9]{2}", label) for label in labels)


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
    expect(tooltip).to_contain_text("11 Nov 2026")
    expect(tooltip).to_contain_text("9")
    shown = tooltip.bounding_box()
    assert shown is not None
    assert shown["x"] + shown["width"] <= box["x"] + box["width"] + 1, "inside the plot"
