"""Charts as files: an SVG that any reader of XML opens, whatever the names are, and the same picture as a PNG."""

import json
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.test_plots import DAYS, STATIC, drawing, lines

pytestmark = pytest.mark.xdist_group("browser")
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</text><script>alert(1)</script>&amp;" onload="x\x01\x0b\ud800 \u202eabc 牛乳'
SHOWN = '</text><script>alert(1)</script>&amp;" onload="x \u202eabc 牛乳'


def saved(page: Page, extension: str) -> tuple[str, bytes]:
    """Save the page's picture; return the file's name and content."""
    with page.expect_download() as download:
        page.get_by_role("button", name=extension.upper()).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def svg_of(browser: Browser, plot: dict[str, object]) -> ElementTree.Element:
    with drawing(browser, plot) as page:
        _, content = saved(page, "svg")
    return ElementTree.fromstring(content)


def texts(svg: ElementTree.Element) -> list[str]:
    return [found.text or "" for found in svg.iter(f"{SVG}text")]


def strokes(svg: ElementTree.Element, colour: str) -> list[ElementTree.Element]:
    return [found for found in svg.iter(f"{SVG}path") if found.get("stroke") == colour and found.get("stroke-width")]


def test_a_plot_is_an_svg_with_its_title_ticks_unit_and_names(browser: Browser) -> None:
    plot = {**lines([10, 20, 10, 20]), "title": "Prices per day, 2026-07-01 to 2026-07-04", "unit": "HKD"}
    svg = svg_of(browser, plot)
    assert svg.tag == f"{SVG}svg"
    assert svg.findtext(f"{SVG}title") == "Prices per day, 1 Jul 2026 to 4 Jul 2026"
    said = texts(svg)
    assert {"Prices per day, 1 Jul 2026 to 4 Jul 2026", "1 Jul", "4 Jul", "2026", "10", "20", "HKD", "L0"} <= set(said)
    assert len(list(svg.iter(f"{SVG}circle"))) == len(DAYS)


def test_a_gap_stays_a_gap_and_no_value_is_drawn_where_none_is(browser: Browser) -> None:
    svg = svg_of(browser, {**lines([10, None, 10, 20]), "title": "Gap"})
    [line] = strokes(svg, "rgb(0, 0, 200)")
    assert (line.get("d") or "").count("L") == 1
    assert len(list(svg.iter(f"{SVG}circle"))) == 3


def test_an_interval_is_one_area_with_one_name_in_the_colour_of_its_line(browser: Browser) -> None:
    index, low, high = [100, 101, 102, 103], [None, 100, 100, 103], [None, 104, 105, 103]
    series = [
        {"label": "Index", "values": index},
        {"label": "95 % interval, low", "values": low},
        {"label": "95 % interval, high", "values": high},
    ]
    band = ["95 % interval, low", "95 % interval, high"]
    plot = {"title": "Interval", "x": DAYS, "series": series, "kind": "lines", "band": band}
    with drawing(browser, plot) as page:
        assert page.locator(".legend li").all_inner_texts() == ["Index", "95 % interval"]
        svg = ElementTree.fromstring(saved(page, "svg")[1])
    [area] = [found for found in svg.iter(f"{SVG}path") if found.get("fill-opacity")]
    assert area.get("fill") == "rgb(0, 0, 200)"
    assert (area.get("d") or "").count("L") == 5, "three days there and back"
    assert "95 % interval" in texts(svg)
    assert len(list(svg.iter(f"{SVG}circle"))) == len(index)


def test_a_name_keeps_its_colour_on_every_plot_of_a_page(browser: Browser) -> None:
    def named(*names: str) -> dict[str, object]:
        series = [{"label": name, "values": [1, 2, 3, 4 + n]} for n, name in enumerate(names)]
        return {"title": "T", "x": DAYS, "series": series, "kind": "lines"}

    with drawing(browser, named("A", "B")) as page:
        page.evaluate(
            "(plot) => { const place = document.querySelector('.canvas').cloneNode(); place.dataset.plot = plot;"
            " place.id = 'second'; document.body.append(place); drawPlot(place); }",
            json.dumps(named("B", "C")),
        )
        colours = page.evaluate("[...document.querySelectorAll('.legend i')].map((mark) => mark.style.background)")
    assert colours == ["rgb(0, 0, 200)", "rgb(200, 0, 0)", "rgb(200, 0, 0)", "rgb(0, 0, 200)"]


def test_a_hostile_name_is_text_in_the_file(browser: Browser) -> None:
    svg = svg_of(
        browser, {**lines([1, 2, 3, 4]), "title": HOSTILE, "series": [{"label": HOSTILE, "values": [1, 2, 3, 4]}]}
    )
    assert texts(svg).count(SHOWN) == 2
    assert not list(svg.iter(f"{SVG}script"))
    assert not [name for found in svg.iter() for name in found.attrib if name.startswith("on")]


def test_the_png_is_the_svg_with_two_pixels_in_the_place_of_one(browser: Browser) -> None:
    with drawing(browser, {**lines([1, 2, 3, 4]), "title": "Prices of milk"}) as page:
        name, svg = saved(page, "svg")
        picture, png = saved(page, "png")
    assert (name, picture) == ("prices-of-milk.svg", "prices-of-milk.png")
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    root = ElementTree.fromstring(svg)
    size = tuple(2 * int(root.get(end) or 0) for end in ("width", "height"))
    assert struct.unpack(">II", png[16:24]) == size


BARS = """<style>:root { --card: #fff; --code: #eee; --text: #222; --dim: #555 } .bars rect { fill: rgb(0, 0, 200) }</style>
<figure class="bars"><figcaption>Shares</figcaption><dl><dt><bdi>%s</bdi></dt>
<dd><svg viewBox="0 0 100 6"><rect width="40" height="6"></rect></svg> <span>40.0 %%</span></dd></dl></figure>"""


@contextmanager
def bars_of(browser: Browser, name: str) -> Iterator[Page]:
    with browser.new_context() as context:
        page = context.new_page()
        page.set_content(BARS % name)
        for script in ("pictures.js", "plots.js"):
            page.add_script_tag(path=STATIC / script)
        page.evaluate("prepareBars(document)")
        yield page


def test_bars_are_a_picture_with_their_names_lengths_and_figures(browser: Browser) -> None:
    with bars_of(browser, "&lt;b&gt;Milk&amp;") as page:
        svg = ElementTree.fromstring(saved(page, "svg")[1])
    assert texts(svg) == ["Shares", "<b>Milk&", "40.0 %"]
    [bar] = [found for found in svg.iter(f"{SVG}rect") if found.get("width") == "40"]
    assert bar.get("fill") == "rgb(0, 0, 200)"
