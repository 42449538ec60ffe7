"""Plots as they are drawn: labels whole, bars whole, counts whole, and each value readable at the pointer."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor

pytestmark = pytest.mark.xdist_group("browser")
_DRAW = """(plot) => {
  const place = document.createElement("div");
  place.className = "canvas";
  place.dataset.plot = JSON.stringify(plot);
  document.getElementById("main").replaceChildren(place);
  drawPlots(document);
  return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
}"""


def drawn(member: Visitor, plot: dict[str, Any], script: str) -> Any:
    """Draw a plot in a page of the dashboard, and return what a script reads from it as `u`."""
    member.go("/dashboard/sessions")
    member.page.evaluate(_DRAW, plot)
    return member.page.evaluate(f"() => {{ const u = document.querySelector('.canvas').uplot; return {script}; }}")


def bars(*values: int) -> dict[str, Any]:
    days = [f"2026-11-{n:02}" for n in range(10, 10 + len(values))]
    return {"kind": "bars", "x": days, "series": [{"label": "served", "values": list(values)}]}


def lines(days: list[str], *values: float) -> dict[str, Any]:
    return {"kind": "lines", "x": days, "series": [{"label": "water_l", "values": list(values)}]}


def test_the_longest_label_of_an_axis_has_room(member: Visitor) -> None:
    plot = lines(["2026-01-01", "2026-02-01", "2026-03-01"], 1_494_348.6, 1_200_000.5, 1_494_351.2)
    widest, room = drawn(
        member,
        plot,
        "[Math.max(...u.axes[1]._values.map((text) => { u.ctx.font = '12px system-ui, sans-serif';"
        " return u.ctx.measureText(text).width; })), u.axes[1]._size - u.axes[1].ticks.size - u.axes[1].gap]",
    )
    assert 40 < widest <= room
    member.shoot("plot-long-labels")


def test_the_first_and_the_last_bar_are_whole(member: Visitor) -> None:
    low, high, first, last = drawn(
        member, bars(3, 0, 2, 5, 1, 4, 9), "[u.scales.x.min, u.scales.x.max, u.data[0][0], u.data[0].at(-1)]"
    )
    assert first - low >= 43_200 and high - last >= 43_200
    labels = drawn(member, bars(3, 0, 2, 5, 1, 4, 9), "u.axes[0]._values")
    assert len(labels) == len(set(labels)), "no day twice"


@pytest.mark.parametrize("values", [(0, 0, 0), (1, 0, 0), (2, 1, 0)])
def test_a_count_has_whole_steps(member: Visitor, values: tuple[int, ...]) -> None:
    steps = drawn(member, bars(*values), "u.axes[1]._values")
    assert all(step.isdigit() for step in steps), steps


def test_a_span_of_years_names_the_years(member: Visitor) -> None:
    days = [f"{year}-{month:02}-01" for year in (2024, 2025, 2026) for month in range(1, 13)]
    labels = drawn(member, lines(days, *range(36)), "u.axes[0]._values")
    assert all(label.startswith("20") for label in labels)


def test_a_value_is_read_at_the_pointer(member: Visitor) -> None:
    drawn(member, bars(3, 0, 2, 5, 1, 4, 9), "null")
    box = member.page.locator(".canvas .u-over").bounding_box()
    assert box is not None
    member.page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 40)
    tooltip = member.page.locator(".tooltip")
    expect(tooltip).to_contain_text("2026-11-16")
    expect(tooltip).to_contain_text("9")
    shown = tooltip.bounding_box()
    assert shown is not None
    assert shown["x"] + shown["width"] <= box["x"] + box["width"] + 1, "inside the plot"
