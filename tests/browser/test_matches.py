"""An operator works through the queue of pairs with the keyboard alone."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

from shared.db.connect import connect
from shared.gtin import check_digit
from tests.browser.conftest import Visitor, until
from tests.service.articles.support import HEADER as HEADER_MATCHES
from tests.service.articles.support import row, text_of
from tests.support.world_words import SYLLABLES

pytestmark = pytest.mark.xdist_group("browser")


PAIRS = 12  # more than the last decisions that the page lists

SHOWN = "[...document.querySelectorAll('.pair thead a')].map((link) => link.textContent).join(' ')"


def pair(page: Page) -> str:
    """Return the IIDs that the page asks about; empty where no pair waits."""
    shown: str = page.evaluate(SHOWN)
    return shown


def press(page: Page, key: str) -> str:
    """Press a key, wait for another pair, or for the end of the queue, and return it."""
    before = pair(page)
    with page.expect_navigation():
        page.keyboard.press(key)
    until(lambda: pair(page) != before, 60.0)
    return pair(page)


def tab_to(page: Page, text: str) -> None:
    """Press Tab until a link or button of this text has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if text in page.evaluate("document.activeElement.textContent"):
            return
    raise AssertionError(f"Tab does not reach {text!r}")


def load_pairs(visitor: Visitor, folder: Path) -> None:
    """Load two shops that give each of these GTINs to two sizes, which waits for a person."""
    for source, size in (("queue_a", "1L"), ("queue_b", "2L")):
        rows = ""
        for number in range(PAIRS):
            digits = f"40063813{number:04d}"
            syllables = [SYLLABLES[(number * 7 + at * 11) % len(SYLLABLES)] for at in range(4)]
            name = f"{''.join(syllables[:2])} {''.join(syllables[2:])}{number} {size}"
            rows += row(f"{source}-{number}", f"{digits}{check_digit(digits)}", name)
        (folder / f"{source}.csv").write_text(HEADER_MATCHES + rows)
        (folder / f"{source}.toml").write_text(text_of(source))
        visitor.stack.ctl("ingest", "run", "--mapping", f"{folder}/{source}.toml", f"{folder}/{source}.csv")


def test_a_queue_is_worked_through_by_keys_alone(member: Visitor, tmp_path: Path) -> None:
    load_pairs(member, tmp_path)
    member.go("/dashboard")
    tab_to(member.page, "Matches")
    member.page.keyboard.press("Enter")
    member.page.wait_for_url("**/dashboard/matches")
    page = member.page
    member.check_accessibility()
    page.set_viewport_size({"width": 390, "height": 844})
    for side in page.locator("table.pair tbody tr").first.locator("td").all()[:2]:
        box = side.bounding_box()
        assert box is not None
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390, "both items are in sight on a phone"
    member.check_width()
    member.hold_wide_light()

    first = pair(page)
    second = press(page, "j")
    assert second != first
    assert press(page, "k") == first
    assert press(page, "j") == second
    third = press(page, "n")
    assert press(page, "u") == second != third  # the decision is taken back, so the pair waits again
    decided = 0
    while pair(page):
        press(page, "n")
        decided += 1
    tab_to(page, "Start over")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert pair(page) == first
    assert press(page, "n") == ""
    assert decided + 1 >= PAIRS
    assert json.loads(member.stack.ctl("matches", "list", "--json")) == []
    with connect(member.stack.state["environment"]["DATABASE_URL"], application="tests", autocommit=True) as database:
        until(lambda: database.execute("SELECT 1 FROM match_reviews WHERE applied_at IS NULL").fetchall() == [], 60.0)
    assert json.loads(member.stack.ctl("matches", "list", "--counts", "--json"))[0]["rejected"] == decided + 1
