"""Plots as a browser draws them, read back from their pixels."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from edge import dashboard

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
PAGE = """<style>:root { --card: rgb(250, 250, 250); --series-1: rgb(0, 0, 200); --series-2: rgb(200, 0, 0); --line: #ccc; --dim: #555; }
.canvas { width: 600px }</style><div class="canvas" data-plot='%s'></div>"""


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_outliers_are_hollow_and_joined_by_no_line(browser: Browser, scale: str) -> None:
    series = [
        {"label": "A", "values": [10, 11, 10, 11], "colour": 0},
        {"label": "A, outliers", "values": [None, 100, 101, None], "colour": 1, "hollow": [1, 2], "line": False},
    ]
    plot = {"title": "", "x": DAYS, "series": series, "kind": "lines", "scale": scale}
    with browser.new_context(device_scale_factor=2) as context:
        page = context.new_page()
        page.set_content(PAGE % json.dumps(plot))
        for script in ("vendor/uplot.min.js", "plots.js"):
            page.add_script_tag(path=STATIC / script)
        page.evaluate("drawPlots(document)")
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
    with browser.new_context(device_scale_factor=2) as context:
        page = context.new_page()
        page.set_content(PAGE.replace("--series-2", "--series-3: rgb(0, 200, 0); --series-2") % json.dumps(plot))
        for script in ("vendor/uplot.min.js", "plots.js"):
            page.add_script_tag(path=STATIC / script)
        page.evaluate("drawPlots(document)")
        page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
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
