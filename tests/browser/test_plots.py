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
